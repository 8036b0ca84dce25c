"""Reads settings by the rows of the table, and fills objects of options from them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import field, fields
from difflib import get_close_matches
from math import inf
from typing import Any, TypeVar

from semcrawl.errors import UsageError
from semcrawl.settings.table import FORMER, TABLE, Setting

_T = TypeVar("_T")

_ON = frozenset({"1", "true", "yes", "on"})
_OFF = frozenset({"0", "false", "no", "off", "none", ""})

#: settings that one part of semcrawl gives another
INTERNAL = frozenset({"SEMCRAWL_ABOUT_FETCH", "SEMCRAWL_HARVEST", "SEMCRAWL_SESSION_SOURCE"})


class Values:
    """Settings, Scrapy's or a plain mapping, over the defaults of the table.

    A value has the type of its row. Raises ``UsageError`` for a value that the row refuses.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings

    def __getitem__(self, name: str) -> Any:
        """Return the value of a setting."""
        row = TABLE[name]
        # Scrapy's ``get`` returns the default for None too
        given = self._settings[name] if name in self._settings else None  # noqa: SIM401
        return take(row, given)


def read(settings: Mapping[str, Any]) -> Values:
    """Return the values of settings; raise ``UsageError`` for a name that is no setting."""
    for name in settings:
        check_name(str(name))
    return Values(settings)


def fill(cls: type[_T], settings: Mapping[str, Any] | Values, **given: Any) -> _T:
    """Fill a dataclass whose fields name their settings; ``given`` fields are taken as they are.

    Raises ``UsageError`` for wrong settings.
    """
    values = settings if isinstance(settings, Values) else Values(settings)
    of_class: Any = cls
    for each in fields(of_class):
        if each.name in given:
            continue
        if name := each.metadata.get("setting"):
            given[each.name] = each.metadata["take"](values[name])
        elif part := each.metadata.get("part"):
            given[each.name] = fill(part, values)
    return cls(**given)


def as_settings(filled: Any) -> dict[str, Any]:
    """Return the settings that give these options, of fields that hold them as they are."""
    found: dict[str, Any] = {}
    for each in fields(filled):
        if "part" in each.metadata:
            found |= as_settings(getattr(filled, each.name))
        elif name := each.metadata.get("setting"):
            found[name] = getattr(filled, each.name)
    return found


def setting(name: str, take: Callable[[Any], Any] | None = None) -> Any:
    """Declare a field of options that holds a setting, or what ``take`` makes of it."""
    taken, row = take or _same, TABLE[name]
    return field(
        default_factory=lambda: taken(_default(row)), metadata={"setting": name, "take": taken}
    )


def part(cls: type) -> Any:
    """Declare a field of options that holds further options."""
    return field(default_factory=cls, metadata={"part": cls})


def _same(value: Any) -> Any:
    return value


def _default(row: Setting) -> Any:
    return tuple(row.default) if isinstance(row.default, list) and not row.plain else row.default


def take(row: Setting, value: Any) -> Any:
    """Return a value of a setting in the setting's type; raise ``UsageError`` for a wrong one.

    ``None``, and an empty text for a number, a switch or a word, stand for the default.
    """
    if value is None:
        return _default(row)
    if row.plain:
        return value
    if isinstance(row.default, list):
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(word for each in parts if (word := str(each).strip()))
    if isinstance(row.default, dict):
        return _mapping(row.name, value)
    if isinstance(row.default, str) and isinstance(value, list | tuple):
        value = ",".join(map(str, value))
    text = value.strip() if isinstance(value, str) else value
    if isinstance(row.default, str):
        return _word(row, str(text)) if row.words else str(text)
    if text == "":
        return row.default
    if isinstance(row.default, bool):
        return read_switch(row.name, value)
    return number(row.name, text, row.low, row.high, whole=isinstance(row.default, int))


def _word(row: Setting, text: str) -> str:
    word = text.lower() or row.default
    if word not in row.words:
        raise UsageError(f"{row.name} must be one of {', '.join(row.words)}, not {text!r}")
    return str(word)


def _mapping(name: str, value: Any) -> dict[str, Any]:
    try:
        return dict(json.loads(value or "{}") if isinstance(value, str) else value)
    except (ValueError, TypeError):
        raise UsageError(f"{name} must be a mapping, or JSON of one, not {value!r}") from None


def number(
    name: str, value: Any, low: float = -inf, high: float = inf, *, whole: bool = False
) -> Any:
    """Return a setting or argument as a number within bounds; raise ``UsageError`` for others."""
    kind = "a whole number" if whole else "a number"
    try:
        found = int(value) if whole else float(value)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is not None and low <= found <= high:
        return found
    bounds = f" from {_shown(low)} to {_shown(high)}" if high < inf else ""
    if found is not None and not bounds and found < low:
        raise UsageError(f"{name} must be {_shown(low)} or more, not {value}")
    raise UsageError(f"{name} must be {kind}{bounds}, not {value!r}")


def _shown(bound: float) -> str:
    return f"{bound:,}".removesuffix(".0")


def read_switch(name: str, value: object) -> bool:
    """Return whether the setting, argument or option ``name`` is on.

    Case is ignored. Raises ``UsageError`` for a word that means neither on nor off.
    """
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word not in _ON | _OFF:
        raise UsageError(f"{name} must be 0 or 1, not {value!r}")
    return word in _ON


def checked_iri(name: str, text: str) -> str:
    """Return ``text`` if it is an IRI or empty; else raise ``UsageError``.

    ``name`` is the setting or option.
    """
    from pyoxigraph import NamedNode  # few commands need it

    try:
        NamedNode(text or "urn:none")
    except ValueError as error:
        raise UsageError(f"{name}: {text!r} is not an IRI: {error}") from None
    return text


def check_name(name: str) -> None:
    """Raise ``UsageError`` for a name that begins with ``SEMCRAWL_`` and is no setting."""
    if not name.startswith("SEMCRAWL_") or name in TABLE or name in INTERNAL:
        return
    if name in FORMER:
        raise UsageError(f"there is no setting {name}: {FORMER[name]}")
    own = [each for each in TABLE if each.startswith("SEMCRAWL_")]
    [close] = get_close_matches(name, own, n=1, cutoff=0)
    raise UsageError(f"there is no setting {name}; did you mean {close}?")
