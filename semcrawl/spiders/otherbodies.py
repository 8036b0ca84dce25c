"""Reads bodies that are neither RDF nor pages: images, and files whose media types are targets.

Other processes decode the images. The places of images are found in pages and in RDF.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Self

from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector

from semcrawl.config.extras import install_hint
from semcrawl.config.readoptions import ReaderOptions
from semcrawl.config.targets import Targets
from semcrawl.crawl.attempt import ENDED, RECEIVED, Attempt, content_type
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import UsageError
from semcrawl.images.imageitems import Decoded, FetchedImage, ImagePage, RedirectedImage
from semcrawl.images.imageoptions import ImageOptions
from semcrawl.images.imageplaces import PageImages, ShownImage, image_places
from semcrawl.images.outcomes import MAY_PASS, ImageOutcome
from semcrawl.images.rdfplaces import rdf_places
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import Page, Reason
from semcrawl.rdf import Reading
from semcrawl.reading.answer import Answer
from semcrawl.reading.pool import ReadingLost
from semcrawl.reading.reader import Reader
from semcrawl.relevance import Ranked
from semcrawl.settings.reader import fill
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.leads import Leads
from semcrawl.spiders.linking import LinkFeed
from semcrawl.spiders.results import NOT_KEPT, file_of, note_unread, saved_name_of
from semcrawl.web.bodies import body_file
from semcrawl.web.vocabulary import Kind

#: bytes of a document's quads that are searched for images
_SEARCHED = 1 << 24
#: first bytes of image formats
_MAGIC = (
    *(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM", b"II*\0", b"MM\0*", b"\0\0\0\x0cjP  "),
    b"<svg",
)


@dataclass
class OtherBodies:
    """Keeps bodies that are targets, for one spider, and follows links in headers."""

    session: CrawlSession
    policy: LinkPolicy
    feed: LinkFeed
    targets: Targets
    judge: TopicJudge
    leads: Leads
    #: the spider's queue
    queue: str
    #: reads images; ``None`` if these are no targets
    images: ImageReading | None = None

    async def take(self, attempt: Attempt, response: Response, answer: Answer) -> list[Any]:
        """Return the items of a body: its record, and its content if it is a target.

        The record says so if it is RDF in a format that is not read.
        """
        record = attempt.record(FetchOutcome.FETCHED_OTHER, response)
        record.real_type = str(Kind.OTHER)
        note_unread(record, answer.detection.unread if answer.detection is not None else None)
        new = await self.follow_headers(attempt, answer)
        image = await self.images.decoded(attempt, response) if self.images else None
        is_kept = image is not None and image.decoded.outcome is ImageOutcome.KEPT
        is_file = self.targets.include(
            Kind.OTHER, record.content_type, url=attempt.url, name=saved_name_of(response)
        )
        if image is not None:
            record.real_type = f"image:{image.decoded.media_type.partition('/')[2]}"
            if is_kept:
                record.outcome = FetchOutcome.FETCHED_IMAGE
            else:
                record.errors = f"{image.decoded.outcome}: {image.decoded.reason}"
                if image.decoded.outcome in MAY_PASS:  # a re-visit needs it to judge the image
                    record.relevance = attempt.link_state.near_text
        verdict = Verdict(is_file)
        if is_kept:
            verdict = self.judge.image(attempt.link_state.near_text)
            verdict.note_in(record)
            if not verdict.kept:
                record.outcome, image = FetchOutcome.OFF_TOPIC, None
        duplicate = verdict.target and self.is_duplicate(attempt)
        outcome = verdict.outcome(attempt, Kind.OTHER, response, new, duplicate=duplicate)
        self.session.learn(outcome, self.queue)
        kept = self.policy.robots_tags.keeps(answer.rules)
        if (is_kept or is_file) and not kept:
            record.outcome, record.errors = FetchOutcome.NOT_KEPT, NOT_KEPT
            return [record]
        is_file = is_file and verdict.kept
        items: list[Any] = [file_of(attempt, response), record] if is_file else [record]
        return items if image is None else [image, *items]

    def redirected(self, attempt: Attempt, record: FetchRecord) -> list[RedirectedImage]:
        """Return the item of an image's redirect; empty if there is none."""
        is_image = attempt.link_state.image and record.outcome is FetchOutcome.REDIRECTED
        if self.images is None or not is_image:
            return []
        return [self.images.redirected(attempt, record.final_url)]

    async def follow_headers(self, attempt: Attempt, answer: Answer) -> tuple[Ranked, ...]:
        """Follow the links in the headers of a file; return the new ones."""
        page = Page(attempt.url, attempt.link_state.depth)
        if not answer.is_followed:
            self.feed.leave_out(page, answer.links, Reason.NOFOLLOW)
            return ()
        links = await self.leads.bounded(attempt.url, answer.links)
        return await self.feed.discover(page, links) if links else ()

    def is_duplicate(self, attempt: Attempt) -> bool:
        """Whether this run has read the same body before."""
        short = bytes.fromhex(attempt.digest[:24])
        if short in self.session.digests:
            return True
        self.session.digests[short] = True
        return False


