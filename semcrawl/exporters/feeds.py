"""Extends Scrapy's feed exports: names such as ``.nq.gz``, rotation by size, a file per host.

Feed options beyond Scrapy's own (https://docs.scrapy.org/en/latest/topics/feed-exports.html):

``batch_bytes``
    begin the next file at this size; the URI needs ``%(batch_id)d``

Placeholders in URIs beyond Scrapy's own:

``%(host)s``
    one file per host
``%(document)s``
    one file per document
``%(worker)s``
    one file per spider and process, named by machine, process id and spider
"""

from __future__ import annotations

import logging
import os
import re
import socket
from dataclasses import replace
from hashlib import sha256
from typing import IO, Any
from urllib.parse import urlsplit

from itemadapter import ItemAdapter
from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import FeedExporter as ScrapyFeedExporter
from scrapy.extensions.feedexport import FeedSlot, apply_uri_params
from scrapy.extensions.postprocessing import PostProcessingManager
from scrapy.utils.defer import ensure_awaitable

from semcrawl.config.jobdir import writes_at_once
from semcrawl.errors import SemcrawlError, StoreError, UsageError
from semcrawl.exporters.documentfeeds import NQuadsExporter
from semcrawl.exporters.feedchecks import check_carries_rdf
from semcrawl.exporters.feedcompression import PLUGINS, inner_format
from semcrawl.exporters.storage import APPEND, BEGUN, AtomicFileStorage, moment
from semcrawl.items import RdfDocument

logger = logging.getLogger(__name__)

#: open files of feeds split by host
MAX_OPEN_FILES = 200
#: bytes of N-Quads of one document that exporters of others get
MAX_IN_MEMORY = 256 * 1024 * 1024

_SPLIT = re.compile(r"%\((host|document)\)s")
_BATCH = re.compile(r"%\((batch_id|batch_time)\)")


