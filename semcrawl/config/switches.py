"""Words that turn something on or off."""

from __future__ import annotations

from semcrawl.errors import UsageError

_ON = frozenset({"1", "true", "yes", "on"})
_OFF = frozenset({"0", "false", "no", "off", "none", ""})

__all__ = ["read_switch"]


def read_switch(name: str, value: object) -> bool:
    """Return whether the argument or option ``name`` is on.

    Words are read in any case. Raises ``UsageError`` for a word that says neither on nor off.
    """
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word not in _ON | _OFF:
        raise UsageError(f"{name} must be 0 or 1, not {value!r}")
    return word in _ON
