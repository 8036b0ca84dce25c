"""The score of a domain: a hypothesis that every fetch corrects (sources.md I)."""

from __future__ import annotations

from dataclasses import dataclass, field

#: number of observations for which the crawl's share counts beside a domain's own
_WEIGHT_OF_CRAWL = 2.0


@dataclass(slots=True)
class Share:
    """A share of matches among observations."""

    matching: float = 0.0
    seen: int = 0

    def add(self, matching: float, seen: int = 1) -> None:
        """Add observations."""
        self.matching += matching
        self.seen += seen

    def smoothed(self, crawl: Share) -> float:
        """Return the share, 0 to 1, smoothed towards the crawl's while observations are few."""
        usual = (crawl.matching + 1) / (crawl.seen + 2)
        return (self.matching + _WEIGHT_OF_CRAWL * usual) / (self.seen + _WEIGHT_OF_CRAWL)


@dataclass(slots=True)
class Counts:
    """Observations of a domain, or of the whole crawl."""

    images: Share = field(default_factory=Share)
    texts: Share = field(default_factory=Share)
    #: fetched pages among the known ones
    pages: Share = field(default_factory=Share)


@dataclass(slots=True)
class Domain:
    """A domain, with the weights of its score (I's table DOMAINRANK)."""

    counts: Counts = field(default_factory=Counts)
    #: w0 … w3. **Reading**: before anything is learned the score is the mean of x1 and x2
    weights: list[float] = field(default_factory=lambda: [0.0, 0.5, 0.5, 0.0])
    #: number of outcomes learned
    learned: int = 0

    def inputs(self, crawl: Counts) -> tuple[float, float, float, float]:
        """Return 1, x1, x2 and x3: the shares of matching images and texts, and of fetched pages.

        **Reading**: x1 and x2 of a domain with few observations lean towards the crawl's shares.
        """
        counts = self.counts
        pages = counts.pages.matching / max(1, counts.pages.seen, counts.pages.matching)
        return (
            1.0,
            counts.images.smoothed(crawl.images),
            counts.texts.smoothed(crawl.texts),
            pages,
        )

    def score(self, crawl: Counts) -> float:
        """Return w0 + w1·x1 + w2·x2 + w3·x3."""
        return sum(w * x for w, x in zip(self.weights, self.inputs(crawl), strict=True))

    def rate(self, first: float) -> float:
        """Return the domain's learning rate, which falls from ``first`` with 1/√n."""
        return first / float((1 + self.learned) ** 0.5)

    def learn(self, crawl: Counts, gain: float, first_rate: float) -> None:
        """Learn the gain of a fetch, 0 to 1, by a step of linear regression (Widrow, Hoff 1960)."""
        inputs = self.inputs(crawl)
        error = gain - sum(w * x for w, x in zip(self.weights, inputs, strict=True))
        step = self.rate(first_rate) * error
        self.weights = [w + step * x for w, x in zip(self.weights, inputs, strict=True)]
        self.learned += 1