class FeedExporter(ScrapyFeedExporter):
    """Replaces Scrapy's extension of the same name."""

    def __init__(self, crawler: Crawler) -> None:
        """Read ``FEEDS``; raise ``UsageError`` for options that cannot work."""
        super().__init__(crawler)
        #: open files of split feeds by URI, last used last
        self._split: dict[str, FeedSlot] = {}
        #: URIs of split feeds that were opened before
        self._opened: set[str] = set()
        begun = moment()
        for uri, options in self.feeds.items():
            options[BEGUN] = begun
            if options["format"] in PLUGINS:
                _choose_compression(options, inner_format(uri, options["format"], self.exporters))
            exporter = self.exporters[options["format"]]
            options[APPEND] = getattr(exporter, "append", None)
            if writes_at_once(crawler):
                check_carries_rdf(uri, options["format"], exporter)
            if options.get("batch_bytes") and not _BATCH.search(uri):
                raise UsageError(f"batch_bytes needs %(batch_id)d in the name of the feed {uri}")

    def _storage_supported(self, uri: str, feed_options: dict[str, Any]) -> bool:
        """Raise ``StoreError`` for a feed that cannot be written, which Scrapy would skip.

        A package or credentials may be missing.
        """
        try:
            self._get_storage(uri, feed_options)
        except NotConfigured as error:
            reason = str(error) or "it is not configured"
            raise StoreError(f"cannot write the feed {uri}: {reason}") from None
        if (scheme := urlsplit(uri).scheme) not in self.storages:
            raise UsageError(f"cannot write the feed {uri}: there is no storage for {scheme}:")
        return True

    def _exporter_supported(self, format_: str) -> bool:
        """Raise ``UsageError`` for an unknown format."""
        if format_ not in self.exporters:
            raise UsageError(f"there is no feed format {format_!r}")
        return True

    def open_spider(self, spider: Spider) -> None:
        """Open the feeds, except split ones, whose files open with their first item."""
        for template in self.feeds:
            if not _SPLIT.search(template):
                self.slots.append(self._next_slot(template, spider))

    def item_scraped(self, item: Any, spider: Spider) -> None:
        """Write an item to every feed that accepts it."""
        self.slots = [
            slot
            for slot in (self._export(slot, item, spider) for slot in self.slots)
            if slot is not None
        ]
        for template in self.feeds:
            if _SPLIT.search(template) and self.filters[template].accepts(item):
                self._export_split(template, item, spider)

    async def close_spider(self, spider: Spider) -> None:
        """Finish all files."""
        self.slots += self._split.values()
        self._split = {}
        await super().close_spider(spider)

    def _export(self, slot: FeedSlot, item: Any, spider: Spider) -> FeedSlot | None:
        """Write an item; return the slot for the next one.

        Items that the format leaves out neither count nor fill a batch. A feed that fails, say on a
        full disk, ends with one line in the log, and its file never gets its final name.
        """
        if not slot.filter.accepts(item) or not self._takes(slot.uri_template, item):
            return slot
        options = self.feeds[slot.uri_template]
        try:
            slot.start_exporting()
        except Exception as error:  # others' storages and exporters may raise anything
            self._give_up(slot, error)
            return None
        try:
            if slot.exporter is None or slot.file is None:  # for the type checker
                return slot
            is_ours = hasattr(slot.exporter, "takes")
            slot.exporter.export_item(item if is_ours else _in_memory(item))
            slot.itemcount += 1
            size = _size(slot.file) if options.get("batch_bytes") else 0
        except (OSError, StoreError, UsageError) as error:
            self._give_up(slot, error)
            return None
        except (TypeError, ValueError) as error:
            # other feeds may be able to write it
            logger.error("%s cannot be put into %s: %s", type(item).__name__, slot.uri, error)
            if self.crawler.stats is not None:
                self.crawler.stats.inc_value("semcrawl/feeds/failed")
            return slot
        full = options["batch_item_count"] and slot.itemcount >= options["batch_item_count"]
        if full or (options.get("batch_bytes") and size >= options["batch_bytes"]):
            self._schedule_slot_close(slot, spider)
            return self._next_slot(slot.uri_template, spider, slot)
        return slot

    async def _close_slot(self, slot: FeedSlot, spider: Spider) -> None:
        """Finish a file as Scrapy does, but report a failed write in one line."""
        if not slot.itemcount and not (slot.store_empty and slot.batch_id == 1):
            return
        kind = type(slot.storage).__name__
        try:
            slot.start_exporting()
            slot.finish_exporting()
            await ensure_awaitable(slot.storage.store(self._get_file(slot)))
        except Exception as error:  # others' storages and exporters may raise anything
            self._give_up(slot, error)
        else:
            logger.info("Stored %s feed (%d items) in: %s", slot.format, slot.itemcount, slot.uri)
            if self.crawler.stats is not None:
                self.crawler.stats.inc_value(f"feedexport/success_count/{kind}")
        await self.crawler.signals.send_catch_log_async(signals.feed_slot_closed, slot=slot)

    def _give_up(self, slot: FeedSlot, error: Exception) -> None:
        """Log why a feed ends, and discard its partial file."""
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        if not isinstance(error, (OSError, SemcrawlError)):
            reason = f"{type(error).__name__}: {reason}"
            logger.debug("where it happened", exc_info=error)
        logger.error("The feed %s is given up: %s", slot.uri, reason)
        if self.crawler.stats is not None:
            kind = type(slot.storage).__name__
            self.crawler.stats.inc_value(f"feedexport/failed_count/{kind}")
        if isinstance(slot.storage, AtomicFileStorage):
            slot.storage.discard()

    def _next_slot(
        self, template: str, spider: Spider, last: FeedSlot | None = None, **more: str
    ) -> FeedSlot:
        options = self.feeds[template]
        params = {**self._get_uri_params(spider, options["uri_params"], last), **more}
        uri = apply_uri_params(template, params)
        if more and uri in self._opened:
            options = {**options, "overwrite": False}
        return self._start_new_batch(
            batch_id=1 if last is None else last.batch_id + 1,
            uri=uri,
            feed_options=options,
            spider=spider,
            uri_template=template,
        )

    def _takes(self, template: str, item: Any) -> bool:
        """Whether the format of a feed includes an item."""
        options = self.feeds[template]
        takes = getattr(self.exporters[options["format"]], "takes", None)
        return takes is None or bool(takes(item, **options["item_export_kwargs"]))

    def _has_place(self, template: str, item: Any) -> bool:
        """Whether a split feed opens a file for an item: not for a document without statements."""
        exporter = self.exporters[self.feeds[template]["format"]]
        is_empty = issubclass(exporter, NQuadsExporter) and not getattr(item, "quads", 0)
        return self._takes(template, item) and not is_empty

    def _get_uri_params(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Return Scrapy's placeholders and the worker's name."""
        found = super()._get_uri_params(*args, **kwargs)
        worker = _safe(f"{socket.gethostname()}-{os.getpid()}-{found['name']}")
        return {"worker": worker, **found}

    def _export_split(self, template: str, item: Any, spider: Spider) -> None:
        """Write an item to the file of its host or document."""
        url = ItemAdapter(item).get("url") if ItemAdapter.is_item(item) else None
        if not url or not self._has_place(template, item):
            return
        slot = self._next_slot(template, spider, host=host_name(url), document=document_name(url))
        slot = self._split.pop(slot.uri, slot)
        self._opened.add(slot.uri)
        kept = self._export(slot, item, spider)
        if kept is None:
            return
        if "%(document)s" in template:
            self._schedule_slot_close(kept, spider)
            return
        self._split[kept.uri] = kept
        if len(self._split) > MAX_OPEN_FILES:
            oldest = self._split.pop(next(iter(self._split)))
            self._schedule_slot_close(oldest, spider)


def _in_memory(item: Any) -> Any:
    """Return an item for an exporter of others, which looks at ``nquads`` only.

    Raises ``ValueError`` for a document that is too large.
    """
    if not isinstance(item, RdfDocument) or item.spool is None:
        return item
    if (size := item.spool.stat().st_size) > MAX_IN_MEMORY:
        raise ValueError(f"{item.url} has {size:,} bytes of N-Quads, too many for this format")
    return replace(item, nquads=item.spool.read_bytes(), spool=None)


def _size(file: IO[bytes]) -> int:
    """Return the bytes written so far; of a compressed file, without its buffers."""
    if isinstance(file, PostProcessingManager):
        file = file.file
    return file.tell()


def host_name(url: str) -> str:
    """Return the URL's host and port as a file name."""
    return _safe(urlsplit(url).netloc.rpartition("@")[2].lower()) or "unknown"


def document_name(url: str) -> str:
    """Return a readable, unique file name for a document's URL."""
    parts = urlsplit(url)
    readable = _safe(f"{parts.netloc}{parts.path}".strip("/"))[:100]
    return f"{readable}-{sha256(url.encode('utf-8', 'replace')).hexdigest()[:16]}"


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text).lstrip(".")


def _choose_compression(options: dict[str, Any], inner: str) -> None:
    """Set the format ``inner`` and the compression that the feed's extension names."""
    plugin = PLUGINS[options["format"]]
    options["format"] = inner
    options["postprocessing"] = [plugin, *options.get("postprocessing", [])]
    options.setdefault("gzip_compresslevel", 6)
    options.setdefault("gzip_filename", "")
