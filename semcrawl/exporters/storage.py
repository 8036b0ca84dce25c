"""Stores feeds so that a file with its final name is complete, and on S3."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from math import inf
from pathlib import Path
from typing import IO, Any, Self
from urllib.parse import urlsplit

from scrapy import Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.extensions.feedexport import S3FeedStorage
from w3lib.url import file_uri_to_path

from semcrawl.config.extras import install_hint
from semcrawl.errors import StoreError, os_errors_as
from semcrawl.exporters.joining import join
from semcrawl.machine.filelocks import lock
from semcrawl.machine.wholefiles import is_special, umask


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
