"""The online model: predicts the worth of links from that of fetched ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import accumulate
from typing import Any, NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.parts import twin_addresses
from semcrawl.relevance.learned.prior import BASE
from semcrawl.relevance.learned.table import FAILED, Floats, Ids, LinkTable, Rows

#: number of values up to which sorting all is faster than partitioning
_FEW = 64
#: most subsections whose jitter is cached
_REMEMBERED = 5_000
_NOTHING: Floats = np.zeros(0, np.float32)
#: four uniform bytes with mean 127.5 and variance (256² - 1) / 12 each, scaled to variance 1
_BYTES_SCALE = 1 / (4 * 65535 / 12) ** 0.5


class IndexModel:
    """Predicts q = σ(prior + Σ weights of a link's rows) and learns from soft targets.

    Sums and functions are computed in double precision and then rounded. NumPy's order of additions
    depends on the processor, and the last digits decide between links of equal worth; rounding
    makes a crawl the same on every processor.

    ``weights`` has one element per row, all 0 at first, and is changed in place.
    """

    def __init__(self, options: LearnedOptions, weights: Floats) -> None:
        self._rate = options.learning_rate
        self._initial = options.initial_squares
        self.weights = weights
        self.squares: Floats = np.full(len(weights), options.initial_squares, np.float32)

    def logits(self, rows: Rows, starts: Ids, priors: Floats) -> Floats:
        """Return the logits of links with concatenated ``rows``; ``starts`` has their beginnings.

        Every link has at least one row.
        """
        if not len(rows):  # no links
            return np.zeros(len(starts), np.float32)
        sums = np.add.reduceat(self.weights.take(rows), starts, dtype=np.float64)
        logits: Floats = sums.astype(np.float32)
        logits += priors
        return logits

    def update(self, rows: Rows, prior: float, observed: float, weight: float) -> None:
        """Make one AdaGrad step of logistic loss towards ``observed`` (0 to 1)."""
        if not len(rows):
            return
        at = rows.astype(np.intp)
        weights, squares = self.weights.take(at), self.squares.take(at)
        gradient = (
            sigmoid(prior + float(np.add.reduce(weights, dtype=np.float64))) - observed
        ) * weight
        squares += np.float32(gradient * gradient)
        self.squares[at] = squares
        step = self._rate * gradient * math.sqrt(4 / len(at))
        weights -= np.float32(step) / np.sqrt(squares)
        self.weights[at] = weights

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the rows that were ever updated, for :meth:`restore`."""
        rows = np.flatnonzero(self.squares != np.float32(self._initial))
        return {"rows": rows, "weights": self.weights[rows], "squares": self.squares[rows]}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore the result of :meth:`state`."""
        self.weights[state["rows"]] = state["weights"]
        self.squares[state["rows"]] = state["squares"]


class Models:
    """The two models of a crawl over the same rows, as they are mostly used together."""

    def __init__(self, options: LearnedOptions) -> None:
        self._weights: Floats = np.zeros((2, 1 << options.table_bits), np.float32)
        #: predicts targets per request
        self.index = IndexModel(options, self._weights[0])
        #: predicts whether a link is a target itself; only used for labels
        self.kinds = IndexModel(options, self._weights[1])

    def predict(self, rows: Rows, starts: Ids, priors: Floats) -> Floats:
        """Return both models' predictions, in the shape of ``priors``: (2, links).

        ``rows`` and ``starts`` as in :meth:`IndexModel.logits`.
        """
        taken = self._weights.take(rows, axis=1)
        sums = np.add.reduceat(taken, starts, axis=1, dtype=np.float64)
        return sigmoids(sums.astype(np.float32) + priors)


def sigmoid(logit: float) -> float:
    """1 / (1 + e^-logit), without overflow."""
    if logit >= 0:
        return 1 / (1 + math.exp(-min(logit, 700.0)))
    power = math.exp(max(logit, -700.0))
    return power / (1 + power)


def sigmoids(logits: Floats) -> Floats:
    """Return :func:`sigmoid` of each element."""
    result = np.tanh(logits.astype(np.float64) * 0.5)  # never overflows
    result += 1
    result *= 0.5
    return result.astype(np.float32)


def page_index(values: NDArray[np.floating], horizon: float = math.inf, own: float = 0.0) -> float:
    """Return the targets per request that a page with new links of these values promises.

    It is max over k of (own + Σ v·t) / (1 + Σ t) for the k best links. The page itself costs one
    request and is ``own`` of a target (0 to 1). A link of value v costs t requests in all: 1 for a
    nearly sure target, up to 3 for a page that leads to some, 1 for a hopeless link. Beyond the
    first link, Σ t is at most ``horizon``.
    """
    most = len(values) if math.isinf(horizon) else max(1, int(horizon))
    if len(values) > max(most, _FEW):
        values = np.partition(values, len(values) - most)[len(values) - most :]
    best = targets = own
    requests = 0.0
    for value in sorted(values.tolist(), reverse=True)[:most]:
        share = min(1 / value, 3.0) if 0.05 < value <= 0.75 else 1.0
        if requests and requests + share > horizon:
            break
        targets += value * share
        requests += share
        best = max(best, targets / (1 + requests))
    return best


class Judgement(NamedTuple):
    """The judgement of links before they are fetched, in columns."""

    #: logits, with the penalty of twins
    priors: Floats
    target_priors: Floats
    #: whether the page seems to be known under another address
    twins: NDArray[np.bool_]
    #: predicted targets per request
    indexes: Floats
    #: probability of being a target itself
    likely: Floats

    def each(self) -> Iterator[tuple[float, ...]]:
        """Return the numbers of each link, for :meth:`together`."""
        return zip(*(column.tolist() for column in self), strict=True)

    @classmethod
    def together(cls, links: Sequence[tuple[float, ...]]) -> Self | None:
        """Make a judgement of each link's numbers; return ``None`` if some links have none."""
        if any(len(numbers) != len(cls._fields) for numbers in links):
            return None
        priors, target_priors, twins, indexes, likely = np.array(links, np.float32).T
        return cls(priors, target_priors, twins != 0, indexes, likely)


class Judge:
    """Judges links by the models of their index and of their kind."""

    def __init__(self, options: LearnedOptions, models: Models) -> None:
        self._options = options
        self._models = models
        self._jitters: dict[str, float] = {}

    def _priors(self, facts: Sequence[LinkFacts]) -> Floats:
        """Return the priors of the index and of being a target (logits), a row each.

        The former have a jitter that depends on the subsection and the random seed.
        """
        informed = self._options.use_prior
        prior = [
            (f.signs.prior if informed else BASE) + self._jitter_of(f.groups[2]) for f in facts
        ]
        return np.array((prior, [f.signs.target_prior for f in facts]), np.float32)

    def _jitter_of(self, place: str) -> float:
        """Return the jitter of a subsection, in logits."""
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

        ``beside`` has further known addresses.
        """
        ids = table.ids
        if not beside.isdisjoint(twins):
            return True
        if ids.keys().isdisjoint(twins):
            return False
        flags = table.columns["flags"]
        return any(not flags[ids[twin]] & FAILED for twin in twins if twin in ids)

    def of(self, table: LinkTable, urls: Sequence[str], facts: Sequence[LinkFacts]) -> Judgement:
        """Judge links of one page, which need not be in the table."""
        if not facts:
            return Judgement(_NOTHING, _NOTHING, np.zeros(0, bool), _NOTHING, _NOTHING)
        found, beside = [0] * len(urls), set[str]()
        stems = [about.stem for about in facts]
        alone = len({*stems}) == len(stems)
        # false for most pages: no link has a twin
        if not (alone and table.stems.isdisjoint(stems)):
            for place, url in enumerate(urls):
                if alone and stems[place] not in table.stems:
                    continue
                twins = twin_addresses(url)
                # two schemes of an address are more surely the same than other spellings
                found[place] = self.any_known(table, twins, beside)
                found[place] += self.any_known(table, twins[-1:], beside)
                beside.add(url)
        known_twins, priors = np.array(found), self._priors(facts)
        priors[0] -= np.float32(self._options.twin_penalty) * known_twins
        starts = list(accumulate((len(f.rows) for f in facts[:-1]), initial=0))
        index, target = self._models.predict(
            np.concatenate([f.rows for f in facts]), np.array(starts), priors
        )
        return Judgement(priors[0], priors[1], known_twins > 0, index, target)


def _normal(noise: int) -> float:
    """Return a roughly normal number made of 32 uniform bits (the sum of four uniform bytes)."""
    mixed = noise * 0x9E3779B97F4A7C15 >> 32 & 0xFFFFFFFF
    return (sum(mixed.to_bytes(4, "little")) - 510) * _BYTES_SCALE
