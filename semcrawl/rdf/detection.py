"""Detects the type of a body: its compression, its encoding, and whether it is RDF or HTML.

The content decides. The header and the URL's extension only choose between syntaxes that the
content leaves open, or decide where it gives no evidence:

1. magic bytes of compressions and archives, then the text's encoding;
2. a shape that only one kind has: an XML root element, an HTML tag, a JSON object with JSON-LD
   keywords, a directive or a statement of the Turtle family (confidence 0.8 to 1);
3. the header's media type, then the extension, for text without such a shape (0.3 to 0.5), and
   for possible pages: markup that is not declared XML, text that begins with a number.

A label alone never makes RDF of HTML, of XML without an RDF root, or of JSON without keywords.

Most RDF syntaxes are UTF-8 by definition, but documents on the web often are not;
:mod:`semcrawl.web.charsets` finds their encoding.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from urllib.parse import unquote

from semcrawl.rdf import sniffing
from semcrawl.rdf.syntaxes.escaped import unescaped
from semcrawl.web.bodies import media_type
from semcrawl.web.charsets import Form, find_encoding, to_utf8
from semcrawl.web.urls import path_of
from semcrawl.web.vocabulary import (
    ARCHIVE_EXTENSIONS,
    HTML_EXTENSIONS,
    HTML_MEDIA_TYPES,
    VAGUE_MEDIA_TYPES,
    Kind,
    RdfFormat,
    UnreadFormat,
)

#: bytes of the text that detection examines
HEAD = 16_384

_BY_TYPE = {media: syntax for syntax in RdfFormat for media in syntax.media_types}
_BY_EXTENSION = {ext: syntax for syntax in RdfFormat for ext in syntax.extensions}
_UNREAD_BY_TYPE = {media: form for form in UnreadFormat for media in form.media_types}
_UNREAD_BY_EXTENSION = {extension: form for form in UnreadFormat for extension in form.extensions}
_UNREAD_MARKS = {form: re.compile(form.mark) for form in UnreadFormat if form.mark}
#: white space and comments before the first token
_MISC = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|[#!][^\n]*\n)*")
_JSON_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]")
_PROFILE_JSON = re.compile(r"application/[\w.+-]*ld\+json\Z")
_TURTLE_FAMILY = frozenset(
    {RdfFormat.TURTLE, RdfFormat.N3, RdfFormat.TRIG, RdfFormat.N_TRIPLES, RdfFormat.N_QUADS}
)


@dataclass(frozen=True, slots=True)
class Detection:
    """The type of a body, and the evidence for it.

    ``confidence`` is between 0 and 1. If ``compression`` is set, the other fields come from the URL
    and the header alone: the content is still packed.
    """

    kind: Kind
    format: RdfFormat | None = None
    confidence: float = 0.0
    evidence: str = ""
    compression: Compression | None = None
    #: the known format that it is and that is not read; only of kind OTHER
    unread: UnreadFormat | None = None


def format_of_type(content_type: str | None) -> RdfFormat | None:
    """Return the RDF syntax that a Content-Type header names, if any."""
    media = media_type(content_type)
    if media in _BY_TYPE:
        return _BY_TYPE[media]
    return RdfFormat.JSON_LD if _PROFILE_JSON.match(media) else None


def _labelled_html(content_type: str | None, extension: str) -> bool:
    """Whether the header says HTML, or the extension where there is no header."""
    media = media_type(content_type)
    return media in HTML_MEDIA_TYPES or (not media and extension in HTML_EXTENSIONS)


def extension_of(url: str) -> str:
    """Return the last extension of the URL's path that names no archive, in lower case."""
    name = unquote(path_of(url).rpartition("/")[2]).lower()
    while "." in name:
        name, _, extension = name.rpartition(".")
        if extension not in ARCHIVE_EXTENSIONS:
            return extension
    return ""


def _has_extension(url: str, extension: str) -> bool:
    return url.partition("?")[0].lower().endswith(extension)


def _is_text_despite_controls(
    text: bytes,
    head: bytes,
    found: sniffing.Finding | None,
    content_type: str | None,
    claim: RdfFormat | None,
) -> bool:
    """Whether text with control characters is still of the type that its shape and labels name.

    In a short page a few of them are a large share. Broken programs write zero bytes.
    """
    if found is None or 2 * len(text) < len(head[:HEAD]):
        return False
    if found.kind is Kind.HTML:
        return found.confidence > 0.7 or media_type(content_type) in HTML_MEDIA_TYPES
    return found.kind is Kind.RDF and claim is not None


def detect(
    head: bytes, content_type: str | None, url: str, *, link_contexts: Sequence[str] = ()
) -> Detection:
    """Detect the type of the body that begins with ``head``. A few kilobytes suffice.

    ``content_type`` is the header as received, ``url`` the final URL. ``link_contexts`` are JSON-LD
    contexts that ``Link`` headers name; they make JSON-LD of JSON. Never raises.
    """
    found = _detect(head, content_type, url)
    if link_contexts and found.kind is Kind.OTHER and _JSON_START.match(head):
        return Detection(Kind.RDF, RdfFormat.JSON_LD, 0.9, "JSON with a context in a header")
    if found.kind is Kind.HTML or found.compression is not None:
        return found
    # the marks are no beginning of any syntax that is read: Turtle declares its prefixes first
    unread = _marked(head)
    if unread is None and found.kind is Kind.OTHER:
        unread = unread_format(b"", content_type, url)
    if unread is None:
        return found
    return Detection(Kind.OTHER, None, 0.9, f"{unread.value} is not read", unread=unread)


