"""SB-CLASSIFIER, a crawler of sleeping bandits for the data files of a site.

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
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy
from semcrawl.settings.reader import Values, fill

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
