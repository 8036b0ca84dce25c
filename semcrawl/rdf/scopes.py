"""Names declared in nested scopes, such as prefixes of elements, which share what is the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")


class Scoped(Mapping[str, T]):
    """An immutable mapping of which extended copies are cheap, however many there are.

    It consists of dictionaries, the latest last, each more than twice as large as the next. Those
    that copies have in common exist once: *d* nested scopes of *n* names each take memory for some
    *d n* log *d* names, where plain copies take it for *d*² *n* / 2. A look-up tries log *d*
    dictionaries.
    """

    __slots__ = ("_parts",)

    def __init__(self, *parts: Mapping[str, T]) -> None:
        self._parts = parts

    def extended(self, more: Mapping[str, T]) -> Scoped[T]:
        """Return a copy with more names, which hide those before."""
        parts, last = self._parts, more
        while parts and len(parts[-1]) <= 2 * len(last):
            last = {**parts[-1], **last}
            parts = parts[:-1]
        return Scoped(*parts, last)

    def __getitem__(self, name: str) -> T:
        for part in reversed(self._parts):
            if name in part:
                return part[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(name for part in self._parts for name in part))

    def __len__(self) -> int:
        return sum(1 for _ in self)
