"""Harvests the cloud as users do, by one process or by several, and measures it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import redis
from harvest.runs import NO_GUESSES, Run, Started, start, start_harvest
from rdflib import Dataset, Graph, URIRef
from rdflib.compare import isomorphic

from hostile.cloud.build import build
from hostile.cloud.model import DEFAULT_DELAY, Cloud
from hostile.cloud.truth import Truth, best_crawl
from hostile.measures import wait
from hostile.server import Asked, WebServer
from semcrawl.frontier.redis.localserver import RedisServer

#: seconds that a gap may be shorter at the server: what one request takes longer than the next
#: on a busy machine
JITTER = 0.03
#: most that a crawl may take, in times of what politeness forces
MOST_TIME = 1.1
#: seconds until a crawl counts as hanging; of silence until several workers are done
LIMIT, QUIET = 150.0, 6.0


@dataclass
class Measured:
    """The measurements."""

    truth: Truth
    #: triples in the results, those of them that are true, and those that there were to have
    had: int = 0
    right: int = 0
    wanted: int = 0
    #: graphs that are not as they should be
    wrong_graphs: list[str] = field(default_factory=list)
    #: requests against the rules of a host, or out of scope
    disallowed: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    #: gaps between requests to a host, and those that are too short
    gaps: int = 0
    short: list[str] = field(default_factory=list)
    #: requests, and seconds from the first to the last
    requests: int = 0
    seconds: float = 0.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted

    @property
    def precision(self) -> float:
        return self.right / self.had if self.had else 0.0

    @property
    def ratio(self) -> float:
        """How much longer it took than politeness forces."""
        return self.seconds / self.truth.forced

    def broken(self) -> list[str]:
        """Say which bounds do not hold."""
        found = []
        if self.wrong_graphs:
            found.append(
                f"recall {self.recall:.4f}, precision {self.precision:.4f}: {self.wrong_graphs[:5]}"
            )
        if self.disallowed:
            found.append(f"{len(self.disallowed)} disallowed: {self.disallowed[:5]}")
        if self.outside:
            found.append(f"{len(self.outside)} out of scope: {self.outside[:5]}")
        if self.short:
            found.append(f"{len(self.short)} of {self.gaps} gaps too short: {self.short[:5]}")
        if self.ratio > MOST_TIME:
            found.append(
                f"{self.seconds:.1f} s, {self.ratio:.2f} times the forced {self.truth.forced:.1f} s"
            )
        return found


def by_one_worker(folder: Path) -> Measured:
    """Harvest with ``semcrawl harvest``."""
    cloud = build()
    truth = best_crawl(cloud)
    with WebServer(cloud.nodes) as server:
        started = start_harvest(
            cloud.start,
            *("--scope", ",".join(sorted(cloud.scope))),
            *("-s", f"SEMCRAWL_CRAWL_DELAY={DEFAULT_DELAY}"),
            folder=folder / "out",
            proxy=server.proxy,
        )
        run = _end([started], server)[0]
        return _measure(cloud, truth, [run], server.log)


def by_two_workers(folder: Path) -> Measured:
    """Crawl with two processes for pages and one for RDF, on one Redis, as docs/workers.md says."""
    cloud = build()
    truth = best_crawl(cloud)
    with RedisServer(folder / "redis") as store, WebServer(cloud.nodes) as server:
        workers = [
            start(
                *("crawl", spider, "-a", f"scope={','.join(sorted(cloud.scope))}", *NO_GUESSES),
                *("-s", f"SEMCRAWL_CRAWL_DELAY={DEFAULT_DELAY}", "-s", "SEMCRAWL_CRAWL_NAME=cloud"),
                *("-s", f"SEMCRAWL_JOBDIR={folder / f'worker-{number}'}"),
                *("--logfile", str(folder / f"worker-{number}.log")),
                folder=folder / f"worker-{number}",
                proxy=server.proxy,
                REDIS_URL=f"unix://{store.socket}",
            )
            for number, spider in enumerate(("html", "html", "rdf"))
        ]
        client = redis.Redis(unix_socket_path=str(store.socket))
        client.lpush("html:start_urls", cloud.start)
        client.close()
        runs = _end(workers, server, QUIET)
        return _measure(cloud, truth, runs, server.log)


def _end(workers: list[Started], server: WebServer, quiet: float = LIMIT) -> list[Run]:
    """Wait until all have ended, or interrupt them when nothing is asked for any more."""

    def over() -> bool:
        if all(worker.process.poll() is not None for worker in workers):
            return True
        return bool(server.log) and time.monotonic() - server.log[-1].time > quiet

    wait(over, LIMIT, every=0.25)
    for worker in workers:
        if worker.process.poll() is None:
            worker.interrupt()
    return [worker.wait() for worker in workers]


def _measure(cloud: Cloud, truth: Truth, runs: list[Run], log: list[Asked]) -> Measured:
    measured = Measured(truth, requests=len(log))
    for run in runs:
        run.is_calm()
    for name, wanted in (("quads.nq", truth.documents), ("embedded.nq", truth.embedded)):
        _compare(_read([run.folder / name for run in runs]), wanted, measured)
    times: dict[str, list[Asked]] = {}
    for asked in log:
        times.setdefault(asked.host, []).append(asked)
        if asked.host not in cloud.nodes:
            measured.outside.append(asked.host + asked.path)
        elif cloud.nodes[asked.host].forbids(asked.path):
            measured.disallowed.append(asked.host + asked.path)
    for host in times.keys() & cloud.nodes.keys():
        node = cloud.nodes[host]
        for earlier, later in zip(times[host], times[host][1:], strict=False):
            measured.gaps += 1
            gap, needed = later.time - earlier.time, node.needed_gap(earlier.path, later.path)
            if gap < needed - JITTER:
                measured.short.append(f"{host}{later.path} {gap:.3f} s instead of {needed} s")
    measured.seconds = log[-1].time - log[0].time if log else 0.0
    return measured


def _read(files: list[Path]) -> Dataset:
    """Read results with rdflib."""
    found = Dataset()
    for file in files:
        if file.exists():
            found.parse(file, format="nquads")
    return found


def _compare(found: Dataset, wanted: Dataset, measured: Measured) -> None:
    """Compare graph by graph, blank nodes by what is said of them."""
    names = {graph.identifier for dataset in (found, wanted) for graph in _named(dataset)}
    for name in sorted(names):
        had, true = found.graph(name), wanted.graph(name)
        measured.had += len(had)
        measured.wanted += len(true)
        if len(had) == len(true) and isomorphic(_plain(had), _plain(true)):
            measured.right += len(true)
        else:
            measured.right += len(set(had) & set(true))
            measured.wrong_graphs.append(f"{name} ({len(had)} of {len(true)})")


def _named(dataset: Dataset) -> list[Graph]:
    return [g for g in dataset.graphs() if isinstance(g.identifier, URIRef) and len(g)]


def _plain(graph: Graph) -> Graph:
    plain = Graph()
    for triple in graph:
        plain.add(triple)
    return plain
