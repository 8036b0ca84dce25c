"""Checks the types of data class fields that were filled from outside."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields
from functools import cache
from math import isfinite
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints


def check_fields(instance: Any) -> None:
    """Raise ``ValueError`` if a field does not hold its declared type.

    Checks items of tuples, but not fields of nested objects. An ``int`` may be a ``float``, a
    ``bool`` is not a number, and numbers must be finite.
    """
    for name, declared, plain in _declared(type(instance)):  # type: ignore[arg-type]
        value = getattr(instance, name)
        if type(value) not in plain:
            _check(name, value, declared)


@cache
def _declared(of: Hashable) -> tuple[tuple[str, Any, frozenset[type]], ...]:
    """Return the fields of a class, their declared types, and the types that need no check."""
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
            raise ValueError(f"{name} is not a tuple")
        for part in value:
            _check(name, part, get_args(declared)[0])
        return
    if not any(_is(value, kind) for kind in _kinds(declared)):
        raise ValueError(f"{name} is of type {type(value).__name__}")


def _is(value: Any, kind: Any) -> bool:
    """Whether a value is of a declared type."""
    if kind is NoneType:
        return value is None
    if kind in (int, float):
        if isinstance(value, int):  # msgpack packs at most 64 bits
            return not isinstance(value, bool) and abs(value) < 1 << 63
        return kind is float and isinstance(value, float) and isfinite(value)
    return isinstance(value, kind)
