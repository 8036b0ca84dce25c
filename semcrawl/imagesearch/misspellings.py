"""Corrects misspelled words of queries to words of the crawl."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from rapidfuzz import process
from rapidfuzz.distance import OSA

#: least lengths of words that may differ by one, two, three letters
_LENGTHS = (2, 6, 11)
#: A word of the crawl is misspelled (or may be) if a word that differs by one letter is this many
#: times commoner. Words of at most so many letters, which resemble many others, need twice that.
_RARER, _PERHAPS, _SHORT = 20, 5, 3


class Spelling:
    """Corrects words by the words of a crawl and the number of images with each."""

    def __init__(self, words: Mapping[str, int]) -> None:
        """Take folded, unstemmed words with their numbers of images."""
        self._words = words
        self._list = list(words)

    def __contains__(self, word: str) -> bool:
        """Whether the crawl has a word."""
        return word in self._words

    def corrected(self, word: str) -> str:
        """Return the word, or two words, probably meant; ``""`` for none.

        The nearest word wins, by letters omitted, added, changed or swapped (optimal string
        alignment). Among equals, the same first letter wins, then the commonest word.
        """
        if any(letter.isdigit() for letter in word):
            return ""
        allowed = sum(len(word) >= length for length in _LENGTHS)
        if not allowed:
            return ""
        found = process.extract(
            word, self._list, scorer=OSA.distance, score_cutoff=allowed, limit=20
        )
        best = min(
            ((n, near[:1] != word[:1], -self._words[near], near) for near, n, _ in found if n),
            default=(sys.maxsize, False, 0, ""),
        )
        parted = self._parted(word)
        return parted if parted and best[0] > 1 else best[3]

    def doubted(self, word: str) -> tuple[str, bool]:
        """Return a much commoner word one letter away from this word of the crawl, or ``""``.

        The second value tells whether this word is surely misspelled: pages misspell as users do.
        """
        count = self._words.get(word, 0)
        near = self.corrected(word) if count else ""
        times = self._words.get(near, 0) / max(count, 1) / (1 + (len(word) <= _SHORT))
        if times < _PERHAPS or OSA.distance(word, near) > 1:
            return "", False
        return near, times >= _RARER

    def _parted(self, word: str) -> str:
        """Split a word into two words of the crawl, ``""`` if there are none."""
        parts = ((word[:n], word[n:]) for n in range(3, len(word) - 2))
        known = [pair for pair in parts if all(part in self._words for part in pair)]
        best = max(known, key=lambda pair: min(map(self._words.__getitem__, pair)), default=())
        return " ".join(best)
