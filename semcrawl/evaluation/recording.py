"""A crawl kept as WARC, and the world that it was, to be crawled again without the network.

Needs ``warcio`` (``pip install semcrawl[warc]``).
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from semcrawl.errors import StoreError, UsageError
from semcrawl.evaluation.world import REDIRECTS, Answer
from semcrawl.rdf import detect
from semcrawl.urls import netloc_of, normalise, resolve

#: name of the file in a crawl's folder
RECORDING = "crawl.warc.gz"

_HEAD = 16_384  # bytes looked at to tell what a body is
_FRAMING = frozenset({"transfer-encoding", "content-encoding", "content-length", "connection"})


def find_recording(path: Path) -> Path | None:
    """The WARC file that a path names, or that lies in the folder it names."""
    if path.is_dir():
        path = path / RECORDING
    return path if path.is_file() and path.name.endswith((".warc", ".warc.gz")) else None


class RecordingWriter:
    """Appends responses to a WARC file, each flushed at once: a crash leaves whole records.

    Raises ``StoreError`` when the file cannot be written, ``UsageError`` without warcio.
    """

    def __init__(self, path: Path, seeds: Sequence[str] = ()) -> None:
        warcwriter = _warcio("warcwriter")
        try:
            if path.exists():
                _mend(path)
            self._file: BinaryIO = path.open("ab")
        except OSError as error:
            raise StoreError(f"cannot record to {path}: {error.strerror or error}") from None
        self._path = path
        self._writer = warcwriter.WARCWriter(self._file, gzip=True)
        info = {"software": "semcrawl", "format": "WARC File Format 1.0"}
        if seeds:
            info["semcrawl-seeds"] = json.dumps(list(seeds))
        self._put(self._writer.create_warcinfo_record(path.name, info))

    def write(
        self, request_url: str, status: int, headers: Iterable[tuple[str, str]], body: bytes
    ) -> None:
        """Keep one response. ``body`` is decoded: headers about its encoding are left out."""
        statusandheaders = _warcio("statusandheaders")
        kept = [(n, _one_line(v)) for n, v in headers if n.lower() not in _FRAMING]
        kept.append(("Content-Length", str(len(body))))
        http = statusandheaders.StatusAndHeaders(f"{status} -", kept, protocol="HTTP/1.1")
        self._put(
            self._writer.create_warc_record(
                request_url, "response", payload=BytesIO(body), http_headers=http
            )
        )

    def _put(self, record: Any) -> None:
        try:
            self._writer.write_record(record)
            self._file.flush()
        except OSError as error:
            raise StoreError(f"cannot record to {self._path}: {error.strerror or error}") from None

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        """Return the writer."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a response is in the file."""

    offset: int
    answer: Answer


