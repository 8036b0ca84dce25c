"""Judging links that were not fetched yet: prior, twins, and what the models say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from itertools import accumulate
from typing import NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.model import Floats, Models
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.prior import BASE
from semcrawl.relevance.learned.table import FAILED, LinkTable

#: subsections whose jitter is remembered
_REMEMBERED = 20_000


class Judgement(NamedTuple):
    """The facts of some links before they are fetched: a column each."""

    #: logits, what speaks against twins taken off
    priors: Floats
    target_priors: Floats
    #: whether the page seems to be known under another address
    twins: NDArray[np.bool_]
    #: predicted targets per request
    indexes: Floats
    #: probability of being a target itself
    likely: Floats

    def each(self) -> Iterator[tuple[float, ...]]:
        """Numbers of every link, for :meth:`together`."""
        return zip(*(column.tolist() for column in self), strict=True)

    @classmethod
    def together(cls, links: Sequence[tuple[float, ...]]) -> Self | None:
        """The judgement of links by the numbers of each; ``None`` if they are not known of all."""
        if any(len(numbers) != len(cls._fields) for numbers in links):
            return None
        priors, target_priors, twins, indexes, likely = np.array(links, np.float32).T
        return cls(priors, target_priors, twins != 0, indexes, likely)


class Judge:
    """Judges by a model of links' indexes, and one of whether they are targets themselves."""

    def __init__(self, options: LearnedOptions, models: Models) -> None:
        self._options = options
        self._models = models
        self._jitters: dict[str, float] = {}

    def _priors(self, facts: Sequence[LinkFacts]) -> Floats:
        """Prior logits, and those of being a target: a row each.

        The former with a jitter, the same for all links of a subsection and a seed.
        """
        informed = self._options.use_prior
        prior = [
            (f.signs.prior if informed else BASE) + self._jitter_of(f.groups[2]) for f in facts
        ]
        return np.array((prior, [f.signs.target_prior for f in facts]), np.float32)

    def _jitter_of(self, place: str) -> float:
        """The amount added to the logits of all links of a subsection."""
        jitter = self._jitters.get(place)
        if jitter is None:
            if len(self._jitters) >= _REMEMBERED:
                self._jitters.clear()
            salt = self._options.seed & 0xFFFFFFFF
            noise = _normal(crc32(place[:2000].encode("utf-8", "replace"), salt))
            jitter = self._jitters[place] = self._options.jitter * noise
        return jitter

    def any_known(
        self, table: LinkTable, twins: Sequence[str], beside: Set[str] = frozenset()
    ) -> bool:
        """Whether a page seems to be known under one of these addresses.

        ``beside``: further addresses, known as of this moment.
        """
        ids = table.ids
        if not beside.isdisjoint(twins):
            return True
        if ids.keys().isdisjoint(twins):
            return False
        flags = table.columns["flags"]
        return any(not flags[ids[twin]] & FAILED for twin in twins if twin in ids)

    def of(self, table: LinkTable, urls: Sequence[str], facts: Sequence[LinkFacts]) -> Judgement:
        """Judge links found together, that need not be in the table."""
        if not facts:
            return Judgement(_NOTHING, _NOTHING, np.zeros(0, bool), _NOTHING, _NOTHING)
        found, beside = [], set[str]()
        for url, about in zip(urls, facts, strict=True):
            found.append(self.any_known(table, about.twins, beside))
            beside.add(url)
        twins, priors = np.array(found), self._priors(facts)
        priors[0] -= np.float32(self._options.twin_penalty) * twins
        starts = list(accumulate((len(f.rows) for f in facts[:-1]), initial=0))
        index, target = self._models.predict(
            np.concatenate([f.rows for f in facts]), np.array(starts), priors
        )
        return Judgement(priors[0], priors[1], twins, index, target)


_NOTHING: Floats = np.zeros(0, np.float32)
#: four uniform bytes with mean 127.5 and variance (256² - 1) / 12 each, scaled to variance 1
_BYTES_SCALE = 1 / (4 * 65535 / 12) ** 0.5


def _normal(noise: int) -> float:
    """A normally distributed number out of 32 uniform bits (sum of four uniform bytes)."""
    mixed = noise * 0x9E3779B97F4A7C15 >> 32 & 0xFFFFFFFF
    return (sum(mixed.to_bytes(4, "little")) - 510) * _BYTES_SCALE
