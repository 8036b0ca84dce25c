"""Houses stand beside the crawl and plug in: the core imports none of their modules.

A house is a package with a :class:`House`, which the entry-point group ``semcrawl.houses`` names.
Its methods import the rest of the house when they need it, so that a crawl without it loads only
the declaration. A house that was deleted is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

#: group of entry points
_GROUP = "semcrawl.houses"


@dataclass(frozen=True, slots=True)
class Report:
    """What a house adds to the summary of a job."""

    #: members of ``summary.json``
    data: Mapping[str, Any]
    line: str


class House:
    """A house that does nothing; each overrides what it takes part in."""

    #: words of ``SEMCRAWL_TARGETS`` that it understands
    targets: Collection[str] = ()
    #: names of commands and their modules
    commands: Mapping[str, str] = {}
    #: names of strategies and the import paths of their classes
    strategies: Mapping[str, str] = {}
    #: names of functions of ``semcrawl`` itself, and the modules that have them
    functions: Mapping[str, str] = {}

    def pipelines(self, settings: Any) -> Mapping[str, int]:
        """Return the pipelines that it adds to ``ITEM_PIPELINES`` for these settings."""
        return {}

    def check(self, settings: Any) -> None:
        """Check Scrapy's settings and files before a crawl; raise ``UsageError``."""

    def part(self, settings: Any, reader: Any, topic: Any, stats: Any) -> Any:
        """Return its :class:`~semcrawl.crawl.houseparts.CrawlPart`; ``None`` if it has none.

        It reads with ``reader`` and judges by ``topic``. Raises as :meth:`check`.
        """
        return None

    def due(self, folder: Path) -> Collection[str]:
        """Return addresses of a job that gave nothing, but may later."""
        return ()

    def databases(self) -> Mapping[str, Any]:
        """Return its databases in a job folder, with their tables."""
        return {}

    def merge(self, folders: Sequence[Path], out: Path, settings: Mapping[str, Any]) -> str:
        """Merge its results of job folders into ``out``; return an amount in words, if any."""
        return ""

    def remarks(self, settings: Any, folder: Path, result: Any) -> Sequence[str]:
        """Return lines on what went wrong in a harvest, a ``RunResult``."""
        return ()

    def report(self, folder: Path) -> Report | None:
        """Return what it adds to the summary of a job."""
        return None


@cache
def houses() -> tuple[House, ...]:
    """Return the houses that are there."""
    found = []
    for entry in sorted(entry_points(group=_GROUP)):
        try:
            found.append(entry.load())
        except ModuleNotFoundError as error:
            if error.name != entry.module:
                raise
    return tuple(found)


def reports(folder: Path) -> list[Report]:
    """Return what the houses report of a job."""
    return [found for house in houses() if (found := house.report(folder)) is not None]
