"""Whether the files that results go to are still those that the crawl began with.

A deleted file stays writable for a process that has it open. Without a look at its path, a crawl
would go on writing what nobody ever reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from semcrawl.errors import ResultsGone


class Standing:
    """The identity of files, by their paths: device and inode.

    Their folder is asked about by the way, as paths lead through it.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """Remember the files that are there now."""
        self._known: dict[Path, tuple[int, int] | None] = {}
        for path in paths:
            self.remember(path)

    def remember(self, path: Path) -> None:
        """Remember the file that is at a path now."""
        self._known[path] = _identity(path)

    def check(self) -> None:
        """Raise ``ResultsGone`` when something else is at a path, or nothing any more."""
        for path, known in self._known.items():
            if known is not None and _identity(path) != known:
                raise ResultsGone(gone(path))


def gone(path: Path) -> str:
    """Say that a file of the results is gone, or its folder."""
    what = path if path.parent.is_dir() else path.parent
    return (
        f"{what} was deleted, moved or replaced while the crawl wrote to it: "
        "what it held may be lost, and the crawl ends"
    )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
