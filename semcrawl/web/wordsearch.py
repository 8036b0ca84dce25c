"""Searches bytes for several words at once."""

from __future__ import annotations

from collections.abc import Iterator

from ahocorasick_rs import BytesAhoCorasick, MatchKind

#: bytes to search at a time, whose matches are in memory together
_PIECE = 1 << 16


class WordSearch:
    """Finds several words in a text in one pass.

    It compares many bytes at a time with all words, and needs a tenth of the time of ``in`` for one
    word. That holds for one word, and for three or more; for two it is slower.
    """

    def __init__(self, *words: bytes) -> None:
        self._words = words
        self._overlap = max(map(len, words)) - 1
        # only this kind of match is so fast
        self._find = BytesAhoCorasick(words, MatchKind.LeftmostFirst).find_matches_as_indexes

    def matches(self, text: bytes) -> Iterator[tuple[bytes, int]]:
        """Yield the words in ``text`` and their positions, some of them twice.

        Of two overlapping words, only the first is found.
        """
        for start in range(0, len(text), _PIECE):
            piece = text[start : start + _PIECE + self._overlap]
            for index, at, _ in self._find(piece):
                yield self._words[index], start + at

    def found_in(self, text: bytes) -> set[bytes]:
        """Return the words that are in ``text``."""
        if len(text) <= _PIECE and not self._find(text):  # the usual case
            return set()
        return {word for word, _ in self.matches(text)}
