"""Checks that the result files are still those that the crawl began with.

A process can go on writing to a file that was deleted. Without this check, a crawl would write
results that nobody can read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from semcrawl.errors import ResultsGone


class FileIdentities:
    """The identities of files (device and inode), by path.

    As paths lead through folders, a moved folder is noticed as well.
    """

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        """Remember the files at these paths."""
        self._known: dict[Path, tuple[int, int] | None] = {}
        for path in paths:
            self.remember(path)

    def remember(self, path: Path) -> None:
        """Remember the file that a path leads to now."""
        self._known[path] = _identity(path)

    def check(self) -> None:
        """Raise ``ResultsGone`` if a path leads to another file, or to none."""
        for path, known in self._known.items():
            if known is not None and _identity(path) != known:
                raise ResultsGone(gone_message(path))


def gone_message(path: Path) -> str:
    """Return the message that a result file, or its folder, is gone."""
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
