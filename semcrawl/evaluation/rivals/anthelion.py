"""Anthelion, a focused crawler for pages with structured data.

R. Meusel, P. Mika, R. Blanco: Focused Crawling for Structured Data. CIKM 2014,
doi:10.1145/2661829.2661902; authors' code: github.com/yahoo/anthelion. An online classifier scores
each link when it is found; a bandit chooses the host that the next link is taken from.

Taken over: the tokens of the URL (lower case, three signs or more, numbers folded, hashed), whether
the page of the link and any of its siblings had data, naive Bayes, the score p(data) − p(none), the
hosts' value (good + 1) / (bad + 1) times the score of their best link, and λ, the share of hosts
chosen at random, with decay. **Adapted**: a good URL is a target of the crawl; each outcome is
learned at once, not in batches; the classifier begins without the authors' labelled pages.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Self
from urllib.parse import urlsplit
from zlib import crc32

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy
from semcrawl.settings.reader import Values, fill
from semcrawl.web.hosts import netloc_of

#: size of the hash table of tokens; share of random choices, and pulls after which it halves
_HASHES, _LAMBDA, _DECAY = 20_000, 0.2, 1000
_SPLIT = re.compile(r"[^a-z0-9]+")


class Anthelion(Strategy):
    """A group per host; inside it the links by the classifier's score when they were found."""

    name = "anthelion"

    def __init__(self, options: RuleOptions | None = None, seed: int = 0) -> None:
        super().__init__(options)
        self._random = Random(f"anthelion {seed}")
        #: class (target or not) → documents, and documents with a feature
        self._documents = [0, 0]
        self._features: list[Counter[str]] = [Counter(), Counter()]
        #: waiting URL → its features
        self._of_url: dict[str, frozenset[str]] = {}
        self._good: set[str] = set()
        self._bad: set[str] = set()
        #: page → features of all of its links
        self._graph: dict[str, tuple[str, ...]] = {}
        #: host → good and bad URLs; scores of its waiting links
        self._hosts: dict[str, list[int]] = {}
        self._waiting: dict[str, dict[str, float]] = {}
        self._pulled = 0

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read ``SEMCRAWL_RANDOM_SEED`` beside the settings of the base class."""
        return cls(fill(RuleOptions, settings), Values(settings)["SEMCRAWL_RANDOM_SEED"])

    def cited(self, page: Page, links: Sequence[Link]) -> None:
        """Note whether the page or a sibling of its links had data."""
        urls = {link.url for link in links}
        marks = (
            "good page" * (page.url in self._good),
            "bad page" * (page.url in self._bad),
            "good sibling" * bool(urls & self._good),
            "bad sibling" * bool(urls & self._bad),
        )
        self._graph[page.url] = tuple(filter(None, marks))

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put the link to its host, by its score."""
        host = netloc_of(link.url)
        if link.url in self._of_url:
            return host, -self._waiting.get(host, {}).get(link.url, 0.0)
        features = frozenset((*tokens(link.url), *self._graph.get(page.url, ())))
        self._of_url[link.url] = features
        score = self.score(features)
        self._waiting.setdefault(host, {})[link.url] = score
        self._hosts.setdefault(host, [0, 0])
        return host, -score

    def score(self, features: frozenset[str]) -> float:
        """Return p(target) − p(no target) by naive Bayes; 0 before anything is known."""
        total = sum(self._documents)
        if not total:
            return 0.0
        logs = [
            math.log((count + 1) / (total + 2))
            + sum(math.log((seen[feature] + 1) / (count + 2)) for feature in features)
            for count, seen in zip(self._documents, self._features, strict=True)
        ]
        good = 1 / (1 + math.exp(min(700.0, logs[0] - logs[1])))
        return 2 * good - 1

    def taken(self, urls: Sequence[str]) -> None:
        """Forget that these links wait."""
        for url in urls:
            self._waiting.get(netloc_of(url), {}).pop(url, None)

    def learn(self, outcome: Outcome) -> None:
        """Train the classifier, and count for the host."""
        good = outcome.target and not outcome.duplicate
        features = self._of_url.pop(outcome.url, frozenset(tokens(outcome.url)))
        self._documents[good] += 1
        self._features[good].update(features)
        (self._good if good else self._bad).add(outcome.final_url or outcome.url)
        self._hosts.setdefault(netloc_of(outcome.url), [0, 0])[not good] += 1

    def values(self) -> Mapping[str, float]:
        """Return the value of every host; at random one of them is above all."""
        self._pulled += 1
        values = {
            host: max(0.0, 1 + max(self._waiting.get(host, {}).values(), default=-1.0))
            * (good + 1)
            / (bad + 1)
            for host, (good, bad) in self._hosts.items()
        }
        awake = [host for host in values if self._waiting.get(host)]
        if awake and self._random.random() < _LAMBDA / (self._pulled // _DECAY + 1):
            values[self._random.choice(awake)] = 1e6
        return values


def tokens(url: str) -> set[str]:
    """Return the hashed tokens of a URL's path and query."""
    parts = urlsplit(url)
    words = _SPLIT.split(f"{parts.path} {parts.query}".lower())
    folded = ("#" if word.isdigit() else word for word in words if len(word) > 2)
    return {f"token {crc32(word.encode()) % _HASHES}" for word in folded}
