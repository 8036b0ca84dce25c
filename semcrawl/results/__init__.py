"""Opens the job folder of a finished or running crawl, to read and query its results.

>>> from semcrawl import results
>>> with results.open("out") as job:  # doctest: +SKIP
...     print(sum(1 for record in job.records()), len(job.dataset()))
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from semcrawl.results.job import Job

__all__ = ["open"]


def open(folder: str | Path) -> Job:
    """Open a job folder; close it with :meth:`Job.close`, or use it in a ``with`` block.

    ``semcrawl merge`` or :func:`semcrawl.results.mergedjobs.merge_jobs` merges the folders of
    several machines first. Raises ``UsageError`` for a folder that is not a job folder, and
    ``StoreError`` for a database that is damaged or of a newer version.
    """
    from semcrawl.results.job import Job  # the query process needs no database

    return Job(Path(folder))
