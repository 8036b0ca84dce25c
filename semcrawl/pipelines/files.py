"""Keeps bodies of target media types, unchanged, in ``files/`` of the job folder."""

from __future__ import annotations

import asyncio
import json
import mimetypes
import os
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.statscollectors import StatsCollector

from semcrawl.config.jobdir import job_path
from semcrawl.config.options import ReaderOptions
from semcrawl.crawl.failures import ItemNotWritten
from semcrawl.errors import ResultsGone
from semcrawl.filelocks import lock
from semcrawl.items import FetchedFile
from semcrawl.pipelines.quadsfile import FileIdentities, gone_message
from semcrawl.settings.reader import fill
from semcrawl.web.bodies import media_type
from semcrawl.wholefiles import sync, sync_folder, whole_file

#: folder in the job folder
FILES_FOLDER = "files"
#: one JSON object per line: ``url``, ``name``, ``content_type``, ``bytes``, ``sha256`` …
INDEX_FILE = "index.jsonl"
#: addresses of files that a check found lost, one JSON string per line
LOST_FILES = "lost.jsonl"
#: longest extension that is taken from a URL
_MAX_EXTENSION = 8


class FilesPipeline:
    """Keeps every :class:`~semcrawl.items.FetchedFile` under the hash of its content.

    The same content under several URLs is one file with several lines in the index. A file is
    complete before its line is written. A URL has one line for each content that it has had, the
    current one last. Crashes change none of this. Several processes may share the folder. Stats:
    ``semcrawl/files/kept``, ``/failed``.
    """

    def __init__(self, folder: Path, stats: StatsCollector | None = None) -> None:
        """Keep files in ``folder``; the first file makes it."""
        self._folder = folder
        self._stats = stats
        #: URL → hash of its last content
        self._known: dict[str, str] = {}
        self._read = 0
        self._identities = FileIdentities()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline; it is off when ``SEMCRAWL_TARGETS`` names no media type."""
        if not fill(ReaderOptions, crawler.settings).targets.media_types:
            raise NotConfigured
        return cls(job_path(crawler.settings) / FILES_FOLDER, crawler.stats)

    async def process_item(self, item: Any) -> Any:
        """Keep a file; pass everything on. Raises ``ItemNotWritten`` if it cannot be written."""
        if not isinstance(item, FetchedFile):
            return item
        try:
            await asyncio.to_thread(self.keep, item)
        except ResultsGone as error:
            raise ItemNotWritten(error) from None
        except OSError as error:
            self._count("failed")
            raise ItemNotWritten(f"cannot write to {self._folder}: {error.strerror}") from None
        self._count("kept")
        return item

    def keep(self, file: FetchedFile) -> None:
        """Write the file and its line, unless its URL's last line has the same content.

        Raises ``OSError``, and ``ResultsGone`` if the earlier files are gone.
        """
        self._identities.check()
        self._folder.mkdir(parents=True, exist_ok=True)
        name = file.content_hash + extension_of(file)
        with (self._folder / INDEX_FILE).open("a+b") as index:
            lock(index)
            self._catch_up(index)
            self._identities.remember(self._folder / INDEX_FILE)
            path = self._folder / name
            is_there = path.exists()
            if is_there and self._known.get(file.url) == file.content_hash:
                return
            if not is_there:
                with whole_file(path) as target:
                    target.writelines([file.body] if file.large is None else file.large.stream())
                    target.flush()
                    sync(target.fileno())
                sync_folder(self._folder)
            line = {
                "url": file.url,
                "name": name,
                "content_type": file.content_type,
                "bytes": len(file.body) if file.large is None else file.large.size,
                "sha256": file.content_hash,
                "saved_name": file.saved_name,
                "request_url": file.request_url,
                "parent_url": file.parent_url,
                "fetched_at": file.fetched_at,
            }
            index.write(json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
            index.flush()
            sync(index.fileno())
        self._identities.check()

    def _catch_up(self, index: Any) -> None:
        """Read the lines of other processes; cut off an incomplete line that a crash left."""
        if index.seek(0, os.SEEK_END) < self._read:
            raise ResultsGone(gone_message(self._folder / INDEX_FILE))
        index.seek(self._read)
        lines = index.read()
        whole = lines.rfind(b"\n") + 1
        if whole < len(lines):
            index.truncate(self._read + whole)
        self._known.update(_contents(lines[:whole].splitlines()))
        self._read += whole

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/files/{name}")


def kept_files(job: Path) -> dict[str, str]:
    """Return the URLs of a job folder's files, each with the hash of its last content.

    Raises ``OSError``.
    """
    try:
        return dict(_contents((job / FILES_FOLDER / INDEX_FILE).read_bytes().splitlines()))
    except FileNotFoundError:
        return {}


def lost_files(job: Path) -> list[str]:
    """Return the URLs of files that were kept, but are not there any more. Raises ``OSError``."""
    folder = job / FILES_FOLDER
    if not folder.is_dir():
        return []
    names: dict[str, str] = {}
    for line in _lines_of(folder / INDEX_FILE):
        if isinstance(line, dict) and isinstance(line.get("name"), str):
            names[str(line.get("url"))] = line["name"]
    there = {entry.name for entry in os.scandir(folder)}
    lost = [url for url, name in names.items() if name not in there]
    noted = (line for line in _lines_of(folder / LOST_FILES) if isinstance(line, str))
    return list(dict.fromkeys([*lost, *(url for url in noted if url not in names)]))


def _lines_of(path: Path) -> Iterator[Any]:
    """Yield the values of a file of JSON lines; skip invalid lines."""
    if not path.is_file():
        return
    for text in path.read_bytes().splitlines():
        with suppress(ValueError):
            yield json.loads(text)


def _contents(lines: Iterable[bytes]) -> Iterator[tuple[str, str]]:
    """Yield URL and hash of each line of an index; skip invalid lines."""
    for text in lines:
        try:
            line = json.loads(text)
            yield str(line["url"]), str(line["sha256"])
        except (ValueError, KeyError, TypeError):
            continue


def extension_of(file: FetchedFile) -> str:
    """Return the extension to keep a file under, with its dot.

    It comes from the file name that the server gives, or else from the URL, or else from the type.
    """
    for name in (file.saved_name, urlsplit(file.url).path):
        extension = posixpath.splitext(name)[1].lower()
        if 1 < len(extension) <= _MAX_EXTENSION and extension[1:].isalnum() and extension.isascii():
            return extension
    media = media_type(file.content_type)
    return mimetypes.guess_extension(media) or ".bin"
