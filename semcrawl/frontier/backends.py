"""The backends of the frontier: which one a crawl has, and how it is opened.

The one place beside this package's own modules that knows them. Callers get contracts
(:mod:`semcrawl.frontier.contract`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.errors import UsageError
from semcrawl.frontier.contract import Frontier, ManagedFrontier
from semcrawl.frontier.local.server import EmbeddedRedis
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.redis.admission import admit_harvest, admit_worker, crawl_name, reached
from semcrawl.frontier.redis.charter import JobName
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.frontier.redis.keys import Keys
from semcrawl.frontier.workers import worker_name

__all__ = [
    "OpenedBackend",
    "admit_harvest",
    "admit_worker",
    "check_backend",
    "check_crawl_name",
    "job_backend",
    "visited_frontier",
]


@dataclass(frozen=True)
class OpenedBackend:
    """The frontier of a worker, not opened yet, and how to stop what was started for it."""

    frontier: Frontier
    close: Callable[[], None] = lambda: None


def check_crawl_name(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for a ``SEMCRAWL_CRAWL_NAME`` that no frontier can have."""
    try:
        Keys(crawl_name(settings))
    except ValueError as error:
        raise UsageError(f"SEMCRAWL_CRAWL_NAME: {error}") from None


def check_backend(settings: BaseSettings) -> None:
    """Raise ``FrontierUnavailable`` when the server of ``REDIS_URL`` cannot be asked."""
    if url := settings.get("REDIS_URL"):
        with reached(str(url)):
            pass


def job_backend(settings: BaseSettings, folder: Path, options: FrontierOptions) -> OpenedBackend:
    """Return the frontier of a job: on the server of ``REDIS_URL``, else in the job's folder.

    Raises ``FrontierUnavailable`` where the folder's own server cannot be started.
    """
    address: str | Path
    revive = close = None
    if url := settings.get("REDIS_URL"):
        address = str(url)
    else:
        server = EmbeddedRedis(folder / "frontier")
        server.start()
        address, revive, close = server.socket, server.ensure, server.stop
    frontier = RedisFrontier(
        address,
        prefix=crawl_name(settings),
        worker_id=worker_name(),
        options=options,
        revive=revive,
        considerate=not settings.getbool("SEMCRAWL_LOOSEN_PACE"),
    )
    return OpenedBackend(frontier) if close is None else OpenedBackend(frontier, close)


@asynccontextmanager
async def visited_frontier(
    settings: BaseSettings, job: Path | None, *, make: bool = False
) -> AsyncIterator[ManagedFrontier]:
    """Open the frontier of a job, or of the crawl that the settings name, to look at it.

    Without ``make`` it must be there already: its name may be misspelt. Raises ``UsageError`` where
    there is none, and as :meth:`Frontier.open` does.
    """
    with ExitStack() as servers:
        address: str | Path
        prefix = crawl_name(settings)
        own = JobName.read(job) if job is not None else None
        if (url := settings.get("REDIS_URL")) and (job is None or own is not None):
            address = str(url)
            prefix = settings.get("SEMCRAWL_CRAWL_NAME") or (own.crawl if own else prefix)
        elif own is not None and not (Path(job or ".") / "frontier").is_dir():
            raise UsageError(f"the frontier of {job} is on a Redis: give -s REDIS_URL=redis://…")
        else:
            job = job or Path(settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR") or ".")
            folder = job / "frontier"
            if not (folder / "redis.lock").exists() and not make:
                raise UsageError(f"{job} holds no frontier")
            address = servers.enter_context(EmbeddedRedis(folder)).socket
        try:
            frontier = RedisFrontier(
                address,
                prefix=prefix,
                worker_id=worker_name(),
                options=FrontierOptions(patience=5.0),
                guest=True,
            )
        except ValueError as error:
            raise UsageError(f"SEMCRAWL_CRAWL_NAME: {error}") from None
        await frontier.open(make=make)
        try:
            yield frontier
        finally:
            await frontier.close()
