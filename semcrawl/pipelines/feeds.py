"""Feeds: where they go, how they are packed, and what is refused before a crawl.

Extends Scrapy's feed exports: names such as ``.nq.gz``, rotation by size, a file per host. The
exporters are loaded by the first feed.
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

import hashlib
import logging
import os
import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from itertools import count
from math import inf
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO, Self
from urllib.parse import urlsplit

from scrapy import Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.exceptions import UsageError as ScrapyUsageError
from scrapy.extensions.feedexport import FeedExporter as ScrapyFeedExporter
from scrapy.extensions.feedexport import FeedSlot, S3FeedStorage, apply_uri_params
from scrapy.extensions.postprocessing import PostProcessingManager
from scrapy.settings import BaseSettings
from scrapy.utils.conf import feed_process_params_from_cli
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.misc import load_object
from w3lib.url import file_uri_to_path

from semcrawl.config.extras import install_hint
from semcrawl.config.jobdir import writes_at_once
from semcrawl.errors import SemcrawlError, StoreError, UsageError, os_errors_as
from semcrawl.filelocks import lock
from semcrawl.items import RdfDocument
from semcrawl.wholefiles import is_special, umask

#: post-processing plugin by file extension
PLUGINS = {
    "gz": "scrapy.extensions.postprocessing.GzipPlugin",
    "zst": "semcrawl.pipelines.feeds.ZstdPlugin",
}


def inner_format(uri: str, compression: str, formats: Container[str]) -> str:
    """Return the format in a compressed feed's name: ``nq`` of ``data.nq.gz``.

    Raises ``UsageError`` if it is not in ``formats``.
    """
    # a file may be called a#b.nq.gz
    path = PurePosixPath(urlsplit(uri).path if "://" in uri else uri)
    inner = path.with_suffix("").suffix.lstrip(".")
    if path.suffix != f".{compression}" or inner in PLUGINS or inner not in formats:
        raise UsageError(f"the feed {uri} needs a format before .{compression}, as in .nq.gz")
    return inner


class ZstdPlugin:
    """Compresses a feed with Zstandard. Feed option: ``zstd_level`` (1 to 22, default 3)."""

    def __init__(self, file: BinaryIO, feed_options: dict[str, Any]) -> None:
        """Compress into ``file``. Raises ``UsageError`` without the library."""
        try:
            import zstandard
        except ModuleNotFoundError:
            raise UsageError(f"Zstandard needs: {install_hint('compression')}") from None
        level = int(feed_options.get("zstd_level", 3))
        self._writer: Any = zstandard.ZstdCompressor(level=level).stream_writer(file, closefd=False)

    def write(self, data: bytes) -> int:
        """Compress some bytes."""
        return int(self._writer.write(data))

    def close(self) -> None:
        """Finish the frame."""
        self._writer.close()


def local_path(uri: str) -> Path | None:
    """Return the local path of a feed's URI; ``None`` for other storages."""
    if urlsplit(uri).scheme == "file":
        return Path(file_uri_to_path(uri))
    return None if "://" in uri or uri.startswith("stdout:") else Path(uri)


#: feed option: the moment at which the feed's crawler began
BEGUN = "semcrawl_begun"
#: feed option: the function by which the format appends a part, if it does not just follow
APPEND = "semcrawl_append"
#: path → the moment at which this process last finished a feed there
_finished: dict[str, int] = {}
_moments = count(1)


def moment() -> int:
    """Return the number of this moment; later moments have larger numbers."""
    return next(_moments)


def _finished_since(place: str, feed_options: dict[str, Any]) -> bool:
    """Whether a feed was finished at ``place`` after the crawler began, so in the same run.

    Another batch or host's file may have been finished before this one was opened.
    """
    return bool(_finished.get(place, 0) > feed_options.get(BEGUN, inf))


