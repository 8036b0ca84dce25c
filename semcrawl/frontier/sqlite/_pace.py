"""The pace of hosts and addresses in a SQLite file, and hosts that are down."""

from __future__ import annotations

from math import isfinite
from uuid import uuid4

from semcrawl.frontier.contract import (
    AT_ONCE,
    TURNS_OF_RANKS,
    AddressLimits,
    FrontierOptions,
    HostFacts,
    Lease,
    Rank,
    Rest,
    WaitingLink,
    checked_pace,
    checked_rest,
    micros,
)
from semcrawl.frontier.links import text
from semcrawl.frontier.sqlite.file import Store, Transaction, encoded
from semcrawl.frontier.sqlite.ordering import (
    STOOD_STILL,
    cool,
    file_availability,
    file_turn,
    label_of,
    pace,
    read_link,
    refile,
    rest_until,
)
from semcrawl.frontier.sqlite.taking import end_errand, keep_aside, lease, let_go, number_of, tick
from semcrawl.web.hosts import address_block


class SqlitePace:
    """The pace of hosts and addresses (:class:`~semcrawl.frontier.contract.Pace`).

    A request to an address counts as over after the lease time.
    """

    def __init__(self, store: Store, worker_id: str, options: FrontierOptions) -> None:
        self._store = store
        self._worker_id = worker_id
        self._max_failed = options.max_failed
        #: part of errands' names, unique to this run of the worker
        self._incarnation = uuid4().hex
        self._patience, self._poll = micros(options.lease_time), micros(options.poll)

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds) and concurrency."""
        gap = checked_pace(host, delay, concurrency)
        await self._store.run(lambda t: _set_pace(t, host, gap, concurrency, at_least=at_least))

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest."""
        time = checked_rest(seconds)

        def rest(t: Transaction) -> None:
            row = t.host_named(host)
            rest_until(t, row, t.now + time)
            cool(t, row, row.cooling or 0)
            file_availability(t, row.id)

        await self._store.run(rest)

    async def rank(self, host: str, rank: Rank) -> None:
        """Put a host before others, after them, or among them."""

        def set_rank(t: Transaction) -> None:
            row = t.host_named(host)
            row.turn = TURNS_OF_RANKS[rank] or None
            t.touch(row)
            file_turn(t, row.id)

        await self._store.run(set_rank)

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target."""

        def reward(t: Transaction) -> None:
            row = t.host_named(host)
            row.barren = 0 if target else row.barren + 1
            row.fetches += 1
            row.targets += int(target)
            t.touch(row)
            after = t.options["penalty_after"]
            if after > 0 and row.barren >= after:
                # after too many consecutive barren fetches the host rests (SWSE)
                row.barren = 0
                row.rest = t.now + t.options["penalty_time"]
                cool(t, row, row.cooling or 0)
                file_availability(t, row.id)

        await self._store.run(reward)

    async def errand(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return the seconds after which to ask again."""
        giver = number_of(instead_of.id) if instead_of is not None else -1
        wait = await self._store.run(lambda t: self._next(t, host, self._name(errand), giver))
        return None if wait is None else wait / 1e6

    async def errand_starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request starts now; return whether its turn still held."""
        name = self._name(errand)

        def starts(t: Transaction) -> bool:
            row = t.host_named(host)
            sql = "SELECT mark FROM errand WHERE host = ? AND name = ?"
            found = t.row(sql, row.id, name)
            if found is None or found[0] is None:
                return False
            if found[0] == 0:
                delay = pace(t, row)[0]
                t.execute(
                    "UPDATE errand SET mark = ?, void = ? WHERE host = ? AND name = ?",
                    (t.now if delay else 1, t.now + self._patience, row.id, name),
                )
                row.held = max(row.held - 1, 0)
                cool(t, row, t.now + delay)
                if not delay:
                    file_availability(t, row.id)
            return True

        return await self._store.run(starts)

    async def errand_over(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over."""
        name = self._name(errand)
        await self._store.run(lambda t: end_errand(t, t.host_id(host), name, sent=sent))

    def _name(self, errand: str) -> str:
        return f"{self._incarnation} {errand}"

    def _next(self, t: Transaction, host_name: str, name: str, giver: int) -> int | None:
        tick(t)
        host = t.host_named(host_name)
        found = t.row("SELECT mark FROM errand WHERE host = ? AND name = ?", host.id, name)
        if found is not None and found[0] is not None:
            return 0
        giving = lease(t, giver)
        if giving is not None and giving.host == host.id and giving.mark == 0:
            let_go(t, giving)
            return self._begin(t, host.id, name, waited=found is not None)
        delay, concurrency = pace(t, host)
        if delay == 0:
            if found is not None:
                end_errand(t, host.id, name, sent=True)
            return None
        if found is None:
            values = (host.id, name, self._worker_id, t.now + self._patience, t.count("takes"))
            t.execute("INSERT INTO errand VALUES (?, ?, ?, ?, NULL, ?)", values)
            host.busy += 1
            host.lined += 1
            t.touch(host)
        first = t.row(
            "SELECT name FROM errand WHERE host = ? AND mark IS NULL ORDER BY line LIMIT 1", host.id
        )
        free = host.cooling is None or host.cooling <= t.now
        if first is not None and first[0] == name and host.busy - host.lined < concurrency and free:
            return self._begin(t, host.id, name, waited=True)
        if found is None:
            file_availability(t, host.id)
        # it is unknown when held requests start, and when those in flight end
        unknown = host.held > 0 or free
        wait = self._poll if unknown else (host.cooling or 0) - t.now
        t.execute(
            "UPDATE errand SET void = ? WHERE host = ? AND name = ?",
            (t.now + wait + self._patience, host.id, name),
        )
        return wait

    def _begin(self, t: Transaction, host_id: int, name: str, *, waited: bool) -> int:
        host = t.host(host_id)
        t.execute(
            "INSERT INTO errand VALUES (?, ?, ?, ?, 0, NULL) ON CONFLICT DO UPDATE"
            " SET void = excluded.void, mark = 0, line = NULL",
            (host_id, name, self._worker_id, t.now + self._patience),
        )
        if waited:
            host.lined = max(host.lined - 1, 0)
        else:
            host.busy += 1
        host.held += 1
        cool(t, host, t.now + self._patience)
        file_availability(t, host_id)
        return 0

    async def address(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may send to its address now, else the seconds until its turn."""
        block = address_block(address)
        wait = await self._store.run(
            lambda t: self._turn(t, host, block, name, limits, rests=rests)
        )
        return wait / 1e6

    async def address_over(self, address: str, name: str) -> None:
        """Note that a request is over."""
        sql = "DELETE FROM under_way WHERE address = ? AND name = ?"
        await self._store.write(sql, address_block(address), name)

    def _turn(
        self,
        t: Transaction,
        host: str,
        block: str,
        name: str,
        limits: AddressLimits,
        *,
        rests: bool,
    ) -> int:
        gap = micros(limits.delay)
        free, last = 0, -gap  # next free turn, last turn
        if known := t.row(
            "SELECT free, last FROM address WHERE name = ? AND till > ?", block, t.now
        ):
            free, last = known
        due: int | None = None
        own = t.row(
            "SELECT time, address FROM reserved WHERE host = ? AND till > ?", encoded(host), t.now
        )
        if own is not None and own[1] == block:
            due = own[0]
        if due is not None and due > t.now:
            return due - t.now
        t.execute("DELETE FROM under_way WHERE address = ? AND void <= ?", (block, t.now))
        number = t.row("SELECT count(*) FROM under_way WHERE address = ?", block)[0]
        may = (due is not None or free <= t.now) and last + gap <= t.now
        if may and number < limits.concurrency:
            t.execute("DELETE FROM reserved WHERE host = ?", (encoded(host),))
            self._keep(t, block, max(free, t.now + gap), t.now)
            values = (block, name, t.now + self._patience)
            t.execute("INSERT OR REPLACE INTO under_way VALUES (?, ?, ?)", values)
            return 0
        turn_at = last + gap  # for the case that the last one came late
        if due is None or turn_at <= t.now:
            turn_at = max(free, t.now + gap)
            self._keep(t, block, turn_at + gap, last)
        values_of_host = (encoded(host), turn_at, block, turn_at + self._patience)
        t.execute("INSERT OR REPLACE INTO reserved VALUES (?, ?, ?, ?)", values_of_host)
        if rests:
            rest_until(t, t.host_named(host), turn_at)
        return turn_at - t.now

    def _keep(self, t: Transaction, block: str, free: int, last: int) -> None:
        values = (block, free, last, free + self._patience)
        t.execute("INSERT OR REPLACE INTO address VALUES (?, ?, ?, ?)", values)

    async def down(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down or its probe failed."""
        limits = [micros(s) if isfinite(s) else -1 for s in (patience, untried_patience)]
        return await self._store.run(
            lambda t: _falter(t, host, why, micros(step), limits[0], limits[1])
        )

    async def up(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; return the remaining rest and the time it was down."""
        return await self._store.run(lambda t: _recover(t, host, micros(step), good))

    async def note_dead(self) -> None:
        """Count a host as dead."""
        await self._store.run(lambda t: t.count("dead"))

    async def known(self, host: str) -> HostFacts:
        """Return what is known of a host."""
        sql = "SELECT since, why, good FROM host WHERE name = ?"
        since, why, good = await self._store.row(sql, encoded(host)) or (None, None, None)
        return HostFacts(str(why or "") if since is not None else "", text(good or b""))

    async def set_aside(self, host: str, limit: int = AT_ONCE) -> list[WaitingLink]:
        """Move up to ``limit`` waiting links of a host to the failed ones; return them."""
        return await self._store.run(lambda t: _set_aside(t, host, limit, self._max_failed))


def _set_pace(t: Transaction, name: str, delay: int, concurrency: int, *, at_least: bool) -> None:
    host = t.host_named(name)
    old = pace(t, host)[0]
    if at_least:
        delay = max(delay, old)
    own = (delay, concurrency) != (t.options["delay"], t.options["concurrency"])
    host.delay, host.concurrency = (delay, concurrency) if own else (None, None)
    t.touch(host)
    held = host.held > 0
    if host.cooling is not None and not held:
        cool(t, host, host.cooling - old + delay)
    if old == 0 and delay > 0:
        # requests in flight were not counted, the one that told of the delay among them: they count
        # as sent now
        for table in ("lease", "errand"):
            sql = f"UPDATE {table} SET mark = ? WHERE host = ? AND mark = 1"  # noqa: S608
            t.execute(sql, (t.now, host.id))
        if not held:
            cool(t, host, t.now + delay)
    file_availability(t, host.id)


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


def _set_aside(t: Transaction, name: str, limit: int, most: int) -> list[WaitingLink]:
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
            (part, limit - len(gone)),
        ).fetchall()
        for (seq,) in seqs:
            keep(seq, queue)
        t.waiting(queue, host, -len(seqs))
        refile(t, part)
    delayed = t.execute(
        "SELECT id, seq, queue FROM delayed WHERE host = ? LIMIT ?",
        (host, limit - len(gone)),
    ).fetchall()
    for number, seq, queue in delayed:
        t.execute("DELETE FROM delayed WHERE id = ?", (number,))
        keep(seq, queue)
    t.count("failed", len(gone))
    return gone
