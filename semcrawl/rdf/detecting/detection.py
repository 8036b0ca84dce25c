"""The true type of a body: RDF of which syntax, HTML, or neither.

The content speaks first, the header and the URL's extension only decide between syntaxes that the
content leaves open, or stand in when it says nothing:

1. compression and archive marks, then the text's encoding;
2. a shape that only one kind has: an XML root element, an HTML tag, a JSON object with JSON-LD
   keywords, a directive or a statement of the Turtle family (confidence 0.8 to 1);
3. the header's media type, then the extension, for text that has no such shape (0.3 to 0.5), and
   for what may be a page: markup that does not say that it is XML, text with a number first.

A label alone never makes RDF of HTML, of XML without an RDF root, or of JSON without keywords.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from semcrawl.rdf.detecting import sniffing
from semcrawl.rdf.detecting.encoding import to_utf8
from semcrawl.rdf.detecting.escaped import unescaped
from semcrawl.rdf.packed.compression import Compression, compression_of
from semcrawl.web.vocabulary import (
    ARCHIVE_EXTENSIONS,
    HTML_EXTENSIONS,
    HTML_MEDIA_TYPES,
    Kind,
    RdfFormat,
)

#: bytes of the text that are looked at
HEAD = 16_384

_BY_TYPE = {media: syntax for syntax in RdfFormat for media in syntax.media_types}
_BY_EXTENSION = {ext: syntax for syntax in RdfFormat for ext in syntax.extensions}
_PROFILE_JSON = re.compile(r"application/[\w.+-]*ld\+json\Z")
_TURTLE_FAMILY = frozenset(
    {RdfFormat.TURTLE, RdfFormat.N3, RdfFormat.TRIG, RdfFormat.N_TRIPLES, RdfFormat.N_QUADS}
)


@dataclass(frozen=True, slots=True)
class Detection:
    """The type of a body, and the reason.

    ``confidence`` is between 0 and 1. With ``compression`` set, the rest says what the name and
    the header promise of the content, as the content itself has not been looked at.
    """

    kind: Kind
    format: RdfFormat | None = None
    confidence: float = 0.0
    evidence: str = ""
    compression: Compression | None = None


def format_of_type(content_type: str | None) -> RdfFormat | None:
    """Return the RDF syntax that a Content-Type header names, if any."""
    media = _media_type(content_type)
    if media in _BY_TYPE:
        return _BY_TYPE[media]
    return RdfFormat.JSON_LD if _PROFILE_JSON.match(media) else None


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


def _labelled_html(content_type: str | None, extension: str) -> bool:
    """Whether the header says HTML, or the extension where there is no header."""
    media = _media_type(content_type)
    return media in HTML_MEDIA_TYPES or (not media and extension in HTML_EXTENSIONS)


def extension_of(url: str) -> str:
    """Return the extension of the URL's last path segment that is no archive's, lower case."""
    try:
        path = urlsplit(url).path
    except ValueError:
        return ""
    name = unquote(posixpath.basename(path)).lower()
    while "." in name:
        name, _, extension = name.rpartition(".")
        if extension not in ARCHIVE_EXTENSIONS:
            return extension
    return ""


def _has_extension(url: str, extension: str) -> bool:
    return url.partition("?")[0].lower().endswith(extension)


def _is_text_all_the_same(
    text: bytes,
    head: bytes,
    found: sniffing.Finding | None,
    content_type: str | None,
    claim: RdfFormat | None,
) -> bool:
    """Whether a text of some control characters is what its shape, or shape and labels, say.

    A few of them are many in a short page, and bytes of value zero come from broken programs.
    """
    if found is None or 2 * len(text) < len(head[:HEAD]):
        return False
    if found.kind is Kind.HTML:
        return found.confidence > 0.7 or _media_type(content_type) in HTML_MEDIA_TYPES
    return found.kind is Kind.RDF and claim is not None


def detect(head: bytes, content_type: str | None, url: str) -> Detection:
    """Say what the body that begins with ``head`` is; some kilobytes suffice.

    ``content_type`` is the header as received; ``url`` the final URL. Never raises.
    """
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
    text, encoding = to_utf8(head[: HEAD * (4 if b"\0" in head[:8] else 1)], content_type)
    if not text.strip():
        if claim:
            return Detection(Kind.RDF, claim, 0.3, f"{source}, empty body")
        return Detection(Kind.OTHER, None, 0.3, "empty body")
    binary = sniffing.is_binary(text)
    if binary:
        text = sniffing.without_control(text)
    found = sniffing.sniff(text, head, claim)
    if binary and not _is_text_all_the_same(text, head, found, content_type, claim):
        return Detection(Kind.OTHER, None, 0.95, "binary")
    if found is not None and found.evidence == sniffing.NO_ROOT and len(head) > HEAD:
        # a long comment or document type comes first
        text, encoding = to_utf8(head[: HEAD * 64], content_type)
        found = sniffing.sniff(text, head, claim)
    if (found is None or found.kind is Kind.RDF) and (plain := unescaped(text)) is not None:
        again = sniffing.sniff(plain, plain, claim)
        if again is not None and again.format in _TURTLE_FAMILY:
            found = replace(again, evidence=f"{again.evidence}, escaped as HTML")
    if found is not None and found.loose and _labelled_html(content_type, extension):
        # browsers take it for a page, whatever it begins with
        return Detection(Kind.HTML, None, 0.5, "label HTML, nothing that says otherwise")
    if found is not None:
        evidence = found.evidence
        if encoding.name != "utf-8":
            evidence = f"{evidence} ({encoding.name}: {encoding.evidence})"
        return Detection(found.kind, found.format, found.confidence, evidence)
    if by_type in _TURTLE_FAMILY:
        return Detection(Kind.RDF, by_type, 0.4, "header, no statement in sight")
    media = _media_type(content_type)
    if media in HTML_MEDIA_TYPES:
        return Detection(Kind.HTML, None, 0.4, "header")
    if by_extension in _TURTLE_FAMILY:
        return Detection(Kind.RDF, by_extension, 0.3, "extension, no statement in sight")
    if not media and extension in HTML_EXTENSIONS:
        return Detection(Kind.HTML, None, 0.3, "extension")
    return Detection(Kind.OTHER, None, 0.6, "no sign of RDF or HTML")
