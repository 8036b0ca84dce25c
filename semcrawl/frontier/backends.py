"""The backends of the frontier: which one a crawl has, and how it is opened.

The one place beside this package's own modules that knows them. Callers get contracts
(:mod:`semcrawl.frontier.contract`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.errors import UsageError
from semcrawl.frontier.contract import Frontier, ManagedFrontier
from semcrawl.frontier.local.server import EmbeddedRedis
from semcrawl.frontier.options import FrontierOptions
from semcrawl.frontier.redis import admission
from semcrawl.frontier.redis.admission import admit_worker, crawl_name, reached
from semcrawl.frontier.redis.charter import JobName
from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.frontier.redis.keys import Keys
from semcrawl.frontier.sqlite.frontier import SqliteFrontier
from semcrawl.frontier.workers import worker_name

__all__ = [
    "FRONTIER_FILES",
    "OpenedBackend",
    "admit_harvest",
    "admit_worker",
    "check_backend",
    "check_crawl_name",
    "job_backend",
    "visited_frontier",
]

#: file of the frontier on SQLite in a job folder
_SQLITE_FILE = "frontier.db"
#: file by which one knows the folder of an embedded Redis
_REDIS_FILE = "frontier/redis.lock"
#: files of which a job folder with a frontier has one
FRONTIER_FILES = (_REDIS_FILE, _SQLITE_FILE)
_KINDS = ("redis", "sqlite")
#: what ``-s`` and the like say has a higher priority
_SAID = 20


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


def _kind(settings: BaseSettings, folder: Path | None = None, *, served: bool = True) -> str:
    """Return the kind of frontier that a job has: ``redis`` or ``sqlite``.

    A folder goes on with the one that it holds, unless a server of ``REDIS_URL`` has its frontier
    (not ``served``: it has not). Raises ``UsageError`` where a setting wants another.
    """
    kind = str(settings.get("SEMCRAWL_FRONTIER") or _KINDS[0])
    if kind not in _KINDS:
        raise UsageError(f"SEMCRAWL_FRONTIER must be redis or sqlite, not {kind!r}")
    if served and settings.get("REDIS_URL"):
        if kind == "sqlite":
            raise UsageError("SEMCRAWL_FRONTIER is sqlite, but REDIS_URL is set: leave one out")
        return kind
    if folder is None:
        return kind
    held = [kind for kind, name in zip(_KINDS, FRONTIER_FILES, strict=True) if _is(folder, name)]
    if not held or kind in held:
        return kind
    if (settings.getpriority("SEMCRAWL_FRONTIER") or 0) > _SAID:
        raise UsageError(
            f"the frontier in {folder} is one of SEMCRAWL_FRONTIER={held[0]}: go on with that, or"
            " take it over by semcrawl frontier --export and --import"
        )
    return held[0]


def _is(folder: Path, name: str) -> bool:
    return (folder / name).is_file()


def admit_harvest(settings: BaseSettings, folder: Path, seeds: Sequence[str]) -> str:
    """Take a harvest into its crawl; see :func:`admission.admit_harvest`, which it raises as."""
    _kind(settings, folder)
    return admission.admit_harvest(settings, folder, seeds)


def frontier_place(settings: BaseSettings, folder: Path) -> Path:
    """Return where the frontier of a job lies in its folder."""
    return folder / (_SQLITE_FILE if _kind(settings, folder) == "sqlite" else "frontier")


def check_backend(settings: BaseSettings) -> None:
    """Raise ``FrontierUnavailable`` when the server of ``REDIS_URL`` cannot be asked."""
    _kind(settings)
    if url := settings.get("REDIS_URL"):
        with reached(str(url)):
            pass


def job_backend(settings: BaseSettings, folder: Path, options: FrontierOptions) -> OpenedBackend:
    """Return the frontier of a job: on the server of ``REDIS_URL``, else in the job's folder.

    Raises ``FrontierUnavailable`` where the folder's own server cannot be started.
    """
    considerate = not settings.getbool("SEMCRAWL_LOOSEN_PACE")
    if _kind(settings, folder) == "sqlite":
        return OpenedBackend(
            SqliteFrontier(
                folder / _SQLITE_FILE,
                name=crawl_name(settings),
                worker_id=worker_name(),
                options=options,
                considerate=considerate,
            )
        )
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
        considerate=considerate,
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
        frontier = _visited(settings, job, servers, make=make)
        await frontier.open(make=make)
        try:
            yield frontier
        finally:
            await frontier.close()


def _visited(
    settings: BaseSettings, job: Path | None, servers: ExitStack, *, make: bool
) -> ManagedFrontier:
    """Find the frontier of a job or crawl; a server that it needs is entered into ``servers``."""
    address: str | Path
    prefix = crawl_name(settings)
    options = FrontierOptions(patience=5.0)
    own = JobName.read(job) if job is not None else None
    if (url := settings.get("REDIS_URL")) and (job is None or own is not None):
        address = str(url)
        prefix = settings.get("SEMCRAWL_CRAWL_NAME") or (own.crawl if own else prefix)
    else:
        folder = job or Path(settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR") or ".")
        if own is not None and not any(_is(folder, name) for name in FRONTIER_FILES):
            raise UsageError(f"the frontier of {job} is on a Redis: give -s REDIS_URL=redis://…")
        if not any(_is(folder, name) for name in FRONTIER_FILES) and not make:
            raise UsageError(f"{folder} holds no frontier")
        if _kind(settings, folder, served=False) == "sqlite":
            return SqliteFrontier(
                folder / _SQLITE_FILE,
                name=prefix,
                worker_id=worker_name(),
                options=options,
                guest=True,
            )
        address = servers.enter_context(EmbeddedRedis(folder / "frontier")).socket
    try:
        return RedisFrontier(
            address, prefix=prefix, worker_id=worker_name(), options=options, guest=True
        )
    except ValueError as error:
        raise UsageError(f"SEMCRAWL_CRAWL_NAME: {error}") from None
