"""The texts of a link: plain, white space folded, bounded."""

from __future__ import annotations

import re

#: bound of a link's texts (characters)
MAX_TEXT = 200

_SPACE = re.compile(r"\s+")


def fold(text: str) -> str:
    """Fold white space and bound the length."""
    return _SPACE.sub(" ", text[: 2 * MAX_TEXT]).strip()[:MAX_TEXT]


def fold_end(text: str) -> str:
    """Fold white space and keep the end."""
    return _SPACE.sub(" ", text[-2 * MAX_TEXT :]).strip()[-MAX_TEXT:]
