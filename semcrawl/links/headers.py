"""Reads links from HTTP headers: ``Link:`` and ``Refresh:``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_to_bytes

from semcrawl.links.model import Link, fold
from semcrawl.web.bodies import media_type
from semcrawl.web.charsets import charset_named, is_utf8
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, dropped_index, resolve
from semcrawl.web.vocabulary import (
    HTML_MEDIA_TYPES,
    LINKSET_MEDIA_TYPES,
    RDF_MEDIA_TYPES,
    FoundBy,
    RdfFormat,
)

#: characters of one header that are read
_MAX_HEADER = 20_000

#: the address of a link, and one of its parameters: a name, and a quoted value or a bare one
_TARGET = re.compile(r"<([^<>]*)>")
_PARAMETER = re.compile(r'([^\s=;,"<>]+)(?:\s*=\s*(?:"([^"\\]*(?:\\.[^"\\]*)*)"|([^,;<]*)))?', re.S)
#: a choice in an ``Alternates`` header: its address, a quality, and attributes, the type among them
_CHOICE = re.compile(r'\{\s*"([^"<>]+)"[^{}"]*(?:\{(?!type )[^{}]*\}\s*)*\{type ([^\s{}";]+)')
_BETWEEN = re.compile(r"[\s;]*")
_ESCAPED = re.compile(r"\\(.)", re.S)
#: a value in its own encoding (RFC 8187): ``title*=UTF-8'de'Gr%C3%B6%C3%9Fe``
_EXTENDED = re.compile(r"([\w.:-]+)'[\w-]*'(.*)\Z", re.S)
_ADDRESS = re.compile(r"<[^<>]*>")
_HIGH = re.compile(r"[\x80-\xff]")
#: a time, then the address: ``url=`` may be missing; an opening quotation mark ends it when closed
_REFRESH = re.compile(
    r" ?(?:[\d.]* ?[;,]? ?url ?= ?|[\d.]+(?: ?[;,] ?| ))(?:\"([^\"]*)|'([^']*)|(.*))", re.I
)
#: the relation of a JSON document to its JSON-LD context
_CONTEXT = "http://www.w3.org/ns/json-ld#context"
#: relations that lead to metadata of a resource
_METADATA = frozenset({"describedby", "meta"})
#: signposting relations: parts, the whole, the persistent address, a linkset
_LEADING = frozenset({"item", "collection", "cite-as", "linkset"})


def header_text(value: bytes) -> str:
    """Decode a header as UTF-8, as browsers do for addresses, else as Latin-1."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


def address_of(value: bytes) -> str:
    r"""Decode a header that is an address, or contains nothing else that is not ASCII.

    Bytes that are not UTF-8 are sent back as they came, percent-encoded.

    >>> address_of(b"/caf\\xe9"), address_of("/café".encode())
    ('/caf%E9', '/café')
    """
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return _HIGH.sub(lambda sign: f"%{ord(sign[0]):02X}", value.decode("latin-1"))


def link_header(value: bytes) -> str:
    """Decode a ``Link`` header as :func:`address_of` does its addresses, the rest as a text."""
    text = header_text(value)
    if is_utf8(value, whole=True):
        return text
    return _ADDRESS.sub(lambda address: address_of(address[0].encode("latin-1")), text)


def choices_header(value: str) -> str:
    """Return the choices of an ``Alternates`` header (RFC 2295) as a ``Link`` header.

    >>> choices_header('{"a.ttl" 1 {type text/turtle} {length 9}}, {"a.html" 0.5 {type text/html}}')
    '<a.ttl>; rel="alternate"; type="text/turtle", <a.html>; rel="alternate"; type="text/html"'
    """
    return ", ".join(
        f'<{reference}>; rel="alternate"; type="{media}"'
        for reference, media in _CHOICE.findall(value[:_MAX_HEADER])
    )


def header_links(
    header: str,
    url: str,
    normalisation: Normalisation = DEFAULT_NORMALISATION,
    *,
    longest: int = _MAX_HEADER,
) -> Iterator[Link]:
    """Yield the links of one HTTP ``Link:`` header (RFC 8288), without malformed ones.

    Only the first ``longest`` characters are read.
    """
    for reference, parameters in _link_values(header[:longest]):
        target = resolve(url, reference or url, normalisation)  # an empty one is the document
        if target is None:
            continue
        if parameters.get("rel", "").strip().lower() == _CONTEXT:
            continue  # no document, but a part of this one
        media = parameters.get("type", "")
        yield Link(
            target,
            element="header",
            title=fold(parameters.get("title", "")),
            type=media_type(media) or fold(media).lower(),
            rel=fold(parameters.get("rel", "")).lower(),
            cues=_profiles(parameters.get("profile", "")),
            index=dropped_index(reference) if target[-1] == "/" else "",
            found_by=FoundBy.HEADER,
        )


