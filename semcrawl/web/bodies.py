"""Response bodies too large for memory, in anonymous temporary files."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

#: key of ``Request.meta`` for the :class:`BodyFile` that replaces an empty ``response.body``
BODY_FILE = "semcrawl_body_file"
_CHUNK = 1 << 20


if hasattr(os, "pread"):
    _read_at = os.pread
else:  # Windows
    _read_lock = Lock()

    def _read_at(fd: int, length: int, offset: int, /) -> bytes:
        with _read_lock:
            os.lseek(fd, offset, os.SEEK_SET)
            return os.read(fd, length)


class BodyFile:
    """A body on disk. Its file has no name and goes with this object or with the process."""

    def __init__(self, folder: Path | None = None) -> None:
        """Create the file in ``folder``, by default the system's temporary folder."""
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with this object
        #: bytes
        self.size = 0
        #: the response's ``Content-Encoding`` headers; the bytes are not decoded
        self.codings: tuple[bytes, ...] = ()

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._file.write(data)
        self.size += len(data)

    def close(self) -> None:
        """Remove the file."""
        self._file.close()

    def head(self, size: int) -> bytes:
        """Return the first ``size`` bytes."""
        return self.stream().read(size)

    def stream(self) -> BodyStream:
        """Return a reader from the start, with a position of its own."""
        return BodyStream(self.fileno(), self)

    def fileno(self) -> int:
        """Flush, and return the file descriptor."""
        self._file.flush()
        return self._file.fileno()


class Sized(Protocol):
    """The owner of a stream's file, as the stream sees it."""

    @property
    def size(self) -> int:
        """Bytes of the file."""


class BodyStream:
    """Reads a :class:`BodyFile`."""

    def __init__(self, descriptor: int, owner: Sized) -> None:
        """Read from the start; keeps ``owner`` alive."""
        self._descriptor = descriptor
        self._owner = owner
        self._position = 0

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes, or the rest without a size; empty at the end."""
        left = self._owner.size - self._position
        wanted = left if size is None or size < 0 else min(size, left)
        pieces: list[bytes] = []
        while wanted > 0:
            data = _read_at(self._descriptor, min(wanted, _CHUNK), self._position)
            if not data:
                break
            pieces.append(data)
            self._position += len(data)
            wanted -= len(data)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the rest in pieces of a mebibyte."""
        while data := self.read(_CHUNK):
            yield data


class BodyBuffer(BytesIO):
    """Collects a body: in memory up to a size, beyond it in a :class:`BodyFile`."""

    def __init__(self, start: bytes, above: float, folder: Path | None) -> None:
        """Begin with ``start``; above ``above`` bytes the body moves to a file in ``folder``."""
        super().__init__()
        self._above = above
        self._folder = folder
        #: the file, once the body has left memory
        self.file: BodyFile | None = None
        self.write(start)

    def write(self, data: Any) -> int:
        """Append bytes."""
        if self.file is None and self.tell() + len(data) > self._above:
            self.file = BodyFile(self._folder)
            self.file.write(self.getvalue())
            self.seek(0)
            self.truncate(0)
        if self.file is None:
            return super().write(data)
        self.file.write(data)
        return len(data)


def body_file(meta: Mapping[str, Any]) -> BodyFile | None:
    """Return the body's file from a request's ``meta``, if there is one."""
    found = meta.get(BODY_FILE)
    return found if isinstance(found, BodyFile) else None


#: longest header that is read (characters)
_LONGEST = 2000
_WORD = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
#: the start of a header: type and subtype (RFC 9110, 8.3.1), then parameters, or another header
_ESSENCE = re.compile(rf"({_WORD})/({_WORD})[ \t\r\n]*(?=[;,]|\Z)")
#: one parameter; its value may be quoted, or be missing
_PARAMETER = re.compile(r';[ \t\r\n]*([^;=,]*)(?:=(?:"((?:[^"\\]|\\.)*)"?|([^;,"]*))[^;,]*)?', re.S)
_ESCAPED = re.compile(r"\\(.)", re.S)
_NEXT = re.compile(r"[^,]*(?:,|\Z)")


def media_type(header: str | None) -> str:
    """Return the type and subtype of a ``Content-Type`` in lower case; ``""`` if it has none.

    What is no media type by the grammar of RFC 9110, and what stands for any type, says nothing
    about the body. Neither does a list of several types, unless all of them are equal.

    >>> media_type("Text/Turtle; charset=utf-8")
    'text/turtle'
    >>> [media_type(text) for text in ("application/rdf xml", "*/*", "turtle", '"text/turtle"')]
    ['', '', '', '']
    >>> media_type("text/turtle, text/turtle"), media_type("text/html, text/turtle")
    ('text/turtle', '')
    """
    return _parsed((header or "")[:_LONGEST])[0]


def charset_of(header: str | None) -> str:
    """Return the label of the encoding that a ``Content-Type`` names; ``""`` if it names none.

    >>> charset_of('text/html; a="; charset=x"; Charset="GB2312"')
    'GB2312'
    """
    return _parsed((header or "")[:_LONGEST])[1]


@lru_cache(maxsize=512)
def _parsed(header: str) -> tuple[str, str]:
    """Return the media type and the charset of a header."""
    found = list(_types(header))
    names = {name for name, _ in found}
    if len(names) != 1:
        return "", ""
    return names.pop(), next((charset for _, charset in found if charset), "")


def _types(header: str) -> Iterator[tuple[str, str]]:
    """Yield the media types of a header with their charsets, invalid ones left out.

    A server that sends the header twice makes a list of it (Fetch, "extract a MIME type").
    """
    at = 0
    while at < len(header):
        while at < len(header) and header[at] in " \t\r\n":
            at += 1
        essence = _ESSENCE.match(header, at)
        charset = ""
        if essence:
            at = essence.end()
            while parameter := _PARAMETER.match(header, at):
                at = parameter.end()
                if parameter[1].strip().lower() == "charset" and not charset:
                    quoted = parameter[2]
                    value = parameter[3] if quoted is None else _ESCAPED.sub(r"\1", quoted)
                    charset = (value or "").strip()
            if essence[1] != "*" and essence[2] != "*":
                yield f"{essence[1]}/{essence[2]}".lower(), charset
        rest = _NEXT.match(header, at)
        at = rest.end() if rest else len(header)
