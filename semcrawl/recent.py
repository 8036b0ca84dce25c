"""Collections that forget what was not used for long, so that they stay small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(MutableMapping[K, V], Generic[K, V]):
    """A mapping that keeps at least half of ``most`` keys, those that were used last.

    It consists of two generations. When the younger one is full, it becomes the older one, and what
    was in that is forgotten. A look-up moves a key to the younger one.
    """

    def __init__(self, most: int, new: Callable[[], V] | None = None) -> None:
        """``new`` makes the value of a key that is looked up and unknown."""
        self._half = max(1, most // 2)
        self._new = new
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}

    def __getitem__(self, key: K) -> V:
        if key in self._young:
            return self._young[key]
        if key in self._old:
            value = self._old.pop(key)
        elif self._new is not None:
            value = self._new()
        else:
            raise KeyError(key)
        self[key] = value
        return value

    def __setitem__(self, key: K, value: V) -> None:
        self._old.pop(key, None)
        self._young[key] = value
        if len(self._young) > self._half:
            self._old, self._young = self._young, {}

    def __delitem__(self, key: K) -> None:
        if key in self._young:
            del self._young[key]
        else:
            del self._old[key]

    def __contains__(self, key: object) -> bool:
        return key in self._young or key in self._old

    def __iter__(self) -> Iterator[K]:
        yield from [*self._old, *self._young]

    def __len__(self) -> int:
        return len(self._young) + len(self._old)
