"""A link and its page, as strategies see them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from semcrawl.web.vocabulary import FEED_MEDIA_TYPES, FoundBy

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


@dataclass(frozen=True, slots=True)
class Link:
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
