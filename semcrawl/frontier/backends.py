"""Chooses and opens the backend of a crawl's frontier.

Only this package knows the backends. Callers get contracts (:mod:`semcrawl.frontier.contract`). A
backend, and the client of its server, is loaded when it is chosen.

===================================  ============================
``REDIS_URL``                        backend
===================================  ============================
empty                                ``SqliteFrontier``, a file
one server, or one shard             ``RedisFrontier``
several, a cluster, or more shards   ``ShardedFrontier``
===================================  ============================
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl import frontier as backends
from semcrawl.config.jobdir import job_path
from semcrawl.errors import FrontierCorrupt, FrontierUnavailable, UsageError, existing_folder
from semcrawl.frontier.contract import Frontier, FrontierOptions
from semcrawl.frontier.workers import JobName, check_name, crawl_name, worker_name
from semcrawl.settings.reader import Values
from semcrawl.web.hosts import domain_key, netloc_of

__all__ = [
    "admit_harvest",
    "admit_worker",
    "check_backend",
    "check_crawl_name",
    "frontier_file",
    "holds_frontier",
    "job_backend",
    "visited_frontier",
]


def frontier_file(folder: Path) -> Path:
    """Return the file of a job's frontier, for jobs without a Redis server."""
    return folder / "frontier.db"


def is_on_servers(folder: Path) -> bool:
    """Whether the frontier of the crawl in a folder is on a Redis."""
    return JobName.read(folder) is not None and not holds_frontier(folder)


def holds_frontier(folder: Path) -> bool:
    """Whether a job folder holds its frontier."""
    return frontier_file(folder).is_file()


