"""Relevancy_R: the rules that predict a link to RDF (sources.md T.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache

from semcrawl.links import Link
from semcrawl.relevance.contract import Label
from semcrawl.web.bodies import media_type
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import (
    AMBIGUOUS_MEDIA_TYPES,
    ARCHIVE_EXTENSIONS,
    HTML_EXTENSIONS,
    HTML_MEDIA_TYPES,
    NON_SEMANTIC_EXTENSIONS,
    PLAIN_EXTENSIONS,
    RDF_CONCEPT_WORDS,
    RDF_EXTENSIONS,
    RDF_MEDIA_TYPES,
    RESOURCE_RELATIONS,
    WordSearch,
)

#: names of the rules, in the order of T.2
R_RULES = ("ex1", "ty1", "ti1", "an1", "co1", "ty2", "ti2", "an2", "co2", "pa1")

#: elements of links that data about documents name
_DESCRIBED = frozenset({"catalogue", "embedded", "linkset", "rdf"})
#: types of RDF, of pages, and those that may hide RDF
_MAY_BE_WANTED = RDF_MEDIA_TYPES | HTML_MEDIA_TYPES | AMBIGUOUS_MEDIA_TYPES
_MEDIA_TYPE = re.compile(
    "|".join(re.escape(name) for name in sorted(RDF_MEDIA_TYPES, key=len, reverse=True))
)
_WORD = re.compile(r"[a-z0-9]+")
#: one of them is in every link that a rule holds for
_NAMES = WordSearch(
    *(name.encode() for name in sorted(RDF_CONCEPT_WORDS | RDF_MEDIA_TYPES)),
    *(f".{name}".encode() for name in sorted(RDF_EXTENSIONS)),
)


def relevancy_r(link: Link) -> tuple[Label, tuple[str, ...]]:
    """Label a link R, H or N by the evidence on it, and return the rules that hold.

    Any rule gives R; otherwise an HTML extension or none gives H; otherwise N (T.2). **Reading**:
    a media type in a text counts for the content-type rules and not again as a word. The file
    extension counts for ``ex1`` and not for ``pa1``.
    """
    path = path_of(link.url)
    extension = extension_of(path)
    held = list(_path_rules(path, extension))
    if link.type:
        types, words = _evidence(link.type.lower())
        if types:
            held.append("ty1")
        if words or types:
            held.append("ty2")
    for text, name in ((link.title, "ti"), (link.anchor, "an"), (link.context, "co")):
        if text:
            types, words = _evidence(text.lower())
            if types:
                held.append(name + "1")
            if words:
                held.append(name + "2")
    if held:
        return Label.R, tuple(rule for rule in R_RULES if rule in held)
    if not extension or extension in HTML_EXTENSIONS or link.leads_on:
        return Label.H, ()
    return Label.N, ()


def may_be_r(links: Iterable[Link]) -> bool:
    """Whether :func:`relevancy_r` may label some link R; a fast answer for many links.

    It is false only if no extension, type or text of theirs has a name of RDF.
    """
    texts = [f"{x.url}\n{x.type}\n{x.title}\n{x.anchor}\n{x.before} {x.after}" for x in links]
    return bool(_NAMES.found_in("\n".join(texts).lower().encode(errors="replace")))


def relevancy_inside_rdf(link: Link) -> Label:
    """Label a link found in an RDF document by its extension only (T.6, framework 2)."""
    extension = extension_of(path_of(link.url))
    if not extension or extension in RDF_EXTENSIONS:
        return Label.R
    return Label.H if extension in HTML_EXTENSIONS else Label.N


def is_of_other_format(link: Link) -> bool:
    """Whether a catalogue, or other data about a document, names a format that is no RDF or page.

    Its extension may say otherwise: of two statements the hopeful one counts. So may an unusual
    type whose name has a word of RDF.
    """
    media = link.type
    if link.element not in _DESCRIBED or "/" not in media or media in _MAY_BE_WANTED:
        return False
    extension = extension_of(path_of(link.url))
    if extension in RDF_EXTENSIONS or extension in HTML_EXTENSIONS or link.leads_on:
        return False
    return not any(_evidence(media))


def is_non_semantic(link: Link) -> bool:
    """Whether a link leads to an image, style, script, archive or the like (T.5).

    Its extension tells, or the ``rel`` of a ``<link>`` element, or the format that data about it
    name.
    """
    if link.is_sitemap:  # usually compressed
        return False
    if is_of_other_format(link):
        return True
    extension = extension_of(path_of(link.url))
    if extension in NON_SEMANTIC_EXTENSIONS or extension in ARCHIVE_EXTENSIONS:
        return True
    return link.element == "link" and not RESOURCE_RELATIONS.isdisjoint(link.rel.split())


def is_plain(url: str) -> bool:
    """Whether a URL has an extension of plain text or tables, which T.5 counts as non-semantic."""
    return extension_of(path_of(url)) in PLAIN_EXTENSIONS


@lru_cache(maxsize=4096)
def _path_rules(path: str, extension: str) -> tuple[str, ...]:
    """Return those of ex1 and pa1 that hold."""
    held = []
    if extension in RDF_EXTENSIONS:
        held.append("ex1")
    lowered = path.lower()
    if extension:
        lowered = lowered[: lowered.rfind("." + extension)]
    if not RDF_CONCEPT_WORDS.isdisjoint(_WORD.findall(lowered)):
        held.append("pa1")
    return tuple(held)


@lru_cache(maxsize=4096)
def _evidence(text: str) -> tuple[bool, bool]:
    """Return whether a text contains an RDF media type, and whether it contains a concept word."""
    # the search for media types is slow, and all of them have a slash
    rest, types = _MEDIA_TYPE.subn(" ", text) if "/" in text else (text, 0)
    return types > 0, not RDF_CONCEPT_WORDS.isdisjoint(_WORD.findall(rest))


def body_wanted(
    content_type: str, label: Label, also: Collection[str] = AMBIGUOUS_MEDIA_TYPES
) -> bool:
    """Whether to download a body: its type is RDF or HTML, or its link was labelled R.

    A body without a type is downloaded. ``also`` names media types that may hide RDF; it is empty
    in the thesis.
    """
    media = media_type(content_type)
    if not media or label is Label.R:
        return True
    return media in HTML_MEDIA_TYPES or media in RDF_MEDIA_TYPES or media in also
