"""What is known of a crawl at one time, as a JSON object.

Everything comes from what a crawl keeps anyway: its frontier, its records, the signs of its
workers and the orders of operators. The page, the metrics and ``semcrawl frontier --json`` print
the same object.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from redis.exceptions import RedisError
from scrapy.settings import BaseSettings
from sqlalchemy import Engine, func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from semcrawl.config.checks import START_URLS_KEY
from semcrawl.config.jobdir import ResultOptions
from semcrawl.config.targets import Targets
from semcrawl.crawl.standingorders import Orders, load_orders
from semcrawl.crawl.workersigns import Attempted, WorkerSign, workers_of
from semcrawl.errors import FrontierError, SemcrawlError, StoreError, UsageError
from semcrawl.frontier.backends import visited_frontier
from semcrawl.frontier.contract import QUEUES, Frontier, FrontierState, table_of
from semcrawl.frontier.workers import short_name
from semcrawl.metadata.database import CRAWL_DB, connect, one_line, readable_db_url
from semcrawl.metadata.records import Fetch
from semcrawl.metadata.summary import COLUMNS, PROBLEMS, Summary, Sums, is_guess, is_robots
from semcrawl.settings.reader import fill
from semcrawl.spiders.seeds import seed_list
from semcrawl.watch.steering import PAGE, obey
from semcrawl.web.hosts import domain_key
from semcrawl.web.vocabulary import TRIED_UNLINKED

#: rows of a view: hosts, groups, links in flight, and last attempts
MOST_HOSTS, _GROUPS, _IN_FLIGHT, _LAST = 10_000, 60, 60, 40
_SAID = 20
#: points of the curve
_POINTS = 300
#: seconds over which rates are measured, and for which a row that is not in order may come late
_RATE, _LATE = 30.0, 30.0
#: most characters of a text
_LONGEST = 300
#: what :attr:`CrawlView` tells of a host, in order
HOST_COLUMNS = (
    *("host", "requests", "targets", "errors", "quads"),
    *("waiting", "busy", "rests", "delay"),
)


class Records:
    """The records of a crawl, of which each call reads those that are new."""

    def __init__(self, url: str, targets: Targets, threshold: float) -> None:
        """Open the database; raises as :func:`connect` does."""
        self._engine: Engine = connect(url).execution_options(read_only=True)
        self._judged_by = targets, threshold
        self._begin()

    def _begin(self) -> None:
        self.sums = Sums(*self._judged_by)
        #: points (requests, targets) of the curve
        self.curve: list[tuple[int, int]] = []
        self._step = 1
        #: the last documents, and the last attempts that gave nothing for a fault
        self.documents: deque[Attempted] = deque(maxlen=_LAST)
        self.problems: deque[Attempted] = deque(maxlen=_LAST)
        #: rows from here on may be missing, and those that are not
        self._from = 0
        self._later: dict[int, float] = {}
        self._rows = 0

    def read(self) -> Summary:
        """Read what is new; return the sums. Raises ``StoreError``."""
        try:
            with Session(self._engine) as session:
                if not self._read(session):
                    rows = session.scalar(select(func.count()).select_from(Fetch)) or 0
                    if rows != self._rows:  # an attempt was repeated: it replaced its record
                        self._begin()
                        self._read(session)
        except SQLAlchemyError as error:
            raise StoreError(f"the records cannot be read: {one_line(error)}") from None
        return self.sums.summary()

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def _read(self, session: Session) -> int:
        """Read new rows; return how many."""
        now, before = time.monotonic(), self._rows
        more = (Fetch.id, Fetch.started_at, Fetch.elapsed, func.substr(Fetch.errors, 1, _LONGEST))
        query = select(*more, *COLUMNS).where(Fetch.id > self._from).order_by(Fetch.id)
        for number, started, elapsed, reason, *row in session.execute(query).yield_per(1000):
            if number in self._later:
                continue
            self._later[number] = now
            self._rows += 1
            self.sums.add(row)
            self._note(started + elapsed, reason, row)
        # databases with several writers number rows before they commit them
        settled = [n for n, at in self._later.items() if at < now - _LATE]
        settled += sorted(self._later.keys() - set(settled))[: -10 * _LAST]
        if settled:
            self._from = max(settled)
            self._later = {n: at for n, at in self._later.items() if n > self._from}
        return self._rows - before

    def _note(self, ended: float, reason: str, row: list[Any]) -> None:
        url, _, outcome, status, quads, _, rules, way, *_ = row
        if is_robots(url, outcome):
            return
        attempted = Attempted(ended, url[:_LONGEST], outcome, status, quads, reason)
        if outcome in PROBLEMS and not (is_guess(rules) or way in TRIED_UNLINKED):
            self.problems.appendleft(attempted)
        elif outcome.startswith("fetched"):
            self.documents.appendleft(attempted)
        requests = self.sums.requests
        if not self.curve or requests >= self.curve[-1][0] + self._step:
            self.curve.append((requests, self.sums.targets))
            if len(self.curve) > 2 * _POINTS:
                self.curve = self.curve[1::2]
                self._step *= 2


class CrawlView:
    """Looks at a crawl in a folder or on a Redis, whether it runs or has ended."""

    def __init__(
        self,
        settings: BaseSettings,
        folder: Path | None,
        *,
        targets: Targets | None = None,
        threshold: float = 0.0,
        begins: bool = False,
    ) -> None:
        """``targets`` and ``threshold``: what the crawl looks for, as its records do not say it.

        If the crawl only ``begins``, its frontier may be missing at first.
        """
        self._begins = begins
        self._settings = settings
        self._folder = folder
        self._judged_by = targets or Targets(), threshold
        self._stack = AsyncExitStack()
        self._frontier: Frontier | None = None
        self._records: Records | None = None
        self._rates: deque[tuple[float, int, int]] = deque()
        #: the last view
        self.last: dict[str, Any] = {"state": "starting", "error": ""}

    async def look(self) -> dict[str, Any]:
        """Return the view of now.

        If the frontier or the records cannot be read, it is the last view, with the reason as its
        ``error``.
        """
        try:
            self.last = await self._look()
            self._begins = False
        except (SemcrawlError, RedisError, OSError) as error:
            await self._leave()
            why = "" if self._begins and isinstance(error, UsageError) else one_line(error)
            self.last = {**self.last, "error": why, "at": time.time()}
        return self.last

    async def close(self) -> None:
        """Leave the crawl."""
        await self._leave()
        if self._records is not None:
            self._records.close()

    async def frontier(self) -> Frontier:
        """Return the frontier, opened as a guest; raise ``FrontierError`` or ``UsageError``."""
        if self._frontier is None:
            visit = visited_frontier(self._settings, self._folder)
            self._frontier = await self._stack.enter_async_context(visit)
        return self._frontier

    async def give(self, words: Sequence[str]) -> Orders:
        """Give an order; raises as :func:`~semcrawl.watch.steering.obey` does."""
        return await obey(await self.frontier(), self._settings, words, PAGE)

    async def _leave(self) -> None:
        self._frontier = None
        stack, self._stack = self._stack, AsyncExitStack()
        with suppress(FrontierError, RedisError):  # it is away
            await stack.aclose()

    async def _look(self) -> dict[str, Any]:
        frontier = await self.frontier()
        pattern = self._settings.get("REDIS_START_URLS_KEY") or START_URLS_KEY
        lists = list(dict.fromkeys(seed_list(pattern, spider) for spider in QUEUES))
        state = await frontier.inspector.state(_GROUPS, lists)
        paces = await table_of(frontier.inspector, "pace")
        workers = await workers_of(frontier)
        orders = await load_orders(frontier)
        by_domain = await frontier.shared.get("pace-by") == b"domain"
        summary = await asyncio.to_thread(self._sums)
        signs = [sign for sign in workers.values() if sign is not None]
        totals = _totals(summary, signs)
        hosts = _hosts(state, summary, paces, by_domain=by_domain)
        rates = self._rate(state.done, totals["targets"])
        waiting = state.counts.waiting + state.counts.leased
        per_second = rates["done"]
        return {
            "crawl": frontier.name,
            "folder": str(self._folder or ""),
            "at": time.time(),
            "error": "",
            "state": ("paused" if orders.paused else "running") if workers else "ended",
            "orders": orders.lines(),
            "said": [asdict(said) for said in reversed(orders.said[-_SAID:])],
            "began": state.created,
            **_sizes(state),
            "totals": totals,
            "outcomes": {} if summary is None else summary.outcomes,
            "rates": rates,
            "seconds_left": waiting / per_second if workers and per_second else None,
            "workers": [_worker(name, sign) for name, sign in sorted(workers.items())],
            "in_flight": _in_flight(state),
            "groups": [asdict(group) for group in state.groups],
            "host_columns": HOST_COLUMNS,
            "hosts": heapq.nlargest(MOST_HOSTS, hosts, key=lambda row: (row[1] + row[5], row[0])),
            "more_hosts": max(0, len(hosts) - MOST_HOSTS),
            "curve": self._curve(totals),
            **self._last(signs),
        }

    def _sums(self) -> Summary | None:
        """Read the records, if there are any."""
        if self._records is None:
            url = fill(ResultOptions, self._settings).metadata_url
            if not url:
                if self._folder is None or not (self._folder / CRAWL_DB).is_file():
                    return None
                url = readable_db_url(self._folder)
            self._records = Records(url, *self._judged_by)
        return self._records.read()

    def _rate(self, done: int, targets: int) -> dict[str, float | None]:
        """Return links done and targets found per second, over the last half minute."""
        now = time.monotonic()
        self._rates.append((now, done, targets))
        while len(self._rates) > 2 and self._rates[1][0] < now - _RATE:
            self._rates.popleft()
        then, done_then, targets_then = self._rates[0]
        if now - then < 0.5:
            return {"done": None, "targets": None}
        seconds = now - then
        return {
            "done": max(0, done - done_then) / seconds,
            "targets": max(0, targets - targets_then) / seconds,
        }

    def _curve(self, totals: Mapping[str, Any]) -> list[tuple[int, int]]:
        """Return points (requests, targets); without records, only the last."""
        known = [] if self._records is None else self._records.curve
        every = -(-len(known) // _POINTS)
        return [*known[:: max(1, every)], (totals["requests"], totals["targets"])]

    def _last(self, signs: Iterable[WorkerSign]) -> dict[str, list[dict[str, Any]]]:
        """Return the last documents and problems, from the records or the workers' signs."""
        if self._records is not None:
            documents, problems = list(self._records.documents), list(self._records.problems)
        else:
            told = sorted((one for sign in signs for one in sign.last), key=lambda one: -one.at)
            documents = [one for one in told if one.outcome.startswith("fetched")]
            problems = [one for one in told if one.outcome in PROBLEMS]
        return {
            "documents": [asdict(one) for one in documents],
            "problems": [asdict(one) for one in problems],
        }


