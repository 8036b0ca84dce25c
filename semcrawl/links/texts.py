"""The texts of a link: plain, white space folded, bounded."""

from __future__ import annotations

#: bound of a link's texts (characters)
MAX_TEXT = 200


def fold(text: str) -> str:
    """Fold white space and bound the length."""
    return " ".join(text[: 2 * MAX_TEXT].split())[:MAX_TEXT] if text else ""


def fold_end(text: str) -> str:
    """Fold white space and keep the end."""
    return " ".join(text[-2 * MAX_TEXT :].split())[-MAX_TEXT:] if text else ""
