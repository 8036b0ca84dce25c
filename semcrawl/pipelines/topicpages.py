"""The topic page store: describes pages that are targets in ``pages.nq`` of the job folder."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from semcrawl.config.jobdir import job_path
from semcrawl.config.options import ReaderOptions
from semcrawl.items import FetchRecord, RdfDocument, TopicPage
from semcrawl.pipelines.pagestore import (
    PAGES_FILE,
    PAGES_LEDGER,
    document_of_page,
    pages_about_else,
)
from semcrawl.pipelines.quads import QuadsFilePipeline
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.relevance.focus import MAX_REASONS, Focus, read_focus
from semcrawl.settings.reader import fill
from semcrawl.topics import TEXT, Document, Judgement
from semcrawl.web.vocabulary import Kind

logger = logging.getLogger(__name__)

#: pages that are written in one transaction
_AT_ONCE = 100


class PagesPipeline(QuadsFilePipeline):
    """Writes each :class:`~semcrawl.items.TopicPage` once, as quads about it.

    It works as its base class does with RDF documents: a graph has its page's address, and a
    re-visit replaces its lines. ``semcrawl pages`` shows them as a table, or writes JSON Lines.
    Stats begin with ``semcrawl/pages/``.
    """

    stats_prefix = "semcrawl/pages"
    file_name = PAGES_FILE
    ledger_name = PAGES_LEDGER
    may_be_empty = False

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; it is off unless ``SEMCRAWL_TARGETS`` has ``html``."""
        if not fill(ReaderOptions, crawler.settings).targets.html:
            raise NotConfigured
        pipeline = cls(job_path(crawler.settings), crawler.stats)
        pipeline._crawler = crawler
        return pipeline

    def open_spider(self) -> None:
        """Open the file if it exists; judge what earlier topics of the job kept by the new one."""
        super().open_spider()
        if self._file is not None and self._crawler is not None:
            self._judge_again(read_focus(self._crawler.settings), self._file)

    def _judge_again(self, focus: Focus, file: QuadsFile) -> None:
        """Keep the pages of earlier topics for this topic too, if they reach its threshold."""
        topic = focus.topic
        if topic is None:
            return
        others = list(pages_about_else(self._folder, focus.about))
        if TEXT not in topic.needs:
            if others:
                logger.warning(
                    "%d pages kept for another topic are not judged by this one, which needs more "
                    "than their texts: read them again with --revisit",
                    len(others),
                )
            return
        kept = []
        for page in others:
            text = page.text[: focus.max_size]
            document = Document(
                page.url, Kind.HTML, title=page.title, text=text, language=page.language
            )
            judgement = topic.judge(document)
            if judgement.deciding >= focus.threshold:
                kept.append(_kept_too(page, focus.about, judgement))
        for start in range(0, len(kept), _AT_ONCE):
            file.append(kept[start : start + _AT_ONCE])
        if others:
            self._count("judged_again", len(others))
            logger.info(
                "of %d pages kept for another topic, %d are about this one too",
                len(others),
                len(kept),
            )

    def _to_write(self, item: Any) -> RdfDocument | FetchRecord | None:
        """Return the quads of a page, or the record of a re-visit; otherwise ``None``."""
        if isinstance(item, TopicPage):
            return document_of_page(item)
        # if a re-visit gave the page, it comes before this record, which then changes nothing
        return item if isinstance(item, FetchRecord) and item.revisit else None


def _kept_too(page: TopicPage, about: str, judgement: Judgement) -> RdfDocument:
    """Return the quads of a page that another topic keeps as well."""
    reasons = tuple(f"{what}: {why}" for what, why in judgement.reasons[:MAX_REASONS])
    earlier = tuple(topic for topic in (page.about, *page.also_about) if topic)
    page = replace(
        page, about=about, also_about=earlier, relevance=judgement.relevance, reasons=reasons
    )
    # without a hash, the new lines replace the old ones although the page is the same
    return document_of_page(replace(page, revisit=True, content_hash=""))