class AtomicFileStorage:
    """Writes to a temporary file, and renames it when the feed is finished.

    Without ``overwrite`` (Scrapy's ``-o``) the new part is appended to the file. With it, the file
    of an earlier run is replaced, and the part of another crawler of the same run is kept. A
    symbolic link stays and its target is replaced. A device or pipe receives the finished feed.
    """

    def __init__(self, uri: str, *, feed_options: dict[str, Any] | None = None) -> None:
        """Store at the local path of ``uri``."""
        self.path = local_path(uri) or Path(uri)
        self._options = feed_options or {}
        self._before: tuple[int, int] | None = None
        self._special = False
        self._part: Path | None = None
        self._file: IO[bytes] | None = None

    def open(self, spider: Spider) -> IO[bytes]:
        """Open the temporary file. Raises ``StoreError``."""
        asked = self.path
        with os_errors_as(StoreError, f"cannot write {asked}"):
            self._special = is_special(self.path)
            if not self._special:
                self.path = self.path.resolve()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._before = _signature(self.path)
            handle, part = tempfile.mkstemp(
                prefix=f".{self.path.name[:100]}.",
                suffix=".part",
                dir=None if self._special else self.path.parent,
            )
            if hasattr(os, "fchmod"):
                os.fchmod(handle, 0o666 & ~umask())
        self._part = Path(part)
        self._file = os.fdopen(handle, "wb")
        return self._file

    def store(self, file: IO[bytes]) -> None:
        """Give the finished part its final name."""
        part = self._part
        if part is None:
            raise StoreError(f"cannot write {self.path}: it was not opened")
        file.flush()
        os.fsync(file.fileno())
        file.close()
        with _directory_lock(self.path.parent):
            if self._special:
                with part.open("rb") as source, self.path.open("wb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)
                part.unlink()
                return
            now = _signature(self.path)
            is_old = now == self._before and not _finished_since(str(self.path), self._options)
            if now is not None and not (self._options.get("overwrite") and is_old):
                try:
                    self._prepend_existing(part)
                except StoreError as error:
                    beside = _free_name(self.path)
                    part.replace(beside)
                    raise StoreError(
                        f"cannot append to {self.path}: {error}; the new items are in {beside}"
                    ) from None
            part.replace(self.path)
            _finished[str(self.path)] = moment()

    def discard(self) -> None:
        """Delete the part after an error."""
        with suppress(OSError):
            if self._part is not None:
                self._part.unlink(missing_ok=True)
        with suppress(OSError):
            if self._file is not None:
                self._file.close()

    def _prepend_existing(self, part: Path) -> None:
        """Prepend the existing file to the part."""
        whole = part.with_suffix(".whole")
        try:
            shutil.copyfile(self.path, whole)
            _append(whole, part, self._options)
            with whole.open("rb") as written:
                os.fsync(written.fileno())
            shutil.copymode(self.path, whole)
            whole.replace(part)
        except (OSError, StoreError):
            whole.unlink(missing_ok=True)
            raise


class S3Storage(S3FeedStorage):
    """Scrapy's storage for ``s3://`` URIs, whose errors take one line."""

    @classmethod
    def from_crawler(
        cls, crawler: Crawler, uri: str, *, feed_options: dict[str, Any] | None = None
    ) -> Self:
        """Make the storage from the crawler's settings. It needs ``boto3``."""
        try:
            return super().from_crawler(crawler, uri, feed_options=feed_options)
        except NotConfigured as error:
            raise NotConfigured(f"{error}: {install_hint('s3')}") from None

    def _store_in_thread(self, file: IO[bytes]) -> None:
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            super()._store_in_thread(file)
        except (Boto3Error, BotoCoreError, ClientError, OSError) as error:
            message = " ".join(str(error).split())
            raise StoreError(f"cannot write s3://{self.bucketname}: {message}") from None


def _append(whole: Path, part: Path, options: Mapping[str, Any]) -> None:
    """Append a part of a feed to ``whole``. Raises ``StoreError`` if they do not fit together."""
    if append := options.get(APPEND):
        from semcrawl.pipelines.documentfeeds import join

        join(append, whole, part, options)
        return
    with whole.open("ab") as target, part.open("rb") as source:
        shutil.copyfileobj(source, target, 1 << 20)


def _free_name(path: Path) -> Path:
    """Return a name beside ``path`` that no file has."""
    names = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(name for name in names if not name.exists())


def _signature(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


@contextmanager
def _directory_lock(folder: Path) -> Iterator[None]:
    if sys.platform == "win32":  # which cannot open folders
        with _machine_lock(str(folder)):
            yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        lock(handle)
        yield
    finally:
        os.close(handle)


@contextmanager
def _machine_lock(name: str) -> Iterator[None]:
    """Hold a named lock among this user's threads and processes on this machine."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    with (Path(tempfile.gettempdir()) / f"semcrawl-{user}-{digest}.lock").open("ab") as file:
        lock(file)
        yield


def requested_feeds(
    settings: BaseSettings, output: list[str] | None, overwrite: list[str] | None
) -> dict[str, dict[str, Any]]:
    """Return the feeds of a harvest by URI, as in the setting ``FEEDS``.

    Raises ``UsageError`` for an unknown format and an unwritable file, which a crawl may notice
    only after days.
    """
    check_feeds(settings, spiders=2)
    try:
        feeds = feed_process_params_from_cli(settings, output or [], overwrite_output=overwrite)
    except ScrapyUsageError as error:
        raise UsageError(str(error)) from None
    _check(settings, feeds, 2)
    return feeds


def check_feeds(settings: BaseSettings, *, spiders: int = 1) -> None:
    """Raise ``UsageError`` for a feed of ``FEEDS`` that our spiders cannot write.

    It may have an unknown format or one that cannot carry RDF, be compressed without a format, or
    name an unwritable file. ``spiders`` is how many run in a process.
    """
    feeds = settings.getdict("FEEDS")
    if not all(isinstance(options, Mapping) for options in feeds.values()):
        raise UsageError(
            "FEEDS must name files with their options, as in {'a.nq': {'format': 'nq'}}"
        )
    _check(settings, feeds, spiders)


def _check(settings: BaseSettings, feeds: Mapping[str, Mapping[str, Any]], spiders: int) -> None:
    exporters = settings.getwithbase("FEED_EXPORTERS")
    for uri, options in feeds.items():
        name = str(options.get("format") or "")
        if name in PLUGINS:
            name = inner_format(str(uri), name, exporters)
        if not exporters.get(name):
            raise UsageError(f"the feed {uri}: there is no format {name!r}")
        exporter = load_object(exporters[name])
        check_carries_rdf(str(uri), name, exporter)
        if spiders > 1 and hasattr(exporter, "append") and str(uri).startswith("stdout:"):
            raise UsageError(
                f"two spiders cannot write one {name} to standard output: "
                f"name a file, as in -o data.{name}, or use jsonl"
            )
        if spiders > 1 and str(uri).startswith("s3:") and "%(worker)s" not in str(uri):
            raise UsageError(
                f"the feed {uri}: spiders would replace each other's objects: put %(worker)s into "
                "its name"
            )
        path = local_path(str(uri))
        if path is not None and (reason := why_unwritable(path)):
            raise UsageError(f"cannot write {uri}: {reason}")


def check_carries_rdf(uri: str, name: str, exporter: type) -> None:
    """Raise ``UsageError`` for a format that cannot carry RDF documents.

    Python's binary formats hold an item whole, while a document may be larger than the memory.
    """
    from scrapy.exporters import MarshalItemExporter, PickleItemExporter

    if exporter in (PickleItemExporter, MarshalItemExporter):
        raise UsageError(
            f"the feed {uri} cannot carry RDF documents in the format {name}: "
            "use nq, jsonl, json, csv or xml"
        )


def why_unwritable(path: Path) -> str:
    """Return why a file cannot be written, or an empty string, without opening it."""
    path = Path(os.path.realpath(path))
    folder = next(above for above in path.parents if above.exists())
    if path.is_dir():
        return "Is a directory"
    if not folder.is_dir():
        return "Not a directory"
    touched = [path] if path.exists() else []
    if not is_special(path):  # a feed is written beside the file and replaces it
        touched.append(folder)
    if not all(os.access(each, os.W_OK) for each in touched):
        return "Permission denied"
    return ""


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
        from semcrawl.pipelines.documentfeeds import NQuadsExporter

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
        from itemadapter import ItemAdapter

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
