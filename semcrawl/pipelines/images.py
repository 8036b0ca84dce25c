"""Writes images, their places and the texts near them to ``images.db`` of the job folder."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import StatsCollector
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.config.jobdir import job_path
from semcrawl.config.readoptions import ReaderOptions
from semcrawl.crawl.lost import ItemNotWritten
from semcrawl.crawl.spider import session_of
from semcrawl.errors import ResultsGone, StoreError
from semcrawl.images.domainrows import ScoredDomain, write_domain_scores, write_page_scores
from semcrawl.images.imagegraph import IMAGES_FILE, write_graph
from semcrawl.images.imageitems import FetchedImage, ImageItem, ImagePage, RedirectedImage
from semcrawl.images.imageoptions import ImageOptions
from semcrawl.images.imagestore import ImageStore
from semcrawl.images.outcomes import ImageOutcome
from semcrawl.images.placelearning import learn_places
from semcrawl.images.schema import IMAGES_DB, open_images
from semcrawl.metadata.database import one_line
from semcrawl.metadata.schema import one_at_a_time
from semcrawl.pipelines.batching import GroupCommit
from semcrawl.pipelines.fileidentity import FileIdentities
from semcrawl.relevance.domains import DomainScore
from semcrawl.relevance.pagerank import PageRank
from semcrawl.settings.reader import fill

logger = logging.getLogger(__name__)


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
        if isinstance(strategy, DomainScore):
            write_domain_scores(engine, _scored(strategy))
            write_page_scores(engine, strategy.page_score)
        elif isinstance(strategy, PageRank):
            write_page_scores(engine, strategy.importance)

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/images/{name}")


def _scored(strategy: DomainScore) -> list[ScoredDomain]:
    first = strategy.domain_options.learning_rate
    return [
        ScoredDomain(
            name,
            domain.score(strategy.crawl),
            (domain.weights[0], domain.weights[1], domain.weights[2], domain.weights[3]),
            domain.rate(first),
        )
        for name, domain in strategy.domains.items()
    ]