class RecordedWorld:
    """The pages of a recorded crawl; what it did not fetch answers 404.

    Of several responses to one URL the last with a body counts. Bodies are read from the file when
    they are asked for.
    """

    def __init__(
        self, name: str, path: Path, places: dict[str, _Place], starts: tuple[str, ...]
    ) -> None:
        self.name = name
        self._path = path
        self._places = places
        self._starts = starts
        self._hosts = frozenset(
            netloc_of(url) for url, place in places.items() if place.answer.status == 200
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the index of a WARC file; a record cut off at the end is left out.

        Raises ``UsageError`` for a file that is no WARC file or holds no response.
        """
        places: dict[str, _Place] = {}
        starts: dict[str, None] = {}
        first = ""
        try:
            with path.open("rb") as file:
                for record, offset in _records(file):
                    if record.rec_type == "warcinfo":
                        starts.update(dict.fromkeys(_seeds(record)))
                    url = normalise(record.rec_headers.get_header("WARC-Target-URI") or "")
                    if record.rec_type != "response" or url is None or not record.http_headers:
                        continue
                    first = first or url
                    known = places.get(url)
                    answer = _answer(record, url)
                    if record.raw_stream.limit > 0:  # cut off
                        break
                    if known is None or answer.status == 200 or known.answer.status != 200:
                        places[url] = _Place(offset, answer)
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}") from None
        if not places:
            raise UsageError(f"{path} holds no recorded response")
        found = tuple(url for seed in starts if (url := normalise(seed)) is not None)
        name = path.parent.resolve().name if path.name == RECORDING else path.name.split(".")[0]
        return cls(name, path, places, found or (first,))

    @property
    def hosts(self) -> frozenset[str]:
        """Hosts that gave at least one document."""
        return self._hosts

    @property
    def starts(self) -> tuple[str, ...]:
        """The crawl's seeds; its first URL if they were not kept."""
        return self._starts

    def robots(self, host: str) -> str:
        """Return the robots.txt that was recorded."""
        for scheme in ("http", "https"):
            url = f"{scheme}://{host}/robots.txt"
            place = self._places.get(url)
            if place is not None and place.answer.status == 200:
                return self.body(url).decode("utf-8", "replace")
        return ""

    def fetch(self, url: str) -> Answer:
        """Answer as the server did."""
        place = self._places.get(url)
        return place.answer if place is not None else Answer(404, "text/html")

    def body(self, url: str) -> bytes:
        """Read the body out of the file."""
        place = self._places.get(url)
        if place is None or place.answer.kind is None:
            return b""
        with self._path.open("rb") as file:
            file.seek(place.offset)
            for record, _ in _records(file):
                data: bytes = record.content_stream().read()
                return data
        return b""


def _records(file: BinaryIO) -> Iterable[tuple[Any, int]]:
    """Yield records with their offsets, up to the first that is broken."""
    archiveiterator, exceptions = _warcio("archiveiterator"), _warcio("exceptions")
    iterator = archiveiterator.ArchiveIterator(file)
    try:
        for record in iterator:
            yield record, iterator.offset
    except (exceptions.ArchiveLoadFailed, EOFError, ValueError, gzip.BadGzipFile):
        return


def _answer(record: Any, url: str) -> Answer:
    """What a recorded response says."""
    http = record.http_headers
    try:
        status = int(http.get_statuscode())
    except ValueError:
        status = 0
    content_type = http.get_header("Content-Type") or ""
    if status in REDIRECTS:
        location = resolve(url, http.get_header("Location") or "") or ""
        return Answer(status, content_type, location=location)
    if status != 200:
        return Answer(status, content_type)
    digest = hashlib.sha256()
    stream = record.content_stream()
    head = piece = stream.read(_HEAD)
    while piece:
        digest.update(piece)
        piece = stream.read(1 << 16)
    links = tuple((n, v) for n, v in http.headers if n.lower() == "link")
    return Answer(
        status,
        content_type,
        detect(head, content_type, url).kind,
        # the same bytes under another URL are the same document
        document=digest.hexdigest() if head else url,
        headers=links,
    )


def _seeds(record: Any) -> list[str]:
    """Seeds kept in a warcinfo record."""
    for line in record.content_stream().read().decode("utf-8", "replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "semcrawl-seeds":
            try:
                return [str(seed) for seed in json.loads(value)]
            except ValueError:
                return []
    return []


def _mend(path: Path) -> None:
    """Cut off a record that a crash left half-written, so that more can be appended."""
    whole = 0
    with path.open("rb") as file:
        iterator = _warcio("archiveiterator").ArchiveIterator(file)
        try:
            for record in iterator:
                iterator.read_to_end(record)
                if record.raw_stream.limit > 0:
                    break
                whole = iterator.offset
        except Exception:  # noqa: S110 - what comes after the last whole record is lost anyway
            pass
    if whole < path.stat().st_size:
        with path.open("r+b") as file:
            file.truncate(whole)


def _one_line(value: str) -> str:
    return " ".join(value.split())


def _warcio(module: str) -> Any:
    """Import a module of warcio, which is optional."""
    import importlib

    try:
        return importlib.import_module(f"warcio.{module}")
    except ImportError:
        raise UsageError("recorded crawls need warcio: pip install 'semcrawl[warc]'") from None