def context_links(headers: Iterable[str], url: str, content_type: str) -> tuple[str, ...]:
    """Return the JSON-LD contexts that ``Link`` headers name for JSON (JSON-LD 1.1, section 6.1).

    More than one is an error of the document. They mean nothing for JSON-LD, for other RDF, and
    for what is no JSON.
    """
    media = media_type(content_type)
    if media in RDF_MEDIA_TYPES or not (media == "application/json" or media.endswith("+json")):
        return ()
    return tuple(dict.fromkeys(_targets(headers, url, _CONTEXT)))


def json_ld_alternate(headers: Iterable[str], url: str) -> str | None:
    """Return the address of the JSON-LD that ``Link`` headers name as another form of a document.

    Loaders of contexts follow it from what is no JSON (JSON-LD 1.1 API, section 9.4).
    """
    media = RdfFormat.JSON_LD.media_types[0]
    return next(_targets(headers, url, "alternate", media), None)


def _targets(headers: Iterable[str], url: str, relation: str, media: str = "") -> Iterator[str]:
    for header in headers:
        for reference, parameters in _link_values(header[:_MAX_HEADER]):
            named = parameters.get("rel", "").lower().split()
            fits = not media or media_type(parameters.get("type", "")) == media
            if relation in named and fits and (target := resolve(url, reference)):
                yield target


def _link_values(header: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the reference and the parameters of each link (RFC 8288, appendix B.2).

    Of parameters with one name the first counts (section 3.3). What follows a parameter and begins
    none is passed over, and so is a comma that is missing between links.
    """
    at = 0
    while target := _TARGET.search(header, at):
        at = target.end()
        parameters: dict[str, str] = {}
        while between := _BETWEEN.match(header, at):
            at = between.end()
            found = _PARAMETER.match(header, at)
            if found is None:
                if header[at : at + 1] in ("", ",", "<"):
                    break
                at += 1
                continue
            at = found.end()
            name, quoted, bare = found[1].lower(), found[2], found[3]
            # a quotation mark without its partner
            value = (bare or "").strip('" \t') if quoted is None else _ESCAPED.sub(r"\1", quoted)
            if name.endswith("*"):  # says the same better than the plain one
                parameters[name[:-1]] = _extended(value)
            else:
                parameters.setdefault(name, value.strip())
        yield target[1], parameters


def _extended(value: str) -> str:
    """Decode a value that names its encoding (RFC 8187); one that does not stays."""
    found = _EXTENDED.match(value.strip())
    charset = charset_named(found[1]) if found else None
    return charset.decode(unquote_to_bytes(found[2])) if found and charset else value.strip()


def _profiles(text: str) -> str:
    """Return the profiles of a link's target (RFC 6906) as cues."""
    return " ".join(f"profile:{name}" for name in fold(text).split())


def _is_useful(link: Link, relations: frozenset[str]) -> bool:
    """Whether a link has one of these relations and no type that is useless to a crawl."""
    useful = RDF_MEDIA_TYPES | HTML_MEDIA_TYPES | LINKSET_MEDIA_TYPES
    return (not link.type or link.type in useful) and not relations.isdisjoint(link.rel.split())


def metadata_links(links: Iterable[Link], *, rdf: bool) -> list[Link]:
    """Return the header links that lead from a file, not a page, to RDF about it or onward.

    A table or an image may link to its description or to its RDF form. An RDF document (``rdf``)
    may link to its description; its other RDF forms repeat it and are left out.
    """
    return [
        link
        for link in links
        if (link.type in RDF_MEDIA_TYPES and not rdf)
        or (not _METADATA.isdisjoint(link.rel.split()) and link.type not in HTML_MEDIA_TYPES)
        or _is_useful(link, _LEADING | {"next"} if rdf else _LEADING)
    ]


def refresh_target(value: str) -> str | None:
    """Return the address in a ``Refresh`` header or its ``meta`` element; ``None`` if none."""
    match = _REFRESH.match(" ".join(value[:5000].split()))
    return (match[1] or match[2] or match[3] or None) if match else None
