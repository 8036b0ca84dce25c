"""Several topics as one: all of them, any of them, their weighted mean."""

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
    """Asks each of its parts, and combines what they say."""

    name: str

    def __init__(self, parts: Iterable[tuple[Topic, float]]) -> None:
        """Take topics with their weights, which only the mean uses."""
        self.parts = tuple(parts)
        self.needs = frozenset(need for part, _ in self.parts for need in part.needs)
        self._with_words = [each for each in self.parts if each[0].knows_words]
        self.knows_words = bool(self._with_words)

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Refuse: ``about`` makes combinations."""
        raise UsageError(f"write {cls.name}(…) around the topics")

    @property
    def takes_long(self) -> bool:
        """Whether one of the parts takes long."""
        return any(part.takes_long for part, _ in self.parts)

    def judge(self, document: Document) -> Judgement:
        """Combine the judgements of the parts; each part gets its share of the reasons."""
        judged = [(part, part.judge(document)) for part, _ in self.parts]
        weights = [weight for _, weight in self.parts]
        number = self._combined([said.relevance for _, said in judged], weights)
        worth = None
        if any(said.worth is not None for _, said in judged):
            worths = [said.relevance if said.worth is None else said.worth for _, said in judged]
            worth = self._combined(worths, weights)
        each = max(1, MAX_REASONS // len(judged))
        rows = [
            row
            for part, said in judged
            for row in [(part.name, f"{said.relevance:.2f}"), *said.reasons][:each]
        ]
        return Judgement.of(number, rows, worth)

    def similarity(self, text: str, language: str = "") -> float:
        """Combine what the parts say that know words."""
        return self._of_words([part.similarity(text, language) for part, _ in self._with_words])

    def iri_similarity(self, iri: str) -> float:
        """Combine what the parts say that know words."""
        return self._of_words([part.iri_similarity(iri) for part, _ in self._with_words])

    def _of_words(self, numbers: Sequence[float]) -> float:
        """Combine similarities.

        A link's text rarely names two subjects at once: what is near to one part leads on.
        """
        return max(numbers, default=0.0)

    def close(self) -> None:
        """Close the parts that have something to close."""
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

    def _of_words(self, numbers: Sequence[float]) -> float:
        return (
            self._combined(numbers, [weight for _, weight in self._with_words]) if numbers else 0.0
        )
