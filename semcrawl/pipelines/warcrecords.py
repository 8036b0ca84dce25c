"""The responses in WARC files (ISO 28500), one after the other, in bounded memory.

A damaged record costs only itself: reading goes on where the next one begins. Needs ``warcio``
(``pip install semcrawl[warc]``).
"""

from __future__ import annotations

import importlib
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError
from semcrawl.rdf import ReadOptions
from semcrawl.rdf.detection import Compression, coding_of, compression_of
from semcrawl.rdf.limits import Budget
from semcrawl.rdf.packed import unpacked
from semcrawl.rdf.streams import Readable, SafeFile
from semcrawl.sources.negotiation import asks_rdf_alone
from semcrawl.web.bodies import BodyBuffer, BodyFile

#: ``.open`` marks a file that a crawl was still writing when it ended
_ENDINGS = (".warc", ".warc.gz", ".warc.gz.open")
_GZIP = b"\x1f\x8b\x08"
#: the first bytes of a record
_RECORD = b"WARC/"
_PIECE = 1 << 16
#: bytes of an unpacked gzip member that are kept in memory
_IN_MEMORY = 1 << 24


@dataclass(frozen=True, slots=True)
class RecordedHeaders:
    """The headers of a response; returns all values of a name."""

    pairs: tuple[tuple[bytes, bytes], ...]

    def __call__(self, name: bytes) -> Sequence[bytes]:
        """Return the values of a header, in whatever case its name is."""
        return [value for one, value in self.pairs if one == name.lower()]


@dataclass(frozen=True, slots=True)
class RecordedResponse:
    """A response with its body, whose transfer and content codings are undone."""

    #: the address as it was recorded
    url: str
    #: 0: it has none
    status: int
    headers: RecordedHeaders
    body: bytes | BodyFile
    #: time of the request (seconds since the epoch); 0: unknown
    date: float = 0.0
    #: why the body is not whole; empty if it is
    fault: str = ""
    #: a crawl of ours recorded it
    ours: bool = False
    #: that crawl asked for the RDF of an address whose page it had
    as_rdf: bool = False
    #: the record's names, by which its request is found
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A ``revisit`` record: what was there had been recorded before."""

    url: str


@dataclass(frozen=True, slots=True)
class _Request:
    """Stands beside its response, before or after it."""

    ids: frozenset[str]
    rdf_alone: bool


@dataclass(frozen=True, slots=True)
class _Info:
    """Begins a file."""

    #: whether a crawl of ours recorded it
    ours: bool


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of a file that cannot be read."""

    #: where it begins in the file, in bytes
    offset: int
    reason: str


_Found = RecordedResponse | Unchanged | _Request | _Info


def responses_in(
    path: Path, in_memory: int = 1 << 25, spool_dir: Path | None = None
) -> Iterator[RecordedResponse | Unchanged | Damage]:
    """Yield the HTTP responses of a file, and what of it cannot be read.

    Bodies of more than ``in_memory`` bytes are files in ``spool_dir``. Other records (requests,
    metadata, DNS, …) are passed over. Raises ``OSError``, and ``UsageError`` without warcio.
    """
    held: RecordedResponse | None = None
    request, ours = _Request(frozenset(), rdf_alone=False), False
    for one in _records_in(path, in_memory, spool_dir):
        if isinstance(one, _Info):
            ours = one.ours
        elif isinstance(one, _Request):
            request = one
            if held is not None and request.ids & held.ids:
                held = replace(held, as_rdf=ours and request.rdf_alone)
        else:
            if held is not None:
                yield held
                held = None
            if isinstance(one, RecordedResponse):
                alone = bool(request.ids & one.ids) and request.rdf_alone
                held = replace(one, ours=ours, as_rdf=ours and alone)
            else:
                yield one
    if held is not None:
        yield held


def _records_in(path: Path, in_memory: int, spool_dir: Path | None) -> Iterator[_Found | Damage]:
    """Yield what the records of a file hold, and what of it cannot be read."""
    with path.open("rb") as file:
        head = file.read(2)
        if head != _GZIP[:2]:
            if head:
                yield from _in_plain(file, 0, in_memory, spool_dir)
            return
        for offset, content in _members(file):
            if isinstance(content, str):
                yield Damage(offset, content)
                continue
            with content:
                for one in _in_plain(content, 0, in_memory, spool_dir):
                    yield Damage(offset, one.reason) if isinstance(one, Damage) else one


def _members(file: IO[bytes]) -> Iterator[tuple[int, IO[bytes] | str]]:
    """Yield the offset and the content of each gzip member, or why it cannot be unpacked."""
    offset: int | None = 0
    while offset is not None:
        file.seek(offset)
        unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
        content = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - the caller closes it
        fault = ""
        try:
            while not unpacking.eof and (data := file.read(_PIECE)):
                content.write(unpacking.decompress(data))
        except zlib.error as error:
            fault = f"its compression is damaged ({error})"
        if not fault and not unpacking.eof:
            fault = "it is cut off"
        if fault:
            content.close()
            yield offset, fault
            offset = _next(file, offset + 1, _GZIP)
            continue
        content.seek(0)
        rest = file.tell() - len(unpacking.unused_data)
        yield offset, content
        file.seek(rest)
        if not (follows := file.read(len(_GZIP))):
            return
        offset = rest
        if follows != _GZIP:
            yield rest, "it is no record"
            offset = _next(file, rest, _GZIP)


