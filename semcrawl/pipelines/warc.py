"""Writes raw responses to WARC files (ISO 28500). The extension is off by default."""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from http.client import responses
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple, Self
from urllib.parse import urlsplit
from uuid import uuid4

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from semcrawl.config.extras import install_hint
from semcrawl.config.jobdir import ResultOptions, job_folder
from semcrawl.config.options import robots_tags
from semcrawl.crawl.attempt import NOT_RECORDED
from semcrawl.crawl.failures import end_crawl
from semcrawl.errors import ResultsGone, StoreError
from semcrawl.pipelines.quadsfile import FileIdentities
from semcrawl.settings.reader import fill
from semcrawl.web.bodies import body_file
from semcrawl.web.robots import HEADER

#: bytes after which the next file begins
_MAX_SIZE = 1 << 30
logger = logging.getLogger(__name__)

#: headers about the transfer, which do not hold for the stored body
_TRANSFER_HEADERS = (b"transfer-encoding", b"content-length")


#: version of the format; warcio's default is 1.0, whose dates have no fractions of seconds
_VERSION = "WARC/1.1"
#: statuses of answers with a whole body, and of those that confirm an earlier one
_WHOLE, _NOT_MODIFIED = 200, 304
#: file with the last records
_LAST_RECORDS = "recorded.db"


class _Last(NamedTuple):
    """The record with the last body of an address."""

    digest: str
    date: str
    record: str
    #: name of its file
    file: str


