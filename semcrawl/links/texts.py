"""Folds the white space of a link's texts, and bounds them."""

from __future__ import annotations

#: most characters of a link's text
MAX_TEXT = 200


def fold(text: str) -> str:
    """Fold white space and keep the beginning."""
    return " ".join(text[: 2 * MAX_TEXT].split())[:MAX_TEXT] if text else ""


def fold_end(text: str) -> str:
    """Fold white space and keep the end."""
    return " ".join(text[-2 * MAX_TEXT :].split())[-MAX_TEXT:] if text else ""
