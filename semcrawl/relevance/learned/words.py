"""Words of texts and addresses."""

from __future__ import annotations

import re

_DIGITS = re.compile(r"\d+")
_WORDS = re.compile(r"[^\W_]+")
#: what stands for every run of digits
FOLDED = "0"


def words_of(text: str) -> list[str]:
    """The words of a text: runs of letters and digits."""
    return _WORDS.findall(text)


def fold_digits(text: str, to: str = FOLDED) -> str:
    """Every run of digits turned into ``0``, or something else."""
    if text.isdecimal():
        return to
    return _DIGITS.sub(to, text)
