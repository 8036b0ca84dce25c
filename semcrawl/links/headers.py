"""Reads links from HTTP headers: ``Link:`` and ``Refresh:``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from semcrawl.links.model import Link
from semcrawl.links.texts import fold
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, dropped_index, resolve
from semcrawl.web.vocabulary import (
    HTML_MEDIA_TYPES,
    LINKSET_MEDIA_TYPES,
    RDF_MEDIA_TYPES,
    FoundBy,
)

#: characters of one header that are read
_MAX_HEADER = 20_000

_QUOTED = r'"((?:[^"\\]|\\.)*)"'
_PARAMETER = re.compile(rf";\s*([^\s=;,]+)\s*(?:=\s*(?:{_QUOTED}|([^\",;]*)))?")
#: one link; its parameters may be empty
_LINK = re.compile(rf"<([^<>]*)>((?:\s*;(?:\s*[^\s=;,]+(?:\s*=\s*(?:{_QUOTED}|[^\",;]*))?)?)*)")
_ESCAPED = re.compile(r"\\(.)")
#: a time, then the address: ``url=`` may be missing; an opening quotation mark ends it when closed
_REFRESH = re.compile(
    r" ?(?:[\d.]* ?[;,]? ?url ?= ?|[\d.]+(?: ?[;,] ?| ))(?:\"([^\"]*)|'([^']*)|(.*))", re.I
)
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
    for match in _LINK.finditer(header[:longest]):
        target = resolve(url, match[1], normalisation)
        if target is None:
            continue
        parameters: dict[str, str] = {}
        for name, quoted, bare in _PARAMETER.findall(match[2]):
            value = _ESCAPED.sub(r"\1", quoted) if quoted else bare
            parameters.setdefault(name.lower(), value.strip())
        yield Link(
            target,
            element="header",
            title=fold(parameters.get("title", "")),
            type=fold(parameters.get("type", "")).lower(),
            rel=fold(parameters.get("rel", "")).lower(),
            cues=_profiles(parameters.get("profile", "")),
            index=dropped_index(match[1]) if target[-1] == "/" else "",
            found_by=FoundBy.HEADER,
        )


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
