"""Reads numbers within bounds and switches from settings."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from semcrawl import settings as defaults
from semcrawl.errors import UsageError

_ON = frozenset({"1", "true", "yes", "on"})
_OFF = frozenset({"0", "false", "no", "off", "none", ""})


def read_number(
    settings: Mapping[str, Any],
    name: str,
    default: float | None = None,
    low: float = -inf,
    high: float = inf,
) -> float:
    """Return a setting as a number from ``low`` to ``high``; raise ``UsageError`` for others.

    A missing or empty setting has the ``default``, or that of :mod:`semcrawl.settings`.
    """
    value = _value(settings, name, default)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise _refusal(name, "a number", low, high, value) from None
    if not low <= number <= high:
        raise _refusal(name, "a number", low, high, value)
    return number


def whole_number(settings: Mapping[str, Any], name: str, low: float = 1, high: float = inf) -> int:
    """Return a setting as a whole number; otherwise like :func:`read_number`."""
    value = _value(settings, name, None)
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        raise _refusal(name, "a whole number", low, high, value) from None
    if not low <= number <= high:
        raise _refusal(name, "a whole number", low, high, value)
    return number


def random_seed(settings: Mapping[str, Any]) -> int:
    """Return ``SEMCRAWL_RANDOM_SEED``, a signed 64-bit number. Raises ``UsageError``."""
    return whole_number(settings, "SEMCRAWL_RANDOM_SEED", -(1 << 63), (1 << 63) - 1)


def _value(settings: Mapping[str, Any], name: str, default: float | None) -> Any:
    # Scrapy's ``get`` returns the default for None too
    value = settings[name] if name in settings else ""  # noqa: SIM401
    if value != "":
        return value
    return getattr(defaults, name) if default is None else default


def _refusal(name: str, kind: str, low: float, high: float, value: Any) -> UsageError:
    bounds = f" from {_shown(low)}" if low > -inf else ""
    bounds += f" to {_shown(high)}" if high < inf else ""
    return UsageError(f"{name} must be {kind}{bounds}, not {value!r}")


def _shown(bound: float) -> str:
    return f"{bound:,}".removesuffix(".0")


def read_switch(name: str, value: object) -> bool:
    """Return whether the argument or option ``name`` is on.

    Case is ignored. Raises ``UsageError`` for a word that means neither on nor off.
    """
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word not in _ON | _OFF:
        raise UsageError(f"{name} must be 0 or 1, not {value!r}")
    return word in _ON
