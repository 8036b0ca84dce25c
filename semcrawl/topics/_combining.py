"""Combines topics: all of them, any of them, or their weighted mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Self

from semcrawl.errors import UsageError
from semcrawl.topics.contract import (
    MAX_REASONS,
    Closing,
    Document,
    Judgement,
    Topic,
)
from semcrawl.topics.options import TopicOptions


class _Combination(ABC):
    """Combines the judgements of its parts."""

    name: str

    def __init__(self, parts: Iterable[tuple[Topic, float]]) -> None:
        """Combine topics; only the mean uses their weights."""
        self.parts = tuple(parts)
        self.needs = frozenset(need for part, _ in self.parts for need in part.needs)
        self._with_words = [each for each in self.parts if each[0].knows_words]
        self.knows_words = bool(self._with_words)

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Raise ``UsageError``: :func:`~semcrawl.topics.about` makes combinations."""
        raise UsageError(f"write {cls.name}(…) around the topics")

    @property
    def takes_long(self) -> bool:
        """Whether one of the parts takes long."""
        return any(part.takes_long for part, _ in self.parts)

    def judge(self, document: Document) -> Judgement:
        """Combine the judgements; each part gets an equal share of the rows of reasons."""
        judged = [(part, part.judge(document)) for part, _ in self.parts]
        weights = [weight for _, weight in self.parts]
        number = self._combined([said.relevance for _, said in judged], weights)
        worth = decides = None
        if any(said.worth is not None for _, said in judged):
            worths = [said.relevance if said.worth is None else said.worth for _, said in judged]
            worth = self._combined(worths, weights)
        if any(said.decides is not None for _, said in judged):
            decides = self._combined([said.deciding for _, said in judged], weights)
        each = max(1, MAX_REASONS // len(judged))
        rows = [
            row
            for part, said in judged
            for row in [(part.name, f"{said.relevance:.2f}"), *said.reasons][:each]
        ]

        def keep() -> None:
            for _, said in judged:
                said.keep()

        return Judgement.of(number, rows, worth, decides, keep)

    def similarity(self, text: str, language: str = "") -> float:
        """Combine the similarities of the parts that know words."""
        return self._combined_similarity(
            [part.similarity(text, language) for part, _ in self._with_words]
        )

    def iri_similarity(self, iri: str) -> float:
        """Combine the similarities of the parts that know words."""
        return self._combined_similarity([part.iri_similarity(iri) for part, _ in self._with_words])

    def _combined_similarity(self, numbers: Sequence[float]) -> float:
        """Combine similarities.

        The largest wins, as a link's text rarely names two subjects at once.
        """
        return max(numbers, default=0.0)

    def close(self) -> None:
        """Close the parts that need it."""
        for part, _ in self.parts:
            if isinstance(part, Closing):
                part.close()

    @abstractmethod
    def _combined(self, numbers: Sequence[float], weights: Sequence[float]) -> float: ...


class All(_Combination):
    """As relevant as its least relevant part."""

    name = "all"

    def _combined(self, numbers: Sequence[float], weights: Sequence[float]) -> float:
        return min(numbers)


class Any(_Combination):
    """As relevant as its most relevant part."""

    name = "any"

    def _combined(self, numbers: Sequence[float], weights: Sequence[float]) -> float:
        return max(numbers)


class Mean(_Combination):
    """The weighted mean of its parts."""

    name = "mean"

    def _combined(self, numbers: Sequence[float], weights: Sequence[float]) -> float:
        total = sum(weights)
        return sum(number * weight for number, weight in zip(numbers, weights, strict=True)) / total

    def _combined_similarity(self, numbers: Sequence[float]) -> float:
        return (
            self._combined(numbers, [weight for _, weight in self._with_words]) if numbers else 0.0
        )
