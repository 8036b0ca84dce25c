"""Runs a harvest in a world of good and bad hosts as a user runs it, and measures it."""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from harvest.runs import Run, Started, address, start_harvest

from hostile import good
from hostile.measures import Memory, gaps, wait
from hostile.server import Asked, WebServer
from semcrawl.lab.demo.model import Handler
from semcrawl.web.hosts import host_of

#: seconds between two requests to a host: shorter than by default, so that tests are short
DELAY = 0.5
#: the default, for worlds whose bad hosts cost a fixed time that a short crawl cannot hide
DEFAULT_DELAY = 1.0
#: most that a world may need of each, at default settings
LONGEST_STALL = 5.0
MOST_MEMORY = 600e6
MOST_TIME = 1.5
#: seconds until a world counts as hanging, and until it must end when it is told to
LIMIT, END = 90.0, 10.0
#: requests of each worker that may be under way when a crawl is interrupted
IN_FLIGHT = 16


@dataclass(frozen=True)
class World:
    """Bad hosts beside the good ones."""

    name: str
    #: what is wrong there, for the table
    about: str
    #: bad hosts
    handlers: Mapping[str, Handler]
    #: hosts (perhaps with a scheme) and paths that the crawl begins with, before the good hosts
    seeds: Sequence[tuple[str, str]]
    #: outcomes that fit, by a pattern of ``host/path``
    fits: Mapping[str, set[str]]
    #: documents on bad hosts that are sound, as ``host/path``, with their quads
    sound: Mapping[str, int] = field(default_factory=dict)
    #: whether the crawl ends by itself soon after the good documents
    ends: bool = False
    #: whether hosts have addresses of their own and are asked without a proxy
    direct: bool = False
    #: addresses of hosts, endings of names that nobody answers for, seconds to learn of no name
    addresses: Mapping[str, str] = field(default_factory=dict)
    silent: Mapping[str, float] = field(default_factory=dict)
    lookup: float = 0.05
    #: seconds between two requests to a host
    delay: float = DELAY
    #: settings of this world
    options: Sequence[str] = ()
    #: what happens while the crawl runs
    during: Callable[[WebServer], Awaitable[None]] | None = None
    #: makes the folder ready before the crawl
    prepare: Callable[[Path, WebServer], None] | None = None
    #: what else must hold; returns what does not
    also: Callable[[Run, WebServer], list[str]] | None = None
    #: seconds for which the world itself keeps the good hosts from answering
    away: float = 0.0


@dataclass
class Figures:
    """The measurements."""

    world: World
    had: int = 0
    documents: int = 0
    stall: float = 0.0
    seconds: float = 0.0
    alone: float = 0.0
    memory: int = 0
    records: int = 0
    #: requests without their one record, and records that do not fit
    unfitting: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """How much longer the good documents took beside the bad hosts."""
        return max(0.0, self.seconds - self.world.away) / self.alone if self.alone else 0.0

    def broken(self) -> list[str]:
        """Say which bounds do not hold."""
        found = []
        if self.had < self.documents:
            found.append(f"{self.had} of {self.documents} good documents")
        if self.memory > MOST_MEMORY:
            found.append(f"{self.memory / 1e6:.0f} MB")
        return [*found, *self.unfitting[:5], *self.others, *self.late()]

    def late(self) -> list[str]:
        """Say which bounds of time do not hold."""
        found = []
        if self.stall > LONGEST_STALL + self.world.away:
            found.append(f"good hosts stood still for {self.stall:.1f} s")
        if self.ratio > MOST_TIME:
            found.append(f"{self.seconds:.1f} s, {self.ratio:.2f} times {self.alone:.1f} s")
        return found


def good_seeds() -> list[tuple[str, str]]:
    return [(good.host(number), "/") for number in range(good.HOSTS)]


@cache
def seconds_alone(direct: bool, delay: float) -> float:
    """Seconds that the good documents take when there is nothing else."""
    nothing = World("alone", "", {}, [], {}, ends=True, direct=direct, delay=delay)
    with tempfile.TemporaryDirectory() as folder:
        return measure(nothing, Path(folder)).seconds


def measure(world: World, folder: Path, *, limit: float = LIMIT) -> Figures:
    """Harvest a world with its results in ``folder``."""
    handlers = {**good.handlers(), **world.handlers}
    names = {"addresses": world.addresses, "silent": world.silent, "lookup": world.lookup}
    with WebServer(handlers, direct=world.direct, **names) as server:
        if world.prepare:
            world.prepare(folder, server)
        seeds = [server.url(host, path) for host, path in (*world.seeds, *good_seeds())]
        (folder / "seeds.txt").write_text("\n".join(seeds))
        options = ["-s", f"SEMCRAWL_CRAWL_DELAY={world.delay}", *world.options]
        if world.direct:
            options += ["-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=True"]
        started = start_harvest(
            f"@{folder / 'seeds.txt'}",
            *options,
            folder=folder / "out",
            proxy=server.proxy,
            **server.environment(folder),
        )
        with Memory(started.process.pid) as memory:
            if world.during:
                server.run(world.during(server))
            wanted = _wanted(world, server)
            _await_end(started, world, wanted, limit)
            ended = time.monotonic()
            run = _end(started)
        figures = _figures(world, run, server, wanted, ended)
    figures.memory = memory.peak
    if world.name != "alone":
        figures.alone = seconds_alone(world.direct, world.delay)
    return figures


