"""Links out of HTTP ``Link:`` headers."""

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
#: (parameters may be empty)
_LINK = re.compile(rf"<([^<>]*)>((?:\s*;(?:\s*[^\s=;,]+(?:\s*=\s*(?:{_QUOTED}|[^\",;]*))?)?)*)")
_ESCAPED = re.compile(r"\\(.)")
#: time, then the address: its name may be left out, and quotation marks end it that begin it
_REFRESH = re.compile(
    r" ?(?:[\d.]* ?[;,]? ?url ?= ?|[\d.]+(?: ?[;,] ?| ))(?:\"([^\"]*)|'([^']*)|(.*))", re.I
)
#: relations to data about a resource that is no page
_METADATA = frozenset({"describedby", "meta"})
#: relations by which any document leads to others (signposting): parts, the whole, the persistent
#: address, and a document of links
_LEADING = frozenset({"item", "collection", "cite-as", "linkset"})


def header_text(value: bytes) -> str:
    """Return the text of a header: UTF-8, as browsers read addresses in them, else Latin-1."""
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
    """Yield the links of one HTTP ``Link:`` header (RFC 8288); malformed ones are skipped.

    Its first ``longest`` characters are read.
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
    """Return the profiles that a link says its target conforms to (RFC 6906), as cues."""
    return " ".join(f"profile:{name}" for name in fold(text).split())


def _leads(link: Link, relations: frozenset[str]) -> bool:
    """Whether a link of one of these relations leads to something that may be of use."""
    useful = RDF_MEDIA_TYPES | HTML_MEDIA_TYPES | LINKSET_MEDIA_TYPES
    return (not link.type or link.type in useful) and not relations.isdisjoint(link.rel.split())


def metadata_links(links: Iterable[Link], *, rdf: bool) -> list[Link]:
    """Return those header links that lead from a file, not a page, to RDF about it, or further.

    A table or an image may have its description, or itself as RDF, at another address; of an RDF
    document (``rdf``) the description counts alone, as other forms of it say the same again.
    """
    return [
        link
        for link in links
        if (link.type in RDF_MEDIA_TYPES and not rdf)
        or (not _METADATA.isdisjoint(link.rel.split()) and link.type not in HTML_MEDIA_TYPES)
        or _leads(link, _LEADING | {"next"} if rdf else _LEADING)
    ]


def refresh_target(value: str) -> str | None:
    """Return the address that a ``Refresh`` header, or the ``meta`` element for it, leads to."""
    match = _REFRESH.match(" ".join(value[:5000].split()))
    return (match[1] or match[2] or match[3] or None) if match else None
