"""The score of a domain: a hypothesis that is corrected by what the domain gives (sources.md I)."""

from __future__ import annotations

from dataclasses import dataclass, field

#: fetches and texts of the whole crawl that count beside those of a domain: what was seen twice
#: says little
_WEIGHT_OF_CRAWL = 2.0


@dataclass(slots=True)
class Share:
    """How many of those seen matched."""

    matching: float = 0.0
    seen: int = 0

    def add(self, matching: float, seen: int = 1) -> None:
        """Take some more in."""
        self.matching += matching
        self.seen += seen

    def beside(self, crawl: Share) -> float:
        """The share, 0 to 1, with that of the crawl where little was seen yet."""
        usual = (crawl.matching + 1) / (crawl.seen + 2)
        return (self.matching + _WEIGHT_OF_CRAWL * usual) / (self.seen + _WEIGHT_OF_CRAWL)


@dataclass(slots=True)
class Counts:
    """Observations of a domain, or of all."""

    images: Share = field(default_factory=Share)
    texts: Share = field(default_factory=Share)
    #: pages fetched of those known
    pages: Share = field(default_factory=Share)


@dataclass(slots=True)
class Domain:
    """A domain, with the weights of its score (I's table DOMAINRANK)."""

    counts: Counts = field(default_factory=Counts)
    #: w0 … w3. **Reading**: before anything is learned the score is the mean of x1 and x2
    weights: list[float] = field(default_factory=lambda: [0.0, 0.5, 0.5, 0.0])
    #: outcomes learned from
    learned: int = 0

    def inputs(self, crawl: Counts) -> tuple[float, float, float, float]:
        """1, x1, x2 and x3: images and near texts matching of those seen, pages fetched of known.

        **Reading**: of a domain of which little was seen the crawl's own shares count.
        """
        counts = self.counts
        pages = counts.pages.matching / max(1, counts.pages.seen, counts.pages.matching)
        return (1.0, counts.images.beside(crawl.images), counts.texts.beside(crawl.texts), pages)

    def score(self, crawl: Counts) -> float:
        """w0 + w1·x1 + w2·x2 + w3·x3."""
        return sum(w * x for w, x in zip(self.weights, self.inputs(crawl), strict=True))

    def rate(self, first: float) -> float:
        """The domain's learning rate: ``first``, and less with each outcome (1/√n)."""
        return first / float((1 + self.learned) ** 0.5)

    def learn(self, crawl: Counts, gave: float, first_rate: float) -> None:
        """Take in what a fetch gave, 0 to 1: a step of linear regression (Widrow and Hoff 1960)."""
        inputs = self.inputs(crawl)
        error = gave - sum(w * x for w, x in zip(self.weights, inputs, strict=True))
        step = self.rate(first_rate) * error
        self.weights = [w + step * x for w, x in zip(self.weights, inputs, strict=True)]
        self.learned += 1
