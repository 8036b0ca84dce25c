"""Checks the types of fields that were read into data classes from outside."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints


def check_fields(instance: Any) -> None:
    """Raise ``ValueError`` when a field holds something else than its class declares.

    Parts of a sequence are looked at, fields of what a field holds are not. An ``int`` does for a
    ``float``, no ``bool`` for a number, and a number has to be finite.
    """
    for name, declared, plain in _declared(type(instance)):  # type: ignore[arg-type]
        value = getattr(instance, name)
        if type(value) not in plain:
            _check(name, value, declared)


@cache
def _declared(of: Hashable) -> tuple[tuple[str, Any, frozenset[type]], ...]:
    """Return the fields of a class, what they hold, and the types whose values all do."""
    described: Any = of
    hints = get_type_hints(described)
    return tuple(
        (field.name, hints[field.name], _plain(hints[field.name])) for field in fields(described)
    )


def _plain(declared: Any) -> frozenset[type]:
    if get_origin(declared) is tuple:
        return frozenset()
    return frozenset(_kinds(declared)) - {int, float}


def _kinds(declared: Any) -> tuple[Any, ...]:
    return get_args(declared) if isinstance(declared, UnionType) else (declared,)


def _check(name: str, value: Any, declared: Any) -> None:
    if get_origin(declared) is tuple:
        if not isinstance(value, tuple):
            raise ValueError(f"{name} is no sequence")
        for part in value:
            _check(name, part, get_args(declared)[0])
        return
    if not any(_is(value, kind) for kind in _kinds(declared)):
        raise ValueError(f"{name} is of type {type(value).__name__}")


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a kind."""
    if kind is NoneType:
        return value is None
    if kind in (int, float):
        if isinstance(value, int):  # (msgpack packs no number of more than 64 bits)
            return not isinstance(value, bool) and abs(value) < 1 << 63
        return kind is float and isinstance(value, float) and isfinite(value)
    return isinstance(value, kind)
