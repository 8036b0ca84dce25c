"""Opens the job folder of a finished or running crawl, to read and query its results.

>>> from semcrawl import results
>>> with results.open("out") as job:  # doctest: +SKIP
...     print(sum(1 for record in job.records()), len(job.dataset()))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semcrawl.houses import House

if TYPE_CHECKING:
    from semcrawl.results.job import Job

__all__ = ["HOUSE", "open"]


def open(folder: str | Path) -> Job:
    """Open a job folder; close it with :meth:`Job.close`, or use it in a ``with`` block.

    ``semcrawl merge`` or :func:`semcrawl.results.mergedjobs.merge_jobs` merges the folders of
    several machines first. Raises ``UsageError`` for a folder that is not a job folder, and
    ``StoreError`` for a database that is damaged or of a newer version.
    """
    from semcrawl.results.job import Job  # the query process needs no database

    return Job(Path(folder))


class _Results(House):
    """What is done with results: commands on job folders, and delivery to triple stores."""

    commands = {
        name: f"semcrawl.commands.{name}"
        for name in (
            *("check", "describe", "diff", "find", "load", "merge", "pages", "parquet", "profile"),
            *("query", "report", "why"),
        )
    }

    functions = dict.fromkeys(("harvest", "aharvest"), "semcrawl.results.harvesting")

    def pipelines(self, settings: Any) -> Mapping[str, int]:
        """Return the pipeline of a triple store if the settings name one."""
        name = "semcrawl.results.stores.storepipeline.StorePipeline"
        return {name: 400} if _delivers(settings) else {}

    def check(self, settings: Any) -> None:
        """Check the settings of the store."""
        if _delivers(settings):
            from semcrawl.results.stores.opening import check_store_settings

            check_store_settings(settings)

    def remarks(self, settings: Any, folder: Path, result: Any) -> Sequence[str]:
        """Tell of the documents that wait for the triple store, were renamed or refused."""
        if not _delivers(settings):
            return ()
        from semcrawl.results.stores.opening import RENAMED_WORDS, open_deliverer
        from semcrawl.terminal import amount

        deliverer = open_deliverer(settings, folder)
        try:
            waiting = deliverer.waiting()
        finally:
            deliverer.close()
        lines = []
        if waiting:
            problem = result.store_problem or "crawl.log says why"
            wait = f"{amount(waiting, 'document')} wait{'s' if waiting == 1 else ''}"
            lines.append(
                f"{wait} in {folder} for the triple store ({problem}); "
                "the next run or `semcrawl load` delivers them"
            )
        if result.renamed:
            lines.append(RENAMED_WORDS.format(result.renamed))
        if result.refused:
            refused = amount(result.refused, "document")
            lines.append(f"the triple store refuses {refused}; crawl.log says which")
        return lines


def _delivers(settings: Any) -> bool:
    from semcrawl.pipelines.quads import StoreOptions
    from semcrawl.settings.reader import fill

    return bool(fill(StoreOptions, settings).named)


HOUSE = _Results()