def _next(file: IO[bytes], start: int, mark: bytes) -> int | None:
    """Return where the next record begins, at ``start`` or later; ``None``: nowhere."""
    file.seek(start)
    held, begin = b"", start
    while data := file.read(_PIECE):
        held += data
        found = held.find(mark)
        while found >= 0:
            if _begins_record(file, begin + found):
                return begin + found
            found = held.find(mark, found + 1)
        kept = len(mark) - 1
        begin += max(0, len(held) - kept)
        held = held[-kept:]
        file.seek(begin + len(held))
    return None


def _begins_record(file: IO[bytes], offset: int) -> bool:
    """Whether a record begins at an offset, packed or not."""
    file.seek(offset)
    head = file.read(1024)
    if head.startswith(_GZIP):
        try:
            head = zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(head)
        except zlib.error:
            return False
        return head.startswith(_RECORD)
    version, _, rest = head.partition(b"\r\n")
    return version.startswith(_RECORD) and len(version) < 10 and b"\nWARC-Type:" in b"\n" + rest


def _in_plain(
    file: IO[bytes], start: int, in_memory: int, spool_dir: Path | None
) -> Iterator[_Found | Damage]:
    """Yield what unpacked records hold."""
    archiveiterator, exceptions = warcio("archiveiterator"), warcio("exceptions")
    offset: int | None = start
    while offset is not None:
        file.seek(offset)
        records = archiveiterator.ArchiveIterator(file)
        records.INC_RECORD = ""  # what warcio prints about records of another length than they say
        fault = ""
        try:
            for record in records:
                offset = records.offset
                found = _found(record, in_memory, spool_dir)
                while record.raw_stream.read(_PIECE):
                    pass
                if record.raw_stream.limit > 0:
                    fault = "it is cut off"
                    break
                records.read_to_end()
                if records.err_count:
                    fault = "it is longer or shorter than it says"
                    break
                if found is not None:
                    yield found
        except (exceptions.ArchiveLoadFailed, EOFError, ValueError) as error:
            offset = max(offset, records.offset)
            fault = f"it is no record: {str(error).strip().splitlines()[0][:80]}"
        if not fault:
            return
        yield Damage(offset, fault)
        offset = _next(file, offset + 1, _RECORD)


def _found(record: Any, in_memory: int, spool_dir: Path | None) -> _Found | None:
    """Return what counts of a record; ``None`` if it has nothing of HTTP."""
    if record.rec_type == "warcinfo":
        return _Info(b"software: semcrawl" in record.raw_stream.read(_PIECE))
    headers = record.rec_headers
    url = headers.get_header("WARC-Target-URI") or ""
    url = url.strip("<>")  # as older programs wrote it
    if not url.lower().startswith(("http://", "https://")):
        return None
    if record.rec_type == "revisit":
        return Unchanged(url)
    http = record.http_headers
    if not http:
        return None
    # request and response refer to each other in one direction or both
    names = (headers.get_header(name) for name in ("WARC-Record-ID", "WARC-Concurrent-To"))
    ids = frozenset(filter(None, names))
    if record.rec_type == "request":
        return _Request(ids, asks_rdf_alone(http.get_header("Accept") or ""))
    if record.rec_type != "response":
        return None
    try:
        status = int(http.get_statuscode())
    except ValueError:
        status = 0
    pairs = tuple((name.lower().encode(), value.encode()) for name, value in http.headers)
    body = BodyBuffer(b"", in_memory, spool_dir)
    content = content_of(record)
    while piece := content.read(_PIECE):
        body.write(piece)
    fault = getattr(content, "fault", "")
    if cut := headers.get_header("WARC-Truncated"):
        fault = f"its recorder cut it off ({cut})"
    date = _seconds(headers.get_header("WARC-Date") or "")
    whole = body.getvalue() if body.file is None else body.file
    return RecordedResponse(url, status, RecordedHeaders(pairs), whole, date, fault, ids=ids)


def content_of(record: Any) -> Readable:
    """Return the decoded body of a recorded response; an attribute ``fault`` tells of damage."""
    kind = coding_of(record.http_headers.get_header("Content-Encoding") or "")
    if kind is None:  # none, or one that warcio decodes
        content: Readable = record.content_stream()
        return content
    record.http_headers.remove_header("Content-Encoding")
    budget = Budget(ReadOptions())
    packed = SafeFile(record.content_stream(), budget, counted=False)
    if kind is Compression.GZIP and compression_of(packed.peek(4)) is not kind:
        return packed  # decoded before it was recorded
    try:
        return unpacked(packed, kind, budget)
    except ImportError:
        raise UsageError(
            f"a recorded body is coded by {kind.value}: {install_hint('compression')}"
        ) from None


def _seconds(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        return 0.0


def warcio(module: str) -> Any:
    """Import a module of the optional package warcio; raise ``UsageError`` without it."""
    try:
        return importlib.import_module(f"warcio.{module}")
    except ImportError:
        raise UsageError(f"recorded crawls need warcio: {install_hint('warc')}") from None


def find_recording(path: Path) -> list[Path]:
    """Return the WARC file at a path, or the WARC files in the folder at the path."""
    if path.is_file():
        return [path] if path.name.endswith(_ENDINGS) else []
    if not path.is_dir():
        return []
    return sorted(file for file in path.iterdir() if file.name.endswith(_ENDINGS))
