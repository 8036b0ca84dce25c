"""Unescapes Turtle and its relatives that a template escaped as HTML: ``&lt;http://…/&gt;``."""

from __future__ import annotations

from semcrawl.rdf.patterns import re
from semcrawl.rdf.streams import Readable

#: error recorded for such a document
ESCAPED = "the document is escaped as HTML (&lt; for <); it is read unescaped"

_REFERENCE = rb"&(?:lt|gt|quot|apos|amp|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});"
_REFERENCES = re.compile(_REFERENCE)
_ESCAPED_IRI = re.compile(rb"&lt;[^\s<>\"]*?&gt;")
_IRI = re.compile(rb"<[^<>\s\"{}]*+>")
_STRING = (
    rb'"""(?:[^"\\]|\\.|"(?!""))*+"""|'
    rb"'''(?:[^'\\]|\\.|'(?!''))*+'''|"
    rb'"(?:[^"\\\n\r]|\\.)*+"|'
    rb"'(?:[^'\\\n\r]|\\.)*+'"
)
#: strings, IRIs and comments, which may contain references, and references elsewhere
_PARTS = re.compile(
    rb"(" + _STRING + rb")|<[^<>\s\"{}]*+>|(?:\A|(?<=\s))#[^\n\r]*+|(" + _REFERENCE + rb")",
    re.DOTALL,
)
_NAMES = {b"lt": b"<", b"gt": b">", b"quot": b'"', b"apos": b"'", b"amp": b"&"}
_LONGEST_REFERENCE = 10


def unescaped(data: bytes) -> bytes | None:
    """Return a text of the Turtle family unescaped; ``None`` if it was not escaped.

    An escaped IRI outside of strings and comments, which no syntax allows, shows that the text was
    escaped. If it has no plain IRI, its strings were escaped too; else they stay as they are.
    """
    if not _has_escaped_iri(data):
        return None
    whole = _IRI.search(data) is None

    def plain(match: re.Match[bytes]) -> bytes:
        if match[2]:
            return _character(match)
        if not whole:
            return match[0]
        # what looks like a comment may be in a string whose quotes are escaped
        quote = match[0][:1] if match[1] else b""
        return _REFERENCES.sub(lambda found: _in_string(found, quote), match[0])

    return _PARTS.sub(plain, data)


def _has_escaped_iri(data: bytes) -> bool:
    return _ESCAPED_IRI.search(_PARTS.sub(_references_only, data)) is not None


def _references_only(match: re.Match[bytes]) -> bytes:
    return match[0] if match[2] else b'""'


def _character(match: re.Match[bytes]) -> bytes:
    """Return the character of a reference; an invalid reference stays."""
    name = match[0][1:-1]
    if name in _NAMES:
        return _NAMES[name]
    code = int(name[2:], 16) if name[1:2] in b"xX" else int(name[1:])
    if not 0 < code <= 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return match[0]
    return chr(code).encode()


def _in_string(match: re.Match[bytes], quote: bytes) -> bytes:
    """Return the character of a reference in a string, with a backslash where it needs one."""
    character = _character(match)
    return b"\\" + character if quote and character in (quote, b"\\") else character


def is_all_escaped(head: bytes) -> bool:
    """Whether ``head`` has escaped IRIs and no plain ones."""
    return b"&lt;" in head and _has_escaped_iri(head) and _IRI.search(head) is None


class UnescapedFile:
    """Replaces the references in a file as it is read."""

    def __init__(self, file: Readable) -> None:
        """Read ``file`` from its current position."""
        self._file = file
        self._ready = b""
        self._held = b""
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes."""
        if size is None or size < 0:
            size = 1 << 20
        while not self._ready and not self._ended:
            data = self._file.read(1 << 20)
            self._ended = not data
            data = self._held + data
            cut = len(data)
            if not self._ended:  # a reference may be cut
                begun = data.rfind(b"&", max(cut - _LONGEST_REFERENCE, 0))
                cut = begun if begun >= 0 else cut
            self._ready, self._held = _REFERENCES.sub(_character, data[:cut]), data[cut:]
        result, self._ready = self._ready[:size], self._ready[size:]
        return result
