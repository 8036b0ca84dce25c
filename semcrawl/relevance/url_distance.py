"""FC-R+HR2: Relevancy_R, and the URL distance of Hati 2010 for parents of RDF (sources.md T.7)."""

from __future__ import annotations

from urllib.parse import urlsplit

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy, reading_state
from semcrawl.relevance.thesis import address_of
from semcrawl.web.urls import segments

#: greatest distance of similar URLs
SIMILAR = 1
_OTHER_HOST = 32

#: values of the labels, as in FC-R+HR
_R, _HR, _H = -1.0, -2.0, -3.0


def url_distance(first: str, second: str) -> int:
    """dURL(i,j) = (dHost+1)·(dPath+1)·(dQuery+1) − 1 (T.7, Hati 2010).

    dHost = 0 if the hosts are equal, else 32; dQuery = 0 if the queries are equal, else 1;
    dPath = 2k + 4(n−m) for paths of n ≥ m segments that differ in k of the first m.

    >>> url_distance("http://a.example/x?y=1", "http://a.example/x?y=2")
    1
    """
    one, two = urlsplit(first), urlsplit(second)
    longer, shorter = segments(one.path), segments(two.path)
    if len(longer) < len(shorter):
        longer, shorter = shorter, longer
    host = 0 if one.netloc == two.netloc else _OTHER_HOST
    differing = sum(1 for a, b in zip(longer, shorter, strict=False) if a != b)
    path = 2 * differing + 4 * (len(longer) - len(shorter))
    query = 0 if one.query == two.query else 1
    return (host + 1) * (path + 1) * (query + 1) - 1


class UrlDistance(Strategy):
    """FC-R+HR2: like FC-R+HR, but a page is similar to a known parent when dURL ≤ 1.

    A distance of at most 1 implies the same host and path, so known parents are looked up by these.
    """

    name = "url-distance"

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        #: (host, path segments) → a parent's URL
        self._parents: dict[tuple[str, tuple[str, ...]], str] = {}

    def label(self, page: Page, link: Link) -> tuple[Label, tuple[str, ...]]:
        """Label by Relevancy_R, and H links by their distance to known parents."""
        label, rules = super().label(page, link)
        if label is Label.H and not page.rdf:
            parent = self._parents.get(address_of(link.url))
            if parent is not None and url_distance(link.url, parent) <= SIMILAR:
                return Label.HR, ("url",)
        return label, rules

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by label."""
        group = label if label in (Label.R, Label.HR) else Label.H
        self.set_value(group, {Label.R: _R, Label.HR: _HR}.get(group, _H))
        return group, 0.0

    def learn(self, outcome: Outcome) -> None:
        """Add the parent of a document that turned out to be RDF."""
        if outcome.wanted and outcome.parent is not None:
            self._parents.setdefault(address_of(outcome.parent), outcome.parent)

    def dump_state(self) -> bytes:
        """Return the known parents."""
        return self._as_json(parents=list(self._parents.values()))

    def load_state(self, state: bytes) -> None:
        """Restore the known parents."""
        with reading_state(self.name):
            parents = self._of_json(state)["parents"]
            places = {address_of(url): url for url in map(str, parents)}
        self._parents.update(places)
