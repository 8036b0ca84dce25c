"""Relevance weighting: links with the words most similar to the topic first (sources.md S)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.linkweights import LinkWeighing, LinkWeights, WeightOptions
from semcrawl.relevance.strategy import RuleOptions, reading_state
from semcrawl.settings.reader import fill

#: most waiting links whose weight is remembered; the oldest are forgotten
_REMEMBERED = 200_000
_SEEDS, _LINKS = "seeds", "links"


class RelevanceWeighting(LinkWeighing):
    """First the link with the largest RW, equal ones first in, first out; seeds come before links.

    RW(url) = max over t in M(url) of sim(t, topic) if that is ≥ c, else 0 (S). **Reading**: M(url)
    grows with every page that links to the URL. S prunes links below the threshold. Here they wait
    behind the others unless ``SEMCRAWL_RW_PRUNE`` is on.
    """

    name = "relevance-weighting"
    #: a link that is found again with better words moves up
    rekeys = True

    def __init__(
        self, options: RuleOptions | None = None, weights: LinkWeights | None = None
    ) -> None:
        super().__init__(options)
        self.weights = weights or LinkWeights(None, WeightOptions())
        self._waiting: dict[str, float] = {}
        self._moved: dict[str, float] = {}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the settings of :class:`RuleOptions` and :class:`WeightOptions`, and the topic."""
        return cls(fill(RuleOptions, settings), LinkWeights.from_settings(settings))

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put seeds before links, which are ordered by weight, the largest first."""
        self.set_value(_SEEDS, 1.0)
        self.set_value(_LINKS, 0.0)
        if link.element == "seed":
            return _SEEDS, 0.0
        return _LINKS, -max(self.weights.of(link), self._waiting.get(link.url, 0.0))

    def cited(self, page: Page, links: Sequence[Link]) -> None:
        """Raise the weight of waiting links that have better words here."""
        for link in links:
            before = self._waiting.get(link.url)
            if before is not None and (weight := self.weights.of(link)) > before:
                self._waiting[link.url] = self._moved[link.url] = weight

    def learn(self, outcome: Outcome) -> None:
        """Remember the weights of new waiting links."""
        self.taken([outcome.url, outcome.final_url])
        for ranked in outcome.new_links:
            self._waiting[ranked.link.url] = -ranked.key
        if len(self._waiting) > _REMEMBERED:
            for url in list(islice(self._waiting, _REMEMBERED // 10)):
                del self._waiting[url]

    def worth_telling(self, outcome: Outcome) -> bool:
        """Never: the worker that finds a link weighs it."""
        return False

    def taken(self, urls: Sequence[str]) -> None:
        """Forget links that no longer wait."""
        for url in urls:
            self._waiting.pop(url, None)
            self._moved.pop(url, None)

    def rekeyed(self) -> Mapping[str, float]:
        """Return the negated weights of links found again with better words."""
        moved, self._moved = self._moved, {}
        return {url: -weight for url, weight in moved.items()}

    def dump_state(self) -> bytes:
        """Return the weights of the waiting links."""
        return self._as_json(waiting=self._waiting)

    def load_state(self, state: bytes) -> None:
        """Restore the weights."""
        with reading_state(self.name):
            kept = self._of_json(state)["waiting"]
            waiting = {str(url): float(weight) for url, weight in kept.items()}
            if not all(map(math.isfinite, waiting.values())):
                raise ValueError("not a weight")
        self._waiting = waiting
