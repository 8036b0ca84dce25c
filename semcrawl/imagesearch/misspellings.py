"""Misspelled words of queries, corrected by the words of the crawl."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from rapidfuzz import process
from rapidfuzz.distance import OSA

#: letters from which on a word may differ by one, by two, by three letters
_LENGTHS = (2, 6, 11)
#: a word of the crawl is misspelled itself, or may be, that is so many times rarer than one with a
#: letter's difference; short words are near to many
_RARER, _PERHAPS, _SHORT = 20, 5, 3


class Spelling:
    """Knows the words of a crawl, and in how many images each stands."""

    def __init__(self, words: Mapping[str, int]) -> None:
        """Take words as they were written, folded."""
        self._words = words
        self._list = list(words)

    def __contains__(self, word: str) -> bool:
        """Whether the crawl has a word."""
        return word in self._words

    def corrected(self, word: str) -> str:
        """Return the word that was probably meant, ``""`` for none; two words may have been.

        The nearest wins by the letters left out, added, changed or exchanged (optimal string
        alignment); of equally near ones that with the same beginning, then the commonest.
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
        """Return a much commoner word that is written almost as this one of the crawl, or ``""``.

        The second says whether that was surely meant: pages misspell as users do.
        """
        count = self._words.get(word, 0)
        near = self.corrected(word) if count else ""
        times = self._words.get(near, 0) / max(count, 1) / (1 + (len(word) <= _SHORT))
        if times < _PERHAPS or OSA.distance(word, near) > 1:
            return "", False
        return near, times >= _RARER

    def _parted(self, word: str) -> str:
        """Return two words of the crawl that were written as one."""
        parts = ((word[:n], word[n:]) for n in range(3, len(word) - 2))
        known = [pair for pair in parts if all(part in self._words for part in pair)]
        best = max(known, key=lambda pair: min(map(self._words.__getitem__, pair)), default=())
        return " ".join(best)
