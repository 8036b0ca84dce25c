"""Words of texts and addresses."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W_]+")
#: letters in lower case, digits, and a space for every other byte
_ASCII_WORDS = bytes(
    ord(chr(b).lower()) if b < 128 and chr(b).isalnum() else 32 for b in range(256)
)
#: what stands for every run of digits
FOLDED = "0"


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case: runs of letters and digits."""
    if text.isascii():  # most are, and three times as fast without regular expressions
        return text.encode().translate(_ASCII_WORDS).decode().split()
    return _WORDS.findall(text.lower())


def without_numbers(words: list[str]) -> list[str]:
    """The words, with ``0`` for every number: which one it is says nothing."""
    return [FOLDED if word.isdecimal() else word for word in words]


def fold_digits(text: str, to: str = FOLDED) -> str:
    """Every run of digits turned into ``0``, or something else."""
    if text.isdecimal():
        return to
    return _DIGITS.sub(to, text)
