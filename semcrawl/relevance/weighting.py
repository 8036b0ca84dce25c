"""Strategies that weigh links by their texts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy, reading_state
from semcrawl.settings.reader import fill, setting
from semcrawl.topics import about

#: sim(t, topic) of a word, 0 to 1
Similarity = Callable[[str], float]

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
#: most words whose similarity is cached
_MAX_CACHED = 50_000


@dataclass(frozen=True, slots=True)
class WeightOptions:
    """Options of relevance weights."""

    #: c: similarities below it count as 0
    threshold: float = setting("SEMCRAWL_RW_THRESHOLD")
    #: drop links of weight 0 (hard focus) instead of putting them behind the others (soft focus)
    prune: bool = setting("SEMCRAWL_RW_PRUNE")


def metadata_terms(link: Link) -> list[str]:
    """Return M(url): the distinct terms of a link's extended metadata.

    **Reading**: the metadata are anchor text, ``title`` attribute, and the text before and after
    the link. The terms are their words and each whole text, as a topic may know phrases.
    """
    texts = [text.casefold() for text in (link.anchor, link.title, link.before, link.after) if text]
    words = [word for text in texts for word in _WORD.findall(text)]
    return list(dict.fromkeys((*words, *texts)))


class LinkWeights:
    """RW(url) = max over t in M(url) of sim(t, topic) if it is at least c, else 0.

    Without a topic that knows words, all links weigh 1.
    """

    def __init__(self, similarity: Similarity | None, options: WeightOptions) -> None:
        self.options = options
        self._similarity = None if similarity is None else lru_cache(_MAX_CACHED)(similarity)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read the topic and the settings of :class:`WeightOptions`; raise ``UsageError``."""
        topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
        known = topic.similarity if topic is not None and topic.knows_words else None
        return cls(known, fill(WeightOptions, settings))

    def nearest(self, link: Link) -> tuple[float, str]:
        """Return the largest similarity of a link's terms, and that term; (0, "") if none."""
        if self._similarity is None:
            return 1.0, ""
        best, nearest = 0.0, ""
        for word in metadata_terms(link):
            similarity = self._similarity(word)
            if similarity > best:
                best, nearest = similarity, word
        return best, nearest

    def of(self, link: Link) -> float:
        """Return RW of a link."""
        best, _ = self.nearest(link)
        return best if best >= self.options.threshold else 0.0

    def explain(self, link: Link) -> list[tuple[str, str]]:
        """Return (topic, text) rows with the reasons for RW of a link."""
        if self._similarity is None:
            return [("relevance weight", "1: the crawl has no topic that knows words")]
        best, word = self.nearest(link)
        if not best:
            return [("relevance weight", "0: no word of its texts belongs to the topic")]
        reason = f"“{word}” is {best:.2f} like the topic"
        if best < self.options.threshold:
            return [
                ("relevance weight", f"0: {reason}, below the threshold {self.options.threshold:g}")
            ]
        return [("relevance weight", f"{best:.2f}: {reason}")]


class LinkWeighing(Strategy):
    """A strategy that uses the weights of links; with pruning it drops links of weight 0."""

    weights: LinkWeights

    def is_dropped(self, link: Link) -> bool:
        """Whether filter 1 drops a link, or pruning does."""
        return super().is_dropped(link) or (
            self.weights.options.prune and not self.weights.of(link)
        )

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Return rows of reasons, those for RW among them."""
        return [*super().explain(page, link), *self.weights.explain(link)]


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


#: added to the key of links on unmatched pages, to put them behind those on matched pages
_UNMATCHED = 1e6


class KeywordFocused(Strategy):
    """First the links of matched pages, breadth-first, then those of other pages, breadth-first.

    K keeps three lists: to crawl, crawled, and matched (pages whose content matches the keywords).
    It does not state the order of the first. **Reading**: level by level, as its traditional
    crawler does, but links of matched pages come first. The matched pages are the targets of a
    crawl about ``keywords``.
    """

    name = "keyword-focused"
    #: links move forward when their page turns out to match
    rekeys = True

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self._moved: dict[str, float] = {}

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put seeds before links; links start as those of an unmatched page."""
        self.set_value(_SEEDS, 1.0)
        self.set_value(_LINKS, 0.0)
        return (_SEEDS, 0.0) if link.element == "seed" else (_LINKS, _UNMATCHED + page.depth + 1)

    def learn(self, outcome: Outcome) -> None:
        """Move the links of a matched page forward."""
        if outcome.target:
            key = float(outcome.depth + 1)
            self._moved.update((r.link.url, key) for r in outcome.new_links if r.group == _LINKS)

    def worth_telling(self, outcome: Outcome) -> bool:
        """Never: the worker that reads a page moves its links."""
        return False

    def rekeyed(self) -> Mapping[str, float]:
        """Return the new keys of the links of matched pages."""
        moved, self._moved = self._moved, {}
        return moved
