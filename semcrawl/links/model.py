"""A link and its page, as strategies see them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from semcrawl.web.vocabulary import FEED_MEDIA_TYPES, RESOURCE_RELATIONS, FoundBy

#: properties whose values are further pages of a document
NEXT_PAGES = frozenset(
    {
        "http://www.w3.org/ns/hydra/core#next",
        "http://www.w3.org/ns/hydra/core#nextPage",
        "http://www.w3.org/1999/xhtml/vocab#next",
        "http://www.w3.org/ns/ldp#nextPage",
        "https://w3id.org/tree#node",
    }
)

#: relations that lead to lists of links
_LISTS = frozenset({"linkset", "resourcesync"})
#: element of a link to a folder that a page is in
FOLDER = "folder"
#: … to a document whose address is made from that of its page, as others on the host are
GUESS = "guess"
#: prefix of the cue with the relevance (0 to 1) of the texts near an image
NEAR_TEXT = "near-text:"
_FRACTION = re.compile(r"\d(?:\.\d{1,9})?")


class Reason(StrEnum):
    """Why a crawl leaves a link out."""

    OUT_OF_SCOPE = "out-of-scope"  #: off the sites of the crawl
    EXCLUDED = "excluded"  #: excluded by a pattern of the user
    TOO_DEEP = "too-deep"  #: beyond ``DEPTH_LIMIT``
    DYNAMIC_DEPTH = "dynamic-depth"  #: behind ``SEMCRAWL_DYNAMIC_DEPTH`` documents without RDF
    HARD_FOCUS = "hard-focus"  #: of a document that is not about the topic
    NOFOLLOW = "nofollow"  #: its page or the link itself asks robots not to follow it
    SITEMAPS_ONLY = "sitemaps-only"  #: of a page, where only sitemaps are followed
    OTHER_PROPERTY = "other-property"  #: in RDF, no value of the properties to follow
    LINKS_PER_PAGE = "links-per-page"  #: after the most links of a page or document
    CATALOGUE_PAGES = "catalogue-pages"  #: after the most pages of a catalogue
    PRUNED = "pruned"  #: dropped by the strategy
    OTHER_TYPE = "other-type"  #: an image, a style sheet …, by its address and element


@dataclass(slots=True, unsafe_hash=True)
class Link:  # not frozen, as making one would take four times as long; nothing changes it
    """A link found on a page, in an HTTP header or in an RDF document.

    ``url`` is absolute and normalised. All texts are plain, bounded, and have their white space
    folded.
    """

    url: str
    #: its source: ``a area link iframe frame object embed meta`` (HTML), ``header`` (HTTP
    #: ``Link:``), ``rdf`` (an IRI of an RDF document), ``embedded`` (data in a page),
    #: ``sitemap``, ``redirect``, ``seed``, ``folder`` (a folder that a page is in)
    element: str = "a"
    anchor: str = ""
    title: str = ""
    type: str = ""
    rel: str = ""
    #: text before and after the link in its nearest block, without the anchor
    before: str = ""
    after: str = ""
    #: tags from the root to the element, ids and classes included: ``html/body/div#nav.menu/a``
    tag_path: str = ""
    #: index among the links of its page, from 0
    position: int = 0
    #: the property whose value it is (``element`` ``rdf`` or ``embedded``)
    predicate: str = ""
    #: directory index that normalisation dropped (``index.html``), if any
    index: str = ""
    #: further statements of its source, separated by spaces: ``profile:…``, ``priority:0.8``
    cues: str = ""
    #: the kind of link that led to it
    found_by: FoundBy = FoundBy.LINK
    #: the last two headings above it (a ``dt`` and a ``caption`` count), if its text is no more
    #: than an address
    heading: str = ""

    @property
    def is_sitemap(self) -> bool:
        """Whether a sitemap names it as another sitemap."""
        return self.element == "sitemap" and self.rel == "sitemap"

    @property
    def leads_on(self) -> bool:
        """Whether it leads to a list of links, such as a linkset, whatever its extension."""
        if self.is_sitemap or (self.element == "catalogue" and self._is_part):
            return True
        if self.type.startswith("application/linkset") or self.type in FEED_MEDIA_TYPES:
            return True
        return not _LISTS.isdisjoint(self.rel.split())

    @property
    def _is_part(self) -> bool:
        """Whether it is a part of a catalogue rather than an entry that the catalogue lists."""
        return self.is_next or self.tag_path.endswith(("/sign", "/formats", "/records", "/dataset"))

    @property
    def is_next(self) -> bool:
        """Whether it leads to the next page of a list."""
        return "next" in self.rel.split() or self.predicate in NEXT_PAGES

    @property
    def near_text(self) -> float | None:
        """The topic's relevance of the texts near an image, 0 to 1; ``None`` if not judged.

        The largest value counts where a page shows the image several times.
        """
        if NEAR_TEXT not in self.cues:
            return None
        found = (cue.removeprefix(NEAR_TEXT) for cue in self.cues.split() if NEAR_TEXT in cue)
        return max(
            (min(1.0, float(text)) for text in found if _FRACTION.fullmatch(text)), default=None
        )

    @property
    def context(self) -> str:
        """The surrounding text: ``before`` and ``after``."""
        return f"{self.before} {self.after}".strip()


@dataclass(frozen=True, slots=True)
class Page:
    """The document whose links are judged."""

    #: final URL, normalised
    url: str
    #: number of links from a seed
    depth: int = 0
    #: whether it is RDF: T.6 judges its links by extension only
    rdf: bool = False
    #: its relevance to the crawl's topic, 0 to 1; ``None`` without a topic
    relevance: float | None = None


#: most characters of a link's text
MAX_TEXT = 200


def fold(text: str) -> str:
    """Fold white space and keep the beginning."""
    return " ".join(text[: 2 * MAX_TEXT].split())[:MAX_TEXT] if text else ""


def fold_end(text: str) -> str:
    """Fold white space and keep the end."""
    return " ".join(text[-2 * MAX_TEXT :].split())[-MAX_TEXT:] if text else ""


#: most occurrences of one URL whose texts are merged
_MAX_MERGED = 4


def merge_links(links: Sequence[Link], limit: int) -> list[Link]:
    """Merge links of the same URL; return the first ``limit``, numbered by position."""
    merged: dict[str, list[Link]] = {}
    for link in links:
        same = merged.get(link.url)
        if same is None:
            if len(merged) < limit:
                merged[link.url] = [link]
        elif len(same) < _MAX_MERGED:
            same.append(link)
    return [_merge(same, position) for position, same in enumerate(merged.values())]


def cut_off(found: Iterable[Link], kept: Sequence[Link], limit: int) -> list[Link]:
    """Return the found links that :func:`merge_links` did not keep, each URL once."""
    if len(kept) < limit:
        return []
    urls = {link.url for link in kept}
    return list({link.url: link for link in found if link.url not in urls}.values())


def _merge(same: list[Link], position: int) -> Link:
    """Merge the occurrences of one URL."""
    if len(same) > 1:
        # a URL that is both prefetched and linked to counts as a page
        same = [link for link in same if not _is_resource(link)] or same
    first = same[0]
    if len(same) == 1:
        return first if first.position == position else replace(first, position=position)
    with_text = next((link for link in same if link.anchor), first)
    return replace(
        first,
        anchor=_join_distinct(link.anchor for link in same),
        title=_join_distinct(link.title for link in same),
        type=_join_distinct(link.type for link in same),
        rel=_join_distinct(link.rel for link in same),
        before=with_text.before,
        after=with_text.after,
        position=position,
        predicate=next((link.predicate for link in same if link.predicate), ""),
        index=next((link.index for link in same if link.index), ""),
        cues=_join_distinct(link.cues for link in same),
        found_by=_found_by(same),
        heading=next((link.heading for link in same if link.heading), ""),
    )


def _found_by(same: list[Link]) -> FoundBy:
    """Return how a URL was found: an element of the page wins over any other way."""
    ways = [link.found_by for link in same]
    return FoundBy.LINK if FoundBy.LINK in ways else ways[0]


def _is_resource(link: Link) -> bool:
    """Whether an occurrence names a resource of the page: a style, an icon, a preload."""
    return link.element == "link" and not RESOURCE_RELATIONS.isdisjoint(link.rel.split())


def _join_distinct(texts: Iterable[str]) -> str:
    """Join the distinct texts."""
    return " ".join(dict.fromkeys(text for text in texts if text))[:MAX_TEXT]
