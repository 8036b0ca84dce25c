"""A link, and the page around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from semcrawl.web.vocabulary import FoundBy

#: properties whose values are the next, or further, pages of a document
NEXT_PAGES = frozenset(
    {
        "http://www.w3.org/ns/hydra/core#next",
        "http://www.w3.org/ns/hydra/core#nextPage",
        "http://www.w3.org/1999/xhtml/vocab#next",
        "http://www.w3.org/ns/ldp#nextPage",
        "https://w3id.org/tree#node",
    }
)

#: begins the cue that says what the topic makes of the texts near an image (0 to 1)
NEAR_TEXT = "near-text:"
_SHARE = re.compile(r"\d(?:\.\d{1,9})?")


@dataclass(frozen=True, slots=True)
class Link:
    """One link as found on a page, in an HTTP header or in an RDF document.

    ``url`` is absolute and normalised. All texts are plain, white space folded, and bounded.
    """

    url: str
    #: where it was found: ``a area link iframe frame meta`` (HTML), ``header`` (HTTP ``Link:``),
    #: ``rdf`` (an IRI of an RDF document), ``embedded`` (data in a page),
    #: ``sitemap``, ``redirect``, ``seed``
    element: str = "a"
    anchor: str = ""
    title: str = ""
    type: str = ""
    rel: str = ""
    #: text of the nearest block before and after the link, without the anchor
    before: str = ""
    after: str = ""
    #: tags from the root to the element, ids and classes included: ``html/body/div#nav.menu/a``
    tag_path: str = ""
    #: rank of the link among the links of its page, from 0
    position: int = 0
    #: the property whose value the IRI is (``element`` ``rdf`` or ``embedded``)
    predicate: str = ""
    #: directory index that normalising dropped of the address (``index.html``), if any
    index: str = ""
    #: what else its source says of it, in words without spaces: ``profile:…``, ``priority:0.8``
    cues: str = ""
    #: what led to it
    found_by: FoundBy = FoundBy.LINK

    @property
    def is_sitemap(self) -> bool:
        """Whether a sitemap names it as another sitemap."""
        return self.element == "sitemap" and self.rel == "sitemap"

    @property
    def leads_on(self) -> bool:
        """Whether it leads to a list of links, whatever its extension: a linkset, say."""
        if self.is_sitemap or (self.element == "catalogue" and self._is_part):
            return True
        return self.type.startswith("application/linkset") or "linkset" in self.rel.split()

    @property
    def _is_part(self) -> bool:
        """Whether a catalogue names it as a part of itself, and not as what it lists."""
        return self.is_next or self.tag_path.endswith(("/sign", "/formats", "/records", "/dataset"))

    @property
    def is_next(self) -> bool:
        """Whether it leads to the next page of a list."""
        return "next" in self.rel.split() or self.predicate in NEXT_PAGES

    @property
    def near_text(self) -> float | None:
        """The relevance of the texts near an image to the topic, 0 to 1; ``None`` if not asked.

        The largest of them where a page has it in several places.
        """
        if NEAR_TEXT not in self.cues:
            return None
        found = (cue.removeprefix(NEAR_TEXT) for cue in self.cues.split() if NEAR_TEXT in cue)
        return max(
            (min(1.0, float(text)) for text in found if _SHARE.fullmatch(text)), default=None
        )

    @property
    def context(self) -> str:
        """The surrounding text: ``before`` and ``after`` together."""
        return f"{self.before} {self.after}".strip()


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched document whose links are to be ranked."""

    #: final URL, normalised
    url: str
    #: links from the seed (0) to here
    depth: int = 0
    #: whether the links come out of RDF (T.6 judges them by extension only)
    rdf: bool = False
    #: what the crawl's topic makes of the page, 0 to 1; ``None`` without a topic
    relevance: float | None = None