def _wanted(world: World, server: WebServer) -> dict[str, int]:
    """URLs of the sound documents, with their numbers of quads."""
    wanted = {
        server.url(good.host(number), path): good.QUADS
        for number in range(good.HOSTS)
        for path in good.paths()
    }
    for place, quads in world.sound.items():
        host, slash, path = place.partition("/")
        wanted[server.url(host, slash + path)] = quads
    return wanted


def _await_end(started: Started, world: World, wanted: Mapping[str, int], limit: float) -> None:
    """Wait until the crawl has ended or, if it does not end, has what there is to have."""
    process = started.process

    def over() -> bool:
        if process.poll() is not None:
            return True
        return not world.ends and _had(started.folder) >= wanted.keys()

    wait(over, limit, every=0.25)


def _end(started: Started) -> Run:
    """End a crawl as users do, with Ctrl-C, and with a second one if that takes long."""
    process = started.process
    for _ in range(2):
        if process.poll() is None:
            started.interrupt()
            wait(lambda: process.poll() is not None, END)
    return started.wait()


def _had(folder: Path) -> set[str]:
    """URLs of the documents that have their record."""
    try:
        with closing(sqlite3.connect(f"file:{folder / 'crawl.db'}?mode=ro", uri=True)) as database:
            rows = database.execute("SELECT url FROM fetch WHERE outcome = 'fetched-rdf'")
            return {url for (url,) in rows}
    except sqlite3.Error:
        return set()


def _figures(
    world: World, run: Run, server: WebServer, wanted: Mapping[str, int], ended: float
) -> Figures:
    """Measure a crawl that had ended, or was then interrupted, at a second of the clock."""
    figures = Figures(world, documents=len(wanted))
    try:
        records, quads = run.records, run.quads
    except (sqlite3.Error, OSError) as error:
        figures.others.append(f"no results: {error}: {run.err}")
        return figures
    figures.records = len(records)
    lines = Counter(line.rpartition(" <")[2].removesuffix("> .\n") for line in quads)
    read = run.documents()
    figures.had = sum(read[url] == lines[url] == count for url, count in wanted.items())
    if "Traceback" in run.err + run.out:
        figures.others.append("a traceback on the terminal")
    log = list(server.log)
    port = server.port if world.direct else None
    if log:
        times = [log[0].time, *(asked.time for asked in log if asked.host in _GOOD)]
        if not all(read[url] for url in wanted if host_of(url) in _GOOD):
            times.append(ended)
        figures.stall = max(gaps(times), default=0.0)
        figures.seconds = max(times) - log[0].time
    figures.unfitting = _unfitting(world, run, records, log, port)
    if world.also:
        figures.others += world.also(run, server)
    return figures


_GOOD = good.handlers().keys()


def _unfitting(
    world: World, run: Run, records: list[dict], log: list[Asked], port: int | None
) -> list[str]:
    """Requests without one record each, and records whose outcome does not fit."""
    found = []
    sent = run.sent()
    asked = Counter(address(entry.url(port)) for entry in log if entry.method != "CONNECT")
    missing, surplus = asked - sent, sent - asked
    workers = 2 if "--workers" in world.options else 1
    if missing.total() > (0 if world.ends else IN_FLIGHT * workers):
        found.append(f"{missing.total()} requests without a record: {list(missing)[:3]}")
    # what never reached a server left no trace there
    lost = {address(r["url"]) for r in records if r["outcome"] in ("network-error", "timeout")}
    if surplus := {url: n for url, n in surplus.items() if url not in lost}:
        found.append(f"{len(surplus)} records without a request: {list(surplus)[:3]}")
    # of several patterns that hold the first counts
    fits = dict(world.fits)
    fits.setdefault("good*.example/*", {"fetched-rdf", "fetched-html"})
    for record in records:
        place = address(record["url"])
        if port:
            place = place.replace(f":{port}", "", 1)
        if place.endswith("/robots.txt") and "*/robots.txt" not in fits:
            continue
        wanted = [outcomes for pattern, outcomes in fits.items() if fnmatchcase(place, pattern)]
        if wanted and record["outcome"] not in wanted[0]:
            found.append(f"{place}: {record['outcome']} ({record['errors'][:80]})")
    return found
