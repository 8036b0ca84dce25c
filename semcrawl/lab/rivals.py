"""Crawlers of others, rebuilt from their papers.

Anthelion, a focused crawler for pages with structured data.
R. Meusel, P. Mika, R. Blanco: Focused Crawling for Structured Data. CIKM 2014,
doi:10.1145/2661829.2661902; authors' code: github.com/yahoo/anthelion. An online classifier scores
each link when it is found; a bandit chooses the host that the next link is taken from.

Taken over: the tokens of the URL (lower case, three signs or more, numbers folded, hashed), whether
the page of the link and any of its siblings had data, naive Bayes, the score p(data) − p(none), the
hosts' value (good + 1) / (bad + 1) times the score of their best link, and λ, the share of hosts
chosen at random, with decay. **Adapted**: a good URL is a target of the crawl; each outcome is
learned at once, not in batches; the classifier begins without the authors' labelled pages.

SB-CLASSIFIER, a crawler of sleeping bandits for the data files of a site.
A. Gauquier, I. Manolescu, P. Senellart: Efficient Crawling for Scalable Web Data Acquisition.
arXiv:2602.11874. Links are grouped into *actions* by the path of tags that leads to them in their
page; a bandit learns which actions lead to pages with many links to targets; an online classifier
tells from a URL alone whether it is a target, which then is fetched at once.

Taken over: 2-grams of the tags of a path as a vector, which joins the nearest action if their
cosine is at least θ = 0.75; the score R̄(a) + α √(log t / N(a)) with α = 2√2 over actions that have
links; a random link of the chosen action; the number of new links to targets as the reward;
logistic regression over 2-grams of signs, trained in batches of ten. **Adapted**: the first batches
are labelled by fetches instead of HEAD requests; a target that an action's own link led to counts
as one of its finds; what is neither page nor target is dropped by extension, as in all strategies
here.

Crawlers of others as strategies, rebuilt from their papers, to compare with.

``semcrawl evaluate --strategies sb-classifier,anthelion`` runs them. They are made for the
simulator: they keep no state over restarts, and share none among workers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any, Self
from urllib.parse import urlsplit
from zlib import crc32

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy
from semcrawl.settings.reader import Values, fill
from semcrawl.web.hosts import netloc_of

__all__ = ["RIVALS", "Anthelion", "SbClassifier"]


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


#: least cosine of a path with its action; weight of exploration; URLs in a batch; rate of learning
THETA, ALPHA, BATCH, _RATE = 0.75, 2 * math.sqrt(2), 10, 0.5
#: passes over a batch
_PASSES = 5
_TARGETS, _SEEDS = "targets", "seeds"
#: visits that an action without any counts as
_FEW = 1e-3


@dataclass(slots=True)
class _Action:
    """A group of links with similar paths."""

    centre: Counter[str]
    paths: int = 1
    visits: int = 0
    reward: float = 0.0


@dataclass
class UrlClassifier:
    """Logistic regression over the 2-grams of a URL's signs."""

    weights: dict[str, float] = field(default_factory=dict)
    bias: float = 0.0
    trained: bool = False
    _batch: list[tuple[str, bool]] = field(default_factory=list)

    def probability(self, url: str) -> float:
        """Return the probability that a URL is a target."""
        pairs = _pairs(url)
        total = self.bias + sum(self.weights.get(pair, 0.0) for pair in pairs) / len(pairs)
        return 1 / (1 + math.exp(-max(-50.0, min(50.0, total))))

    def learn(self, url: str, target: bool) -> None:
        """Add an example; a full batch is learned."""
        self._batch.append((url, target))
        if len(self._batch) < BATCH:
            return
        for _ in range(_PASSES):
            for each, is_target in self._batch:
                step = _RATE * (is_target - self.probability(each))
                self.bias += step
                for pair in _pairs(each):
                    self.weights[pair] = self.weights.get(pair, 0.0) + step
        self._batch.clear()
        self.trained = True


class SbClassifier(Strategy):
    """A group per action, and one of the URLs that are taken for targets."""

    name = "sb-classifier"

    def __init__(self, options: RuleOptions | None = None, seed: int = 0) -> None:
        super().__init__(options)
        self._random = Random(f"sb-classifier {seed}")
        self._classifier = UrlClassifier()
        self._actions: list[_Action] = []
        #: path → its action
        self._of_path: dict[str, int] = {}
        self._time = 1

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read ``SEMCRAWL_RANDOM_SEED`` beside the settings of the base class."""
        return cls(fill(RuleOptions, settings), Values(settings)["SEMCRAWL_RANDOM_SEED"])

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put targets to the front, and other links to their action, in random order."""
        if link.element == "seed":
            return _SEEDS, 0.0
        if self._classifier.trained and self._classifier.probability(link.url) > 0.5:
            return _TARGETS, 0.0
        return f"action {self._action(link.tag_path or link.element)}", self._random.random()

    def learn(self, outcome: Outcome) -> None:
        """Train the classifier, and reward the action that was chosen."""
        target = outcome.target and not outcome.duplicate
        if outcome.kind is not None:
            self._classifier.learn(outcome.url, target)
        if not outcome.group.startswith("action "):
            return
        self._time += 1
        action = self._actions[int(outcome.group.removeprefix("action "))]
        reward = target + sum(link.group == _TARGETS for link in outcome.new_links)
        action.visits += 1
        action.reward += (reward - action.reward) / action.visits

    def values(self) -> Mapping[str, float]:
        """Return the scores of all actions, of which the frontier takes the best that has links."""
        spread = math.log(self._time + 1)
        scores = {
            f"action {number}": action.reward + ALPHA * math.sqrt(spread / (action.visits or _FEW))
            for number, action in enumerate(self._actions)
        }
        return {_SEEDS: 1e12, _TARGETS: 1e9, **scores}

    def _action(self, path: str) -> int:
        """Return the action of a path, which is new if no other is near."""
        known = self._of_path.get(path)
        if known is not None:
            return known
        tags = ["<", *path.split("/"), ">"]
        vector = Counter(" ".join(pair) for pair in pairwise(tags))
        best, nearest = 0.0, -1
        for number, action in enumerate(self._actions):
            likeness = _cosine(vector, action.centre)
            if likeness > best:
                best, nearest = likeness, number
        if best >= THETA:
            self._actions[nearest].centre += vector
            self._actions[nearest].paths += 1
        else:
            nearest = len(self._actions)
            self._actions.append(_Action(vector))
        self._of_path[path] = nearest
        return nearest


def _cosine(one: Counter[str], two: Counter[str]) -> float:
    dot = sum(count * two[key] for key, count in one.items())
    norm = sum(n * n for n in one.values()) * sum(n * n for n in two.values())
    return dot / math.sqrt(norm)


def _pairs(url: str) -> list[str]:
    return [url[n : n + 2] for n in range(len(url) - 1)] or [url]


#: name → import path, for ``evaluate``
RIVALS = {
    "sb-classifier": "semcrawl.lab.rivals.SbClassifier",
    "anthelion": "semcrawl.lab.rivals.Anthelion",
}
