"""Phrases that are looked for in the words of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, count
from typing import Generic, TypeVar

T = TypeVar("T")
Words = tuple[str, ...]


class PhraseFinder(Generic[T]):
    """Finds which of many phrases stand in a text; the longest one at each place."""

    def __init__(self, phrases: Mapping[Words, T] | Iterable[tuple[Words, T]]) -> None:
        """Take phrases with what they stand for; of equal ones the last counts."""
        self._phrases = {words: value for words, value in dict(phrases).items() if words}
        self._lengths: dict[str, list[int]] = {
            word: [] for words in self._phrases for word in words
        }
        for length in sorted({len(words) for words in self._phrases}, reverse=True):
            for first in {words[0] for words in self._phrases if len(words) == length}:
                self._lengths[first].append(length)

    def places(self, words: Sequence[str]) -> list[int]:
        """Return where words of the phrases stand in a text."""
        return [*compress(count(), map(self._lengths.__contains__, words))]

    def count(self, words: Sequence[str], places: Iterable[int] | None = None) -> Counter[Words]:
        """Count the phrases that stand in a text; none of them overlaps another.

        ``places``: what :meth:`places` says of the text, where that is known.
        """
        found: Counter[Words] = Counter()
        lengths, phrases, free = self._lengths, self._phrases, 0
        for place in self.places(words) if places is None else places:
            if place < free:
                continue
            for length in lengths[words[place]]:
                phrase = tuple(words[place : place + length])
                if phrase in phrases:
                    found[phrase] += 1
                    free = place + length
                    break
        return found

    def value(self, phrase: Words) -> T:
        """Return what a phrase stands for."""
        return self._phrases[phrase]