def _sizes(state: FrontierState) -> dict[str, Any]:
    counts = state.counts
    return {
        "waiting": counts.waiting,
        "leased": counts.leased,
        "seeds": counts.seeds,
        "seen": counts.seen,
        "done": state.done,
        "failed": state.failed,
        "expired": state.expired,
        "dropped": counts.dropped,
        "withheld": state.withheld,
        "left_out": state.left_out,
        "labels": dict(counts.waiting_by_label),
    }


def _totals(summary: Summary | None, signs: Iterable[WorkerSign]) -> dict[str, Any]:
    """Return the sums of the records; without records, of the workers that run."""
    names = (
        *("requests", "rdf_documents", "html_documents", "targets", "quads", "embedded_quads"),
        *("errors", "bytes"),
    )
    if summary is None:
        each = [{**asdict(sign), "bytes": sign.received} for sign in signs]
        totals = {name: sum(one[name] for one in each) for name in names}
    else:
        errors = sum(host.errors for host in summary.hosts.values())
        totals = {name: getattr(summary, name) for name in names if name != "errors"}
        totals["errors"] = errors
    requests = totals["requests"]
    totals["harvest_rate"] = totals["targets"] / requests if requests else 0.0
    totals["recorded"] = summary is not None
    return totals


def _worker(name: str, sign: WorkerSign | None) -> dict[str, Any]:
    told: dict[str, Any] = {} if sign is None else asdict(sign)
    silent = None if sign is None else max(0.0, time.time() - sign.at)
    told.pop("last", None)
    return {"name": short_name(name), "silent": silent, **told}


