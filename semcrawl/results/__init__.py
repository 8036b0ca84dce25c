"""A finished or running job opened again: what it found, who has it, and questions to all of it.

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

    Folders of several machines are made one first, by ``semcrawl merge`` or
    :func:`semcrawl.results.mergedjobs.merge_jobs`. Raises ``UsageError`` for a folder that holds
    no job, and ``StoreError`` for a database that is damaged or of a newer version.
    """
    from semcrawl.results.job import Job  # a process that only runs a query needs no database

    return Job(Path(folder))