class _LastRecords:
    """Which record of the folder's files has the last body of each address, for all workers.

    It only saves space: what it has lost is recorded again. So it is not brought to the disk for
    certain, and begins anew if it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        """Remember the records of a folder."""
        self._folder = folder
        self._database: sqlite3.Connection | None = None

    def get(self, key: bytes) -> _Last | None:
        """Return the last record, if its file is still there."""
        rows = self._run("SELECT digest, date, record, file FROM last WHERE key = ?", key)
        if not rows:
            return None
        last = _Last(*rows[0])
        paths = (self._folder / last.file, self._folder / f"{last.file}.open")
        return last if any(path.exists() for path in paths) else None

    def put(self, key: bytes, headers: Any, file: str) -> None:
        """Note a record in a file by its headers."""
        names = ("WARC-Payload-Digest", "WARC-Date", "WARC-Record-ID")
        values = [headers.get_header(name) for name in names]
        self._run("INSERT OR REPLACE INTO last VALUES (?, ?, ?, ?, ?)", key, *values, file)

    def close(self) -> None:
        """Close the database."""
        if self._database is not None:
            self._database.close()
            self._database = None

    def _run(self, sql: str, *values: object) -> list[Any]:
        try:
            if self._database is None:
                self._database = self._open()
            return self._database.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            logger.warning("%s: %s", self._folder / _LAST_RECORDS, error)
            self.close()
            if not isinstance(error, sqlite3.OperationalError):  # damaged, not in use
                for end in ("", "-wal", "-shm"):
                    (self._folder / f"{_LAST_RECORDS}{end}").unlink(missing_ok=True)
            return []

    def _open(self) -> sqlite3.Connection:
        path = self._folder / _LAST_RECORDS
        database = sqlite3.connect(path, isolation_level=None, timeout=5)
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=OFF")
        database.execute(
            "CREATE TABLE IF NOT EXISTS last (key BLOB PRIMARY KEY, digest TEXT, date TEXT, "
            "record TEXT, file TEXT) WITHOUT ROWID"
        )
        return database


def _key(response: Response, request: Request) -> bytes:
    """Return a key for an address as it was asked for: others may get another form of it."""
    accept = request.headers.get("Accept") or b""
    text = f"{request.method} {response.url} ".encode("utf-8", "replace")
    return sha256(text + accept + b" " + request.body).digest()[:16]


class WarcExtension:
    """Writes every request and raw response to ``*.warc.gz`` in the job folder.

    ``SEMCRAWL_WARC = True`` turns it on. A file is called ``….warc.gz.open`` until it is complete.
    Each record is compressed separately, so a crash costs at most the last one. A body that is the
    same as in the folder's last record of its address gives a ``revisit`` record, as does a 304.
    Responses that ask robots to keep no copy are left out. Stats: ``semcrawl/warc/records``,
    ``/revisits``, ``/failed``, ``/left_out``.
    """

    def __init__(self, crawler: Crawler) -> None:
        """Read the settings. Raises ``NotConfigured`` if the extension is off."""
        if not fill(ResultOptions, crawler.settings).warc:
            raise NotConfigured
        try:
            from warcio.warcwriter import WARCWriter
        except ModuleNotFoundError:
            raise StoreError(f"SEMCRAWL_WARC needs: {install_hint('warc')}") from None
        self._writer_class: Any = WARCWriter
        self._folder = job_folder(crawler.settings)
        self._max_size = _MAX_SIZE
        self._crawler = crawler
        self._stats = crawler.stats
        self._tags = robots_tags(crawler.settings)
        self._file: IO[bytes] | None = None
        self._path = self._folder
        self._writer: Any = None
        self._number = 0
        self._identities = FileIdentities()
        self._last = _LastRecords(self._folder)
        #: end of the last whole record
        self._end = 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Connect to the crawler's signals."""
        extension = cls(crawler)
        crawler.signals.connect(extension.write, signals.response_downloaded)
        crawler.signals.connect(extension.close, signals.spider_closed)
        return extension

    def write(self, response: Response, request: Request) -> None:
        """Write a request and its response."""
        if urlsplit(response.url).scheme not in ("http", "https"):
            return
        headers = [value.decode("latin-1") for value in response.headers.getlist(HEADER)]
        if not self._tags.keeps(self._tags.said(headers, response.body)):
            self._count("left_out")
            return
        try:
            self._identities.check()
            self._write(response, request)
        except ResultsGone as error:
            end_crawl(self._crawler, str(error))
            request.meta[NOT_RECORDED] = True
        except (OSError, StoreError) as error:
            logger.error("%s cannot be kept in %s: %s", response.url, self._path, error)
            self._count("failed")
            request.meta[NOT_RECORDED] = True
            self._cut()
        else:
            self._count("records")

    def close(self) -> None:
        """Give the file its final name."""
        self._last.close()
        self._finish()

    def _finish(self) -> None:
        if self._file is None:
            return
        self._file.close()
        self._file = None
        try:
            self._identities.check()
            self._path.replace(self._path.with_suffix(""))
        except ResultsGone as error:
            end_crawl(self._crawler, str(error))
        self._identities = FileIdentities()

    def _cut(self) -> None:
        """Cut off the partial record of a full disk, at which readers would stop."""
        if self._file is None:
            return
        with suppress(OSError):  # flushing its buffer fails again
            self._file.close()
        self._file = None
        try:
            os.truncate(self._path, self._end)
            self._file = self._path.open("ab")
            self._writer = self._writer_class(self._file, gzip=True, warc_version=_VERSION)
        except OSError as error:
            logger.error("%s cannot be repaired: %s", self._path, error)

    def _write(self, response: Response, request: Request) -> None:
        if self._file is None:
            self._open()
        writer = self._writer
        file = body_file(request.meta)
        size = len(response.body) if file is None else file.size
        response_record = writer.create_warc_record(
            response.url,
            "response",
            payload=BytesIO(response.body) if file is None else file.stream(),
            length=size,
            http_headers=_response_headers(response, size, () if file is None else file.codings),
            warc_headers_dict={"WARC-IP-Address": str(response.ip_address)}
            if response.ip_address
            else {},
        )
        key = _key(response, request)
        before = self._last.get(key)
        revisit = before and self._revisit(before, response, response_record, size)
        request_record = writer.create_warc_record(
            request.url,
            "request",
            payload=BytesIO(request.body),
            length=len(request.body),
            http_headers=_request_headers(request),
        )
        writer.write_request_response_pair(request_record, revisit or response_record)
        if self._file is not None:
            self._file.flush()
            self._end = self._file.tell()
            if revisit:
                self._count("revisits")
            elif response.status == _WHOLE and size:
                self._last.put(key, response_record.rec_headers, self._path.with_suffix("").name)
            if self._end >= self._max_size:
                self._finish()

    def _revisit(self, before: _Last, response: Response, record: Any, size: int) -> Any:
        """Return a record that refers to the one before; ``None`` if the body is another one."""
        digest = record.rec_headers.get_header("WARC-Payload-Digest")
        if response.status == _NOT_MODIFIED:
            profile, digest = "server-not-modified", ""
        elif response.status == _WHOLE and size and digest == before.digest:
            profile = "identical-payload-digest"
        else:
            return None
        headers = {
            "WARC-Profile": f"http://netpreserve.org/warc/1.1/revisit/{profile}",
            "WARC-Refers-To": before.record,
            "WARC-Refers-To-Target-URI": response.url,
            "WARC-Refers-To-Date": before.date,
        }
        if digest:
            headers["WARC-Payload-Digest"] = digest
        if address := record.rec_headers.get_header("WARC-IP-Address"):
            headers["WARC-IP-Address"] = address
        return self._writer.create_warc_record(
            response.url, "revisit", http_headers=record.http_headers, warc_headers_dict=headers
        )

    def _open(self) -> None:
        stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime())
        self._number += 1
        name = f"semcrawl-{stamp}-{os.getpid()}-{uuid4().hex[:8]}-{self._number:05d}.warc.gz"
        self._path = self._folder / f"{name}.open"
        self._file = self._path.open("wb")
        self._identities.remember(self._path)
        self._end = 0
        self._writer = self._writer_class(self._file, gzip=True, warc_version=_VERSION)
        info = self._writer.create_warcinfo_record(name, {"software": "semcrawl", "format": "WARC"})
        self._writer.write_record(info)

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/warc/{name}")


def _response_headers(response: Response, size: int, codings: Sequence[bytes]) -> Any:
    from warcio.statusandheaders import StatusAndHeaders

    reason = responses.get(response.status, "")
    headers = [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        if name.lower() not in _TRANSFER_HEADERS
        for value in values
    ]
    headers += [("Content-Encoding", coding.decode("latin-1")) for coding in codings]
    headers.append(("Content-Length", str(size)))
    protocol = "HTTP/1.1"
    return StatusAndHeaders(f"{response.status} {reason}".strip(), headers, protocol=protocol)


def _request_headers(request: Request) -> Any:
    from warcio.statusandheaders import StatusAndHeaders

    parts = urlsplit(request.url)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    headers = [("Host", parts.netloc.rpartition("@")[2])]
    headers += [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in request.headers.items()
        if name.lower() not in (b"host", b"authorization", b"cookie", b"proxy-authorization")
        for value in values
    ]
    return StatusAndHeaders(f"{request.method} {target} HTTP/1.1", headers, is_http_request=True)