def _in_flight(state: FrontierState) -> list[dict[str, Any]]:
    return [
        {
            "url": lease.link.entry.url[:_LONGEST],
            "worker": short_name(lease.worker) if lease.worker else "",
            "tries": lease.link.tries,
            "label": lease.link.entry.label,
        }
        for lease in state.leases[:_IN_FLIGHT]
    ]


def _hosts(
    state: FrontierState,
    summary: Summary | None,
    paces: Mapping[str, tuple[float, int]],
    *,
    by_domain: bool,
) -> list[list[Any]]:
    """Return a row for each host, or pay-level domain if these have one pace; see HOST_COLUMNS."""
    done: Counter[tuple[str, str]] = Counter()
    names: dict[str, None] = {}
    for netloc, host in summary.hosts.items() if summary is not None else ():
        name = domain_key(f"http://{netloc}/") if by_domain else netloc
        names[name] = None
        for column in ("requests", "targets", "errors", "quads"):
            done[name, column] += getattr(host, column)
    waiting: Counter[str] = Counter()
    paced: dict[str, tuple[int, float]] = {}
    for each in state.hosts:
        names[each.host] = None
        waiting[each.host] += each.waiting
        paced[each.host] = each.busy, round(each.cooling, 1)
    return [
        [
            name,
            *(done[name, column] for column in ("requests", "targets", "errors", "quads")),
            waiting[name],
            *paced.get(name, (0, 0.0)),
            paces[name][0] if name in paces else None,
        ]
        for name in names
    ]