def _marked(head: bytes) -> UnreadFormat | None:
    misc = _MISC.match(head, 0, HEAD)
    start = misc.end() if misc else 0
    return next((form for form, mark in _UNREAD_MARKS.items() if mark.match(head, start)), None)


def unread_format(head: bytes, content_type: str | None, url: str) -> UnreadFormat | None:
    """Return the known format that is not read and that marks, header or extension name."""
    if marked := _marked(head):
        return marked
    media = media_type(content_type)
    if by_type := _UNREAD_BY_TYPE.get(media):
        return by_type
    is_vague = not media or media in VAGUE_MEDIA_TYPES
    return _UNREAD_BY_EXTENSION.get(extension_of(url)) if is_vague else None


def _detect(head: bytes, content_type: str | None, url: str) -> Detection:
    by_type, extension = format_of_type(content_type), extension_of(url)
    by_extension = _BY_EXTENSION.get(extension)
    claim = by_type or by_extension
    source = "header" if by_type else "extension"
    packed = compression_of(head)
    if packed is None and _has_extension(url, ".br") and sniffing.is_binary(head[:HEAD]):
        packed = Compression.BROTLI
    if packed is not None:
        kind = Kind.RDF if claim else Kind.OTHER
        return Detection(kind, claim, 0.5 if claim else 0.3, f"{packed.value} mark", packed)
    begin = head[: HEAD * (4 if b"\0" in head[:8] else 1)]
    text = to_utf8(begin, content_type, whole=False).data
    if not text.strip():
        if claim:
            return Detection(Kind.RDF, claim, 0.3, f"{source}, empty body")
        return Detection(Kind.OTHER, None, 0.3, "empty body")
    binary = sniffing.is_binary(text)
    if binary:
        text = sniffing.without_control(text)
    found = sniffing.sniff(text, head, claim)
    if binary and not _is_text_despite_controls(text, head, found, content_type, claim):
        return Detection(Kind.OTHER, None, 0.95, "binary")
    if found is not None and found.evidence == sniffing.NO_ROOT and len(head) > HEAD:
        # a long comment or document type precedes the root
        text = to_utf8(head[: HEAD * 64], content_type, whole=False).data
        found = sniffing.sniff(text, head, claim)
    if (found is None or found.kind is Kind.RDF) and b"&lt;" in text:
        plain = unescaped(text)
        again = sniffing.sniff(plain, plain, claim) if plain is not None else None
        if again is not None and again.format in _TURTLE_FAMILY:
            found = replace(again, evidence=f"{again.evidence}, escaped as HTML")
    if found is not None and found.weak and _labelled_html(content_type, extension):
        # browsers render it as a page, whatever it begins with
        return Detection(Kind.HTML, None, 0.5, "label HTML, nothing that says otherwise")
    if found is not None:
        evidence = found.evidence
        form = Form.PAGE if found.kind is Kind.HTML else Form.TEXT
        encoding = find_encoding(begin, content_type, form)
        if not encoding.is_utf8:
            evidence = f"{evidence} ({encoding.name}: {encoding.evidence})"
        return Detection(found.kind, found.format, found.confidence, evidence)
    if by_type in _TURTLE_FAMILY:
        return Detection(Kind.RDF, by_type, 0.4, "header, no statement in sight")
    media = media_type(content_type)
    if media in HTML_MEDIA_TYPES:
        return Detection(Kind.HTML, None, 0.4, "header")
    if by_extension in _TURTLE_FAMILY:
        return Detection(Kind.RDF, by_extension, 0.3, "extension, no statement in sight")
    if not media and extension in HTML_EXTENSIONS:
        return Detection(Kind.HTML, None, 0.3, "extension")
    return Detection(Kind.OTHER, None, 0.6, "no sign of RDF or HTML")


class Compression(StrEnum):
    """A compression or archive format."""

    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"
    ZSTANDARD = "zstd"
    ZIP = "zip"
    TAR = "tar"
    BROTLI = "brotli"  #: has no magic bytes; recognised by its extension only


_MARKS: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b", Compression.GZIP),
    (b"BZh", Compression.BZIP2),
    (b"\xfd7zXZ\x00", Compression.XZ),
    (b"\x28\xb5\x2f\xfd", Compression.ZSTANDARD),
    (b"PK\x03\x04", Compression.ZIP),
    (b"PK\x05\x06", Compression.ZIP),
)


#: compressions by content coding
_CODINGS = {
    "gzip": Compression.GZIP,
    "x-gzip": Compression.GZIP,
    "zstd": Compression.ZSTANDARD,
    "br": Compression.BROTLI,
}


def coding_of(content_encoding: str) -> Compression | None:
    """Return the compression of a ``Content-Encoding``; ``None`` for several or an unknown one."""
    return _CODINGS.get(content_encoding.strip().lower())


def compression_of(head: bytes) -> Compression | None:
    """Return the compression whose magic bytes ``head`` has. Tar needs 262 bytes."""
    for mark, compression in _MARKS:
        if head.startswith(mark):
            if compression is Compression.BZIP2 and not head[3:4].isdigit():
                return None
            return compression
    if head[257:262] == b"ustar":
        return Compression.TAR
    return None
