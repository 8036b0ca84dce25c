"""Hosts that are down, in a SQLite file."""

from __future__ import annotations

from math import isfinite

from semcrawl.frontier.contract import Rest, WaitingLink
from semcrawl.frontier.contract.pace import micros
from semcrawl.frontier.linkblob import text
from semcrawl.frontier.sqlite.availability import STOOD_STILL, cool, pace, rest_until
from semcrawl.frontier.sqlite.links import label_of, read_link, refile
from semcrawl.frontier.sqlite.ordering import file_availability, file_turn
from semcrawl.frontier.sqlite.taking import keep_aside
from semcrawl.frontier.sqlite.transaction import Transaction, encoded
from semcrawl.frontier.sqlite.writer import Store

#: links set aside per call
_SET_ASIDE_AT_ONCE = 1000


class SqliteOutages:
    """Hosts that are down (:class:`~semcrawl.frontier.contract.Outages`)."""

    def __init__(self, store: Store, max_failed: int) -> None:
        self._store = store
        self._max_failed = max_failed

    async def falter(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down or its probe failed."""
        limits = [micros(s) if isfinite(s) else -1 for s in (patience, untried_patience)]
        return await self._store.run(
            lambda t: _falter(t, host, why, micros(step), limits[0], limits[1])
        )

    async def recover(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; return the remaining rest and the time it was down."""
        return await self._store.run(lambda t: _recover(t, host, micros(step), good))

    async def good(self, host: str) -> str:
        """Return a URL that a host served in any run; empty if none."""
        row = await self._store.row("SELECT good FROM host WHERE name = ?", encoded(host))
        return text(row[0] or b"") if row else ""

    async def note_dead(self) -> None:
        """Count a host as dead."""
        await self._store.run(lambda t: t.count("dead"))

    async def why(self, host: str) -> str:
        """Return why a host is down, in one word; empty if it is not."""
        sql = "SELECT why FROM host WHERE name = ? AND since IS NOT NULL"
        row = await self._store.row(sql, encoded(host))
        return str(row[0] or "") if row else ""

    async def set_aside(self, host: str) -> list[WaitingLink]:
        """Move all waiting links of a host to the failed ones; return them."""
        links: list[WaitingLink] = []
        while True:
            found = await self._store.run(lambda t: _set_aside(t, host, self._max_failed))
            links += found
            if len(found) < _SET_ASIDE_AT_ONCE:
                return links


def _falter(
    t: Transaction, name: str, why: str, step: int, patience: int, untried_patience: int
) -> Rest:
    host = t.host_named(name)
    good = text(host.good or b"")
    longest = untried_patience if host.good is None else patience
    since, till, rest = host.since, host.till or t.now, host.pause or 0
    if since is not None and t.now < till:
        seconds = (till - t.now) / 1e6
        return Rest(False, seconds, (t.now - since) / 1e6, host.why or "", good)
    if since is None:
        since, till, host.why = t.now, t.now, why
        rest = host.rests or 0
    elif t.now - till > STOOD_STILL:
        # the crawl stood still, or no link was left to probe with: that time does not count
        since += t.now - till
    if longest < 0:
        since = t.now
    rest += step
    over = 0 <= longest <= t.now - since
    till = t.now + rest
    if not over and longest >= 0:
        till = min(till, since + longest)
    host.since, host.till, host.pause = since, till, rest
    t.touch(host)
    rest_until(t, host, till)
    cool(t, host, host.cooling or 0)
    file_availability(t, host.id)
    return Rest(over, (till - t.now) / 1e6, (t.now - since) / 1e6, host.why or "", good)


def _recover(t: Transaction, name: str, step: int, good: str) -> tuple[float, float]:
    host = t.host_named(name)
    if host.good is None and good:
        host.good = encoded(good)
        t.touch(host)
        if t.totals["dead"] > 1:
            file_turn(t, host.id)  # an untried host came last
    since, till = host.since, host.till
    left = max((host.rests or 0 if since is None else host.pause or 0) - step, 0)
    if left != (host.rests or 0):
        host.rests = left or None
        t.touch(host)
    if since is None:
        return left / 1e6, 0.0
    host.since = host.till = host.pause = host.why = None
    if host.rest == till:
        host.rest = None
    if host.cooling is not None and host.cooling == till:
        cool(t, host, t.now + pace(t, host)[0])
    t.touch(host)
    file_availability(t, host.id)
    return left / 1e6, (t.now - since) / 1e6


def _set_aside(t: Transaction, name: str, most: int) -> list[WaitingLink]:
    """Move waiting and delayed links of a host to the failed ones; return them."""
    host = t.host_id(name)
    gone: list[WaitingLink] = []

    def keep(seq: int, queue: int) -> None:
        gone.append(read_link(t, seq))
        t.label(queue, label_of(t, seq)[1], -1)
        keep_aside(t, seq, queue, most)

    parts = t.execute(
        "SELECT id, queue FROM part WHERE host = ? AND state != 0 ORDER BY id", (host,)
    ).fetchall()
    for part, queue in parts:
        seqs = t.execute(
            "SELECT seq FROM link WHERE part = ? AND state = 0 ORDER BY key, seq LIMIT ?",
            (part, _SET_ASIDE_AT_ONCE - len(gone)),
        ).fetchall()
        for (seq,) in seqs:
            keep(seq, queue)
        t.waiting(queue, host, -len(seqs))
        refile(t, part)
    delayed = t.execute(
        "SELECT id, seq, queue FROM delayed WHERE host = ? LIMIT ?",
        (host, _SET_ASIDE_AT_ONCE - len(gone)),
    ).fetchall()
    for number, seq, queue in delayed:
        t.execute("DELETE FROM delayed WHERE id = ?", (number,))
        keep(seq, queue)
    t.count("failed", len(gone))
    return gone