def check_crawl_name(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for an invalid ``SEMCRAWL_CRAWL_NAME``."""
    try:
        check_name(crawl_name(settings))
    except ValueError as error:
        raise UsageError(f"SEMCRAWL_CRAWL_NAME: {error}") from None


def admit_harvest(settings: BaseSettings, folder: Path, seeds: Sequence[str]) -> str:
    """Admit a harvest to its crawl on a Redis, and return the crawl's name.

    No other crawl can interfere with a file. Raises as ``frontier.redis.crawl.admit_harvest`` does.
    """
    check_backend(settings, folder)
    if not settings.get("REDIS_URL"):
        return crawl_name(settings)
    from semcrawl.frontier.redis import crawl

    return crawl.admit_harvest(settings, folder, seeds)


def drop_crawl(settings: BaseSettings, name: str) -> int:
    """Delete the frontier of a crawl on the servers of ``REDIS_URL``; return the number of keys.

    No worker may be at work. Raises ``FrontierUnavailable`` and ``UsageError``.
    """
    from semcrawl.frontier.redis.crawl import CrawlServers

    return CrawlServers.of(settings).drop(name)


def admit_worker(settings: BaseSettings, folder: Path, seeds: Sequence[str], scope: str) -> None:
    """Admit a spider to its crawl on a Redis; raise as :func:`admit_harvest` does.

    With an empty ``scope`` it takes the crawl's.
    """
    if settings.get("REDIS_URL"):
        from semcrawl.frontier.redis import crawl

        crawl.admit_worker(settings, folder, seeds, scope)


def check_backend(settings: BaseSettings, folder: Path) -> None:
    """Check that the frontier of a job can be opened: its server answers, or its file is ready.

    Raises ``FrontierUnavailable`` when a server of ``REDIS_URL`` does not answer, ``UsageError``
    for shards without a server, or for a folder of a former version.
    """
    if settings.get("REDIS_URL"):
        from semcrawl.frontier.redis.crawl import CrawlServers

        CrawlServers.of(settings).check()
    elif (shards := Values(settings)["SEMCRAWL_FRONTIER_SHARDS"]) > 1:
        raise UsageError(
            f"a frontier in {shards} shards (SEMCRAWL_FRONTIER_SHARDS) needs Redis servers:"
            " name them by -s REDIS_URL=redis://a,b,c"
        )
    else:
        file = frontier_file(folder)
        if file.is_file() and not file.stat().st_size and (folder / "crawl.db").is_file():
            raise FrontierCorrupt(f"the frontier {file} is empty: `semcrawl check {folder}`")
        _refuse_former(folder, file)


def _refuse_former(folder: Path, file: Path) -> None:
    """Raise ``UsageError`` for a folder whose frontier is on a Redis of its own."""
    former = folder / "frontier"
    if not file.exists() and (former / "redis.lock").is_file():
        raise UsageError(
            f"the frontier in {former} is one of an embedded Redis: semcrawl 0.2.0 reads it and"
            " makes frontier.db of it"
        )


def job_backend(settings: BaseSettings, folder: Path, options: FrontierOptions) -> Frontier:
    """Return the frontier of a job: on the servers of ``REDIS_URL``, else in the job's folder.

    It is not opened yet. Raises ``UsageError`` for a folder of a former version.
    """
    considerate = not settings.getbool("SEMCRAWL_LOOSEN_PACE")
    if settings.get("REDIS_URL"):
        return _on_servers(settings, crawl_name(settings), options, considerate=considerate)
    file = frontier_file(folder)
    _refuse_former(folder, file)
    return backends.SqliteFrontier(
        file,
        name=crawl_name(settings),
        worker_id=worker_name(),
        options=options,
        considerate=considerate,
    )


def _on_servers(
    settings: BaseSettings, name: str, options: FrontierOptions, **more: bool
) -> Frontier:
    """Return the frontier of a crawl on the servers of ``REDIS_URL``, with the crawl's shards.

    Raises ``UsageError`` if the crawl has another number of shards than the settings ask for.
    """
    from semcrawl.frontier.redis.crawl import CrawlServers

    servers = CrawlServers.of(settings)
    addresses = servers.addresses
    try:
        shards = servers.shards(name)
    except FrontierUnavailable:
        if len(addresses.urls) > 1 or addresses.cluster:
            raise
        shards = 1  # the opening of the frontier waits for its server
    worker = worker_name()
    if shards == 1:
        return backends.RedisFrontier(
            addresses.whole, prefix=name, worker_id=worker, options=options, **more
        )
    by_domain = settings.get("SEMCRAWL_PACE_BY", "domain") == "domain"
    return backends.ShardedFrontier(
        [addresses.of_shard(number) for number in range(shards)],
        prefix=name,
        worker_id=worker,
        options=options,
        host_key=domain_key if by_domain else netloc_of,
        **more,
    )


@asynccontextmanager
async def visited_frontier(
    settings: BaseSettings, job: Path | None, *, make: bool = False
) -> AsyncIterator[Frontier]:
    """Open the frontier of a job, or of the crawl that the settings name, as a guest.

    Without ``make`` it must exist, as its name may be misspelt. Raises ``UsageError`` if it does
    not, and as :meth:`Frontier.open` does.
    """
    frontier = _visited(settings, job, make=make)
    await frontier.open(make=make)
    try:
        yield frontier
    finally:
        await frontier.close()


def _visited(settings: BaseSettings, job: Path | None, *, make: bool) -> Frontier:
    """Find the frontier of a job or crawl."""
    name = crawl_name(settings)
    options = FrontierOptions(patience=5.0)
    own = JobName.read(job) if job is not None else None
    if settings.get("REDIS_URL") and (job is None or own is not None):
        name = settings.get("SEMCRAWL_CRAWL_NAME") or (own.crawl if own else name)
        try:
            return _on_servers(settings, name, options, guest=True)
        except ValueError as error:
            raise UsageError(f"SEMCRAWL_CRAWL_NAME: {error}") from None
    folder = job or job_path(settings)
    file = frontier_file(folder)
    _refuse_former(folder, file)
    if not holds_frontier(folder):
        if own is not None:
            raise UsageError(f"the frontier of {job} is on a Redis: give -s REDIS_URL=redis://…")
        if not make:
            raise UsageError(f"{existing_folder(folder)} holds no frontier")
    return backends.SqliteFrontier(
        file, name=name, worker_id=worker_name(), options=options, guest=True
    )
