"""RW, the relevance weight of a link: the relevance of its words to the topic (sources.md S)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.strategy import Strategy
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