@dataclass
class ImageReading:
    """Reads pages and bodies for their images, for one spider."""

    reader: Reader
    options: ImageOptions
    stats: StatsCollector | None = None

    @classmethod
    def from_settings(
        cls, settings: BaseSettings, reader: Reader, stats: StatsCollector | None
    ) -> Self | None:
        """Make it if images are targets; raise as :func:`image_options` does."""
        options = image_options(settings)
        return None if options is None else cls(reader, options, stats)

    async def of_page(
        self, attempt: Attempt, response: Response, data: Reading | None
    ) -> ImagePage:
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
            self.add(item, data)
        return item

    def add(self, page: ImagePage, data: Reading) -> list[ShownImage]:
        """Add the images that a page's data name to its item; return the new ones."""
        shown = {image.url for image in page.shown}
        new = [image for image in self._named(data, page.url) if image.url not in shown]
        page.shown = (*page.shown, *new)
        self._count("places", len(new))
        return new

    def of_rdf(self, attempt: Attempt, response: Response, reading: Reading) -> ImagePage:
        """Return the images that an RDF document names."""
        item = _page_of(attempt, response)
        self.add(item, reading)
        return item

    async def decoded(self, attempt: Attempt, response: Response) -> FetchedImage | None:
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
        return FetchedImage(
            attempt.link_url,
            decoded,
            final_url=attempt.url,
            bytes=int(attempt.meta.get(RECEIVED, len(body))),
            content_hash=attempt.digest,
            fetched_at=float(attempt.meta.get(ENDED) or time.time()),
            via=attempt.link_state.redirects[1:],
        )

    def redirected(self, attempt: Attempt, target: str) -> RedirectedImage:
        """Return the item of a redirect; its target is fetched as a link of its own."""
        ended = float(attempt.meta.get(ENDED) or time.time())
        via = (*attempt.link_state.redirects, attempt.url)[1:]
        return RedirectedImage(attempt.link_url, target, via, ended)

    def _named(self, reading: Reading, url: str) -> list[ShownImage]:
        return rdf_places(reading.beginning(_SEARCHED), url, self.options.places)

    def _count(self, name: str, number: int) -> None:
        if number and self.stats is not None:
            self.stats.inc_value(f"semcrawl/images/{name}", number)


def image_options(settings: BaseSettings) -> ImageOptions | None:
    """Read the settings of images; ``None`` if images are no targets.

    Raises ``UsageError`` for wrong settings, and if the packages of the extra are missing.
    """
    if not fill(ReaderOptions, settings).targets.images:
        return None
    try:
        import imagehash  # noqa: F401
        import PIL  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"the targets images need {error.name}: {install_hint('images')}"
        ) from None
    return ImageOptions.from_settings(settings)


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
