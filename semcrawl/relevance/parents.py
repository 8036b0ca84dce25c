"""Relevancy_HR: pages that look like known HTML parents of RDF (sources.md T.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import urlsplit

from semcrawl.web.urls import segments

#: a shape: host and the folders that pages differing in their last segment share
Shape = tuple[str, tuple[str, ...]]


@lru_cache(maxsize=4096)
def address_of(url: str) -> tuple[str, tuple[str, ...]]:
    """Return host (with port) and path segments of a normalised URL."""
    parts = urlsplit(url)
    return parts.netloc, segments(parts.path)


def shape_of(url: str) -> Shape | None:
    """Return what pages must share for r1 to hold between them; ``None`` if r1 never can.

    r1 wants n > 1: pages directly below the root have no shape.
    """
    host, path = address_of(url)
    return (host, path[:-1]) if len(path) > 1 else None


class KnownParents:
    """C_HR(t): hosts and paths of the documents known to be parents of RDF.

    A lookup costs the same however many parents are known: by T.3, r1 compares all but the last
    segment, and r2 the whole path.
    """

    def __init__(self, parents: Iterable[str] = ()) -> None:
        self._last_names: dict[Shape, set[str]] = {}
        self._addresses: dict[tuple[str, tuple[str, ...]], None] = {}
        for url in parents:
            self.add(url)

    def __len__(self) -> int:
        return len(self._addresses)

    def __iter__(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Host and path segments of each parent, in the order they were learned."""
        return iter(self._addresses)

    def add(self, url: str) -> bool:
        """Learn a parent's address; whether it was new."""
        return self.add_address(*address_of(url))

    def add_address(self, host: str, path: tuple[str, ...]) -> bool:
        """Learn a parent by host and path segments; whether it was new."""
        if (host, path) in self._addresses:
            return False
        self._addresses[host, path] = None
        if len(path) > 1:
            self._last_names.setdefault((host, path[:-1]), set()).add(path[-1])
        return True

    def knows_shape(self, shape: Shape) -> bool:
        """Whether some parent has this shape."""
        return shape in self._last_names

    def rules(self, url: str) -> tuple[str, ...]:
        """Return which of r1 and r2 hold for a URL against some known parent."""
        host, path = address_of(url)
        held = []
        if len(path) > 1:
            names = self._last_names.get((host, path[:-1]), ())
            if len(names) > (path[-1] in names):
                held.append("r1")
        if (host, path) in self._addresses:
            held.append("r2")
        return tuple(held)
