"""Finds images in a crawl, and writes them, their places and the texts near them.

Other processes decode the images. Their places are found in pages and in RDF.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.config.jobdir import job_path
from semcrawl.config.options import ReaderOptions
from semcrawl.crawl.attempt import ENDED, RECEIVED, Attempt, content_type
from semcrawl.crawl.failures import ItemNotWritten
from semcrawl.crawl.houseparts import Found, FoundBody
from semcrawl.crawl.session import session_of
from semcrawl.errors import ResultsGone, StoreError
from semcrawl.images import IMAGES_DB
from semcrawl.images.imagegraph import IMAGES_FILE, write_graph
from semcrawl.images.imageitems import (
    Decoded,
    FetchedImage,
    ImageItem,
    ImageOptions,
    ImagePage,
    NearTextJudge,
    RedirectedImage,
    image_links,
)
from semcrawl.images.outcomes import MAY_PASS, ImageOutcome
from semcrawl.images.placelearning import learn_places
from semcrawl.images.places import PageImages, ShownImage, image_places
from semcrawl.images.rdfplaces import rdf_places
from semcrawl.images.schema import open_images
from semcrawl.images.store import ImageStore, write_domain_scores, write_page_scores
from semcrawl.items import FetchOutcome
from semcrawl.links import Link
from semcrawl.metadata.database import one_at_a_time, one_line
from semcrawl.pipelines.quads import GroupCommit
from semcrawl.pipelines.quadsfile import FileIdentities
from semcrawl.rdf import Reading
from semcrawl.reading.pool import ReadingLost
from semcrawl.reading.reader import Reader
from semcrawl.relevance.contract import Scoring, Weighing
from semcrawl.settings.reader import fill
from semcrawl.web.bodies import body_file

logger = logging.getLogger(__name__)

#: bytes of a document's quads that are searched for images
_SEARCHED = 1 << 24
#: first bytes of image formats
_MAGIC = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"\0\0\0\x0cjP  "),
    b"<svg",
)


class ImagesPipeline:
    """Writes each of :data:`~semcrawl.images.imageitems.ImageItem` once.

    ``process_item`` returns when the item is committed. At the end of a crawl it learns the best
    places of each domain and writes everything as RDF. Stats: ``semcrawl/images/kept``,
    ``/pages``, ``/failed``, and the outcomes of dropped images.
    """

    def __init__(
        self, folder: Path, options: ImageOptions, stats: StatsCollector | None = None
    ) -> None:
        """Write to the job folder ``folder``; the first item makes it."""
        self._folder = folder
        self._options = options
        self._stats = stats
        self._crawler: Crawler | None = None
        self._engine: Engine | None = None
        self._store: ImageStore | None = None
        self._identities = FileIdentities()
        self._opening = asyncio.Lock()
        self._commits = GroupCommit(self._write)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; it is off unless ``SEMCRAWL_TARGETS`` has ``images``."""
        settings = crawler.settings
        if not fill(ReaderOptions, settings).targets.images:
            raise NotConfigured
        pipeline = cls(job_path(settings), ImageOptions.from_settings(settings), crawler.stats)
        pipeline._crawler = crawler
        return pipeline

    async def process_item(self, item: Any) -> Any:
        """Write a page or an image; pass everything on. Raises ``ItemNotWritten``."""
        if not isinstance(item, ImagePage | FetchedImage | RedirectedImage):
            return item
        try:
            async with self._opening:
                if self._store is None:
                    await asyncio.to_thread(self._open)
            outcome = await self._commits.submit(item)
        except ResultsGone as error:
            raise ItemNotWritten(error) from None
        except (StoreError, SQLAlchemyError, OSError) as error:
            self._count("failed")
            reason = error if isinstance(error, StoreError) else one_line(error)
            raise ItemNotWritten(f"cannot write the images: {reason}") from None
        self._count("pages" if outcome is None else str(outcome))
        return item

    async def close_spider(self) -> None:
        """Write the waiting items, learn the best places, write the graph, and disconnect."""
        await self._commits.flush()
        if self._engine is not None:
            await asyncio.to_thread(self._finish, self._engine)

    def _open(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        self._engine = open_images(self._folder, make=True)
        self._identities.remember(self._folder / IMAGES_DB)
        self._store = ImageStore(self._engine, self._folder, self._options)

    def _write(self, items: Sequence[ImageItem]) -> Sequence[ImageOutcome | None]:
        if self._store is None:
            raise StoreError("the images are closed")
        self._identities.check()
        outcomes = self._store.write(items)
        self._identities.check()
        return outcomes

    def _finish(self, engine: Engine) -> None:
        try:
            with one_at_a_time(engine):  # the other spider and other workers may end now as well
                self._write_scores(engine)
                learn_places(engine)
                write_graph(engine, self._folder / IMAGES_FILE)
        except (SQLAlchemyError, OSError) as error:
            logger.error("%s: %s", self._folder / IMAGES_FILE, one_line(error))
        finally:
            engine.dispose()

    def _write_scores(self, engine: Engine) -> None:
        """Write the strategy's scores of domains and pages, if it has any."""
        session = session_of(self._crawler) if self._crawler is not None else None
        strategy = session.intake.strategy if session is not None else None
        if isinstance(strategy, Scoring):
            write_domain_scores(engine, strategy.scored_domains())
            write_page_scores(engine, strategy.page_score)
        elif isinstance(strategy, Weighing):
            write_page_scores(engine, strategy.importance)

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/images/{name}")


@dataclass
class ImageReading:
    """Reads pages and bodies for their images, for one spider."""

    reader: Reader
    options: ImageOptions
    judge: NearTextJudge | None = None
    stats: StatsCollector | None = None

    async def of_page(self, attempt: Attempt, response: Response, data: Reading | None) -> Found:
        """Return the images that a page shows, and those that the data in it name."""
        places = self.options.places
        try:
            page = await self.reader.run(
                image_places,
                response.body,
                attempt.url,
                content_type(response) or None,
                places,
                url=attempt.url,
            )
        except ReadingLost:
            page = PageImages()
        self._count("data_urls", page.data_urls)
        self._count("drawings", page.drawings)
        self._count("shown_small", page.too_small)
        self._count("bad_srcset", page.bad_srcset)
        item = _page_of(attempt, response)
        item.title, item.shown = page.title, page.shown
        item.links_seen, item.links = page.links_seen, page.links
        self._count("places", len(item.shown))
        if data is not None:
            self._add(item, data)
        return self._found(item)

    def of_rdf(self, attempt: Attempt, response: Response, data: Reading) -> Found:
        """Return the images that an RDF document names."""
        item = _page_of(attempt, response)
        self._add(item, data)
        return self._found(item)

    def _found(self, item: ImagePage) -> Found:
        def more(data: Reading) -> list[Link]:
            return list(image_links(self._add(item, data), self.judge))

        return Found(item, list(image_links(item.shown, self.judge)), more)

    def _add(self, page: ImagePage, data: Reading) -> list[ShownImage]:
        """Add the images that a page's data name to its item; return the new ones."""
        shown = {image.url for image in page.shown}
        named = rdf_places(data.beginning(_SEARCHED), page.url, self.options.places)
        new = [image for image in named if image.url not in shown]
        page.shown = (*page.shown, *new)
        self._count("places", len(new))
        return new

    async def of_body(self, attempt: Attempt, response: Response) -> FoundBody | None:
        """Decode a body in a process; ``None`` if neither type nor content suggest an image."""
        file = body_file(attempt.meta)
        most = self.options.max_bytes + 1
        body = response.body if file is None else file.head(most)
        if not (content_type(response).lower().startswith("image/") or _is_like_image(body)):
            return None
        from semcrawl.images.decoding import decode

        try:
            decoded = await self.reader.run(
                decode, body[:most], self.options, url=attempt.url, always=True
            )
        except ReadingLost as loss:
            if loss.ours:
                raise
            decoded = Decoded(ImageOutcome.BROKEN, str(loss))
        image = FetchedImage(
            attempt.link_url,
            decoded,
            final_url=attempt.url,
            bytes=int(attempt.meta.get(RECEIVED, len(body))),
            content_hash=attempt.digest,
            fetched_at=float(attempt.meta.get(ENDED) or time.time()),
            via=attempt.link_state.redirects[1:],
        )
        real_type = f"image:{decoded.media_type.partition('/')[2]}"
        if decoded.outcome is ImageOutcome.KEPT:
            return FoundBody(image, real_type, FetchOutcome.FETCHED_IMAGE)
        fault = f"{decoded.outcome}: {decoded.reason}"
        return FoundBody(image, real_type, None, fault, decoded.outcome in MAY_PASS)

    def redirected(self, attempt: Attempt, target: str) -> RedirectedImage | None:
        """Return the item of a redirect; its target is fetched as a link of its own."""
        if not attempt.link_state.image:
            return None
        ended = float(attempt.meta.get(ENDED) or time.time())
        via = (*attempt.link_state.redirects, attempt.url)[1:]
        return RedirectedImage(attempt.link_url, target, via, ended)

    def _count(self, name: str, number: int) -> None:
        if number and self.stats is not None:
            self.stats.inc_value(f"semcrawl/images/{name}", number)


def _page_of(attempt: Attempt, response: Response) -> ImagePage:
    return ImagePage(
        attempt.url,
        status=response.status,
        content_hash=attempt.digest,
        attempt=attempt.lease.attempt,
        visited_at=float(attempt.meta.get(ENDED) or time.time()),
    )


def _is_like_image(body: bytes) -> bool:
    """Whether a body begins as images do, whatever its type says."""
    return body.startswith(_MAGIC) or body[8:12] == b"WEBP" or body[4:8] == b"ftyp"
