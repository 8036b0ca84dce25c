"""Text encodings: any body to UTF-8 without a byte-order mark.

Every RDF syntax but RDF/XML and HTML is UTF-8 by definition; what is found in the wild is not.
The order of evidence: byte-order mark, zero bytes of UTF-16 and UTF-32, the XML declaration, UTF-8
itself when the bytes are valid, the header's charset, Windows-1252.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from semcrawl.web.charsets import is_text_encoding, wide_encoding

_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_XML_DECLARATION = re.compile(
    rb"""\A\s*<\?xml\b[^>]{0,200}?(\sencoding\s*=\s*["']([A-Za-z][\w.:-]*)["'])"""
)
_CHARSET = re.compile(r"""charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a body: codec name, length of its byte-order mark, what told it."""

    name: str
    bom: int
    evidence: str


def charset_of(content_type: str | None) -> str:
    """Return the ``charset`` parameter of a Content-Type header, or an empty string."""
    found = _CHARSET.search(content_type or "")
    return found[1] if found else ""


def is_utf8(data: bytes) -> bool:
    """Whether ``data`` is UTF-8; a character cut at the end is forgiven."""
    if data.isascii():
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def find_encoding(body: bytes, content_type: str | None = None) -> Encoding:
    """Return the encoding of ``body`` (its first kilobytes are enough, all of it is better)."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Encoding(name, len(mark), "byte-order mark")
    if wide := wide_encoding(body):
        return Encoding(wide, 0, "zero bytes")
    declared = _XML_DECLARATION.match(body)
    if declared:
        name = declared[2].decode("ascii").lower()
        # a declaration that is itself readable byte by byte cannot be true of a wide encoding
        if is_text_encoding(name) and not name.startswith(("utf-16", "utf-32", "utf16", "ucs")):
            if name not in ("utf-8", "utf8") and body.isascii():
                return Encoding("utf-8", 0, "plain ASCII")
            if _utf8_in_disguise(name, body):
                return Encoding("utf-8", 0, "valid UTF-8 against its declaration")
            return Encoding(name, 0, "XML declaration")
    if is_utf8(body):
        return Encoding("utf-8", 0, "valid UTF-8")
    name = charset_of(content_type).lower()
    if name and is_text_encoding(name) and name not in ("utf-8", "utf8", "us-ascii", "ascii"):
        return Encoding(name, 0, "header")
    return Encoding("cp1252", 0, "not UTF-8")


def _utf8_in_disguise(declared: str, body: bytes) -> bool:
    """Whether a body that is declared single-byte is UTF-8 after all.

    Text of several non-ASCII letters that happens to be valid UTF-8 is UTF-8: in Latin-1 it would
    read as two odd signs per letter.
    """
    return declared.startswith(("iso-8859", "latin", "windows-12", "cp12", "us-ascii")) and is_utf8(
        body
    )


def to_utf8(body: bytes, content_type: str | None = None) -> tuple[bytes, Encoding]:
    """Return ``body`` in UTF-8 without a byte-order mark, and the encoding it had.

    Bytes that are not of the encoding become U+FFFD, except in bodies taken for UTF-8: those stay
    as they are, so that the parser can report the place. An XML declaration's ``encoding`` is
    blanked, as it no longer holds.
    """
    encoding = find_encoding(body, content_type)
    data = body[encoding.bom :]
    if encoding.name not in ("utf-8", "utf8", "us-ascii", "ascii"):
        try:
            data = data.decode(encoding.name, errors="replace").encode("utf-8", errors="replace")
        except (UnicodeError, LookupError, ValueError):
            data = data.decode("cp1252", errors="replace").encode("utf-8")
        data = data.removeprefix(codecs.BOM_UTF8)
    declared = _XML_DECLARATION.match(data)
    if declared and declared[2].lower() not in (b"utf-8", b"utf8"):
        data = data[: declared.start(1)] + data[declared.end(1) :]
    return data, encoding
