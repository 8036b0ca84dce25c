"""Phrases that are looked for in the words of a text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")
Words = tuple[str, ...]


class PhraseFinder(Generic[T]):
    """Finds which of many phrases stand in a text; the longest one at each place."""

    def __init__(self, phrases: Mapping[Words, T] | Iterable[tuple[Words, T]]) -> None:
        """Take phrases with what they stand for; of equal ones the last counts."""
        self._phrases = {words: value for words, value in dict(phrases).items() if words}
        lengths: dict[str, set[int]] = {}
        for words in self._phrases:
            lengths.setdefault(words[0], set()).add(len(words))
        self._lengths = {word: sorted(sizes, reverse=True) for word, sizes in lengths.items()}
        self._firsts = frozenset(lengths)

    def count(self, words: Sequence[str]) -> Counter[Words]:
        """Count the phrases that stand in a text; none of them overlaps another."""
        found: Counter[Words] = Counter()
        if self._firsts.isdisjoint(words):
            return found
        lengths, phrases, free = self._lengths, self._phrases, 0
        for place in [n for n, word in enumerate(words) if word in lengths]:
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
