"""Inspection, audit and import of a frontier in a SQLite file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from itertools import starmap
from typing import Any

from semcrawl.frontier.contract import (
    TOTALS,
    Counts,
    FrontierState,
    GroupState,
    HostState,
    HostYield,
    LeaseState,
    RowKind,
    WaitingLink,
    field_text,
)
from semcrawl.frontier.links import text
from semcrawl.frontier.sqlite.adding import restore, see_digests
from semcrawl.frontier.sqlite.file import LOCAL, PARKED, SPREAD, SqlitePart, Transaction
from semcrawl.frontier.sqlite.leftout import set_field, stored
from semcrawl.frontier.sqlite.ordering import available, head, read_link, read_links
from semcrawl.frontier.sqlite.taking import tick

#: queries with equal results: name, computed rows, stored rows
_SUMS = (
    (
        "labels",
        "SELECT p.queue, l.label, count(*) FROM link l JOIN part p ON p.id = l.part"
        " WHERE l.state IN (0, 2) GROUP BY 1, 2",
        "SELECT queue, label, n FROM label",
    ),
    (
        "waiting links of hosts",
        "SELECT p.queue, p.host, count(*) FROM link l JOIN part p ON p.id = l.part"
        " WHERE l.state = 0 GROUP BY 1, 2",
        "SELECT queue, host, waiting FROM front",
    ),
    (
        "hosts of queues",
        "SELECT q.id, count(f.host) FROM queue q LEFT JOIN front f ON f.queue = q.id GROUP BY 1",
        "SELECT id, hosts FROM queue",
    ),
    (
        "failed links of queues",
        "SELECT q.id, count(a.seq) FROM queue q LEFT JOIN aside a ON a.queue = q.id GROUP BY 1",
        "SELECT id, failed FROM queue",
    ),
    (
        "groups with links",
        "SELECT queue, grp, count(*) FROM part WHERE state != 0 GROUP BY 1, 2",
        "SELECT queue, grp, parts FROM standing",
    ),
    (
        "values of groups",
        "SELECT s.queue, s.grp, -coalesce(g.value, 0.0) FROM standing s JOIN grp g ON g.id = s.grp",
        "SELECT queue, grp, score FROM standing",
    ),
    (
        "downloads of hosts",
        "SELECT h.id, (SELECT count(*) FROM lease l WHERE l.host = h.id AND l.mark IS NOT NULL)"
        " + (SELECT count(*) FROM errand e WHERE e.host = h.id),"
        " (SELECT count(*) FROM errand e WHERE e.host = h.id AND e.mark IS NULL),"
        " (SELECT count(*) FROM lease l WHERE l.host = h.id AND l.mark = 0)"
        " + (SELECT count(*) FROM errand e WHERE e.host = h.id AND e.mark = 0) FROM host h",
        "SELECT id, busy, lined, held FROM host",
    ),
    ("leased links", "SELECT seq FROM link WHERE state = 1", "SELECT seq FROM lease"),
    ("delayed links", "SELECT seq FROM link WHERE state = 2", "SELECT seq FROM delayed"),
    ("failed links", "SELECT seq FROM link WHERE state = 3", "SELECT seq FROM aside"),
    ("withheld links", "SELECT seq FROM link WHERE state = 4", "SELECT seq FROM withheld"),
    (
        "seen",
        "SELECT (SELECT count(*) FROM seen s WHERE NOT EXISTS (SELECT 1 FROM seen_before b WHERE"
        " b.digest = s.digest)) + (SELECT count(*) FROM seen_before)",
        "SELECT seen FROM crawl",
    ),
)


def audit(t: Transaction) -> list[str]:
    """Return one line per difference. Reads every link."""
    t.flush()
    wrong: list[str] = []
    for what, counted, kept in _SUMS:
        one, other = set(t.execute(counted)), set(t.execute(kept))
        wrong += [f"{what}: expected {row}" for row in sorted(one - other)]
        wrong += [f"{what}: found {row}" for row in sorted(other - one)]

    def expect(what: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            wrong.append(f"{what}: found {found}, expected {wanted}")

    for (number,) in t.execute("SELECT id FROM part").fetchall():
        part = t.part(number)
        first = head(t, number)
        standing = t.row(
            "SELECT owner, score FROM standing WHERE queue = ? AND grp = ?", part.queue, part.grp
        )
        what = f"part {number}"
        expect(f"whether links wait in {what}", part.state != 0, first is not None)
        if part.state in (LOCAL, SPREAD):
            expect(f"first link of {what}", (part.key, part.seq), first)
        if part.state:
            owner = standing[0] if standing else None
            expect(f"owner of the group of {what}", owner, number if part.state == LOCAL else None)
        if part.state == LOCAL:
            expect(f"score of {what}", part.score, standing[1] if standing else None)
        if part.state == PARKED:
            expect(f"availability of {what}, parked", _free(t, part.host), False)
    wrong += _orders(t)
    return wrong


def _free(t: Transaction, host: int) -> bool:
    """Whether a host may be asked, and a tick has noticed it."""
    row = t.host(host)
    return row.cooling is None and available(t, row)


def _orders(t: Transaction) -> list[str]:
    """Compare the hosts in ``front``, and the first hosts of groups on several."""
    wrong = []
    for queue, host, part in t.execute("SELECT queue, host, part FROM front").fetchall():
        best = t.row(
            "SELECT id FROM part WHERE host = ? AND queue = ? AND state = 1"
            " ORDER BY score, key, seq LIMIT 1",
            host,
            queue,
        )
        wanted = best[0] if best and _free(t, host) else None
        if part != wanted:
            wrong.append(f"front of host {host} in queue {queue}: found {part}, expected {wanted}")
    rows = t.execute("SELECT queue, grp, owner, turn, key, seq FROM standing").fetchall()
    for queue, grp, owner, *place in rows:
        first = t.row(
            "SELECT turn, key, seq FROM part WHERE grp = ? AND queue = ? AND state = 2"
            " ORDER BY turn, key, seq LIMIT 1",
            grp,
            queue,
        )
        wanted_place = list(first) if first and owner is None else [None] * 3
        if place != wanted_place:
            wrong.append(f"first of group {grp}: found {place}, expected {wanted_place}")
    return wrong


_PAGE = 1000
#: most digests sorted in memory
_SORTED_AT_ONCE = 250_000
#: SQL that finds links of a kind
_KEPT: Mapping[str, str] = {
    "failed": "JOIN aside ON aside.seq = link.seq AND aside.queue = part.queue",
    "withheld": "JOIN withheld ON withheld.seq = link.seq",
}
#: SQL that finds rows of a kind, and what makes one of a row of the file
_ROWS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "queue": ("SELECT name FROM queue ORDER BY name", str),
    "value": (
        "SELECT name, value FROM grp WHERE value IS NOT NULL",
        lambda name, value: (text(name), float(value)),
    ),
    "pace": (
        "SELECT name, delay, concurrency FROM host WHERE delay IS NOT NULL",
        lambda name, delay, concurrency: (text(name), (delay / 1e6, concurrency)),
    ),
    "yield": (
        "SELECT name, fetches, targets, barren, coalesce(turn, 0.0) FROM host"
        " WHERE fetches > 0 OR turn IS NOT NULL",
        lambda name, *numbers: (text(name), HostYield(*numbers)),
    ),
    "state": ("SELECT name, value FROM state", lambda name, value: (text(name), value)),
}
#: a place before all links
_FIRST = (float("-inf"), -1)


def count(t: Transaction, names: Sequence[str], seed_keys: Sequence[str]) -> Counts:
    """Count links of these queues, and seeds on these lists."""
    tick(t)
    t.flush()
    waiting = leased = seeds = hosts = 0
    labels: dict[str, int] = {}
    for queue in t.known_queues(names):
        rows = t.execute("SELECT label, n FROM label WHERE queue = ?", (queue,)).fetchall()
        for label, number in rows:
            labels[text(label)] = labels.get(text(label), 0) + number
            waiting += number
        leased += t.row("SELECT count(*) FROM lease WHERE queue = ?", queue)[0]
        hosts += t.row("SELECT hosts FROM queue WHERE id = ?", queue)[0]
    for key in seed_keys:
        for table in ("seed", "pending"):
            sql = f"SELECT count(*) FROM {table} WHERE list = ?"  # noqa: S608
            seeds += t.row(sql, key)[0]
    totals = t.totals
    return Counts(waiting, leased, seeds, totals["seen"], hosts, labels, totals["dropped"])


class SqliteInspector(SqlitePart):
    """Reads a frontier's tables, or fills them (:class:`~semcrawl.frontier.contract.Inspector`)."""

    async def state(self, top: int = 20, seed_keys: Sequence[str] = ()) -> FrontierState:
        """Return totals, the ``top`` fullest hosts, the ``top`` best groups, and all leases.

        ``seed_keys`` names the lists whose seeds are counted.
        """
        queues = [queue async for queue in self.rows("queue")]
        counts = await self._store.run(lambda t: count(t, queues, seed_keys))
        totals = await self._store.run(lambda t: dict(t.totals))
        now = await self._store.run(lambda t: t.now) / 1e6
        created = (await self._store.rows("SELECT created FROM crawl"))[0][0]
        withheld = (await self._store.rows("SELECT count(*) FROM withheld"))[0][0]
        return FrontierState(
            counts=counts,
            done=int(totals["done"]),
            failed=int(totals["failed"]),
            expired=int(totals["expired"]),
            created=created,
            now=now,
            hosts=[h for queue in queues for h in await self._hosts(queue, top, now)],
            groups=[g for queue in queues for g in await self._groups(queue, top)],
            leases=await self._store.run(_leases),
            withheld=withheld,
            left_out=int(totals["left_out"]),
        )

    def rows(self, kind: RowKind) -> AsyncIterator[Any]:
        """All rows of a kind."""
        match kind:
            case "waiting":
                return self._waiting()
            case "failed" | "withheld":
                return self._kept(_KEPT[kind])
            case "seen":
                return self._seen()
            case _:
                return self._few(kind)

    async def _waiting(self) -> AsyncIterator[WaitingLink]:
        parts = await self._store.rows(
            "SELECT part.id FROM part JOIN queue ON queue.id = part.queue"
            " JOIN grp ON grp.id = part.grp JOIN host ON host.id = part.host WHERE state != 0"
            " ORDER BY queue.name, grp.name, host.name"
        )
        sql = (
            "WHERE link.part = ? AND link.state = 0 AND (link.key, link.seq) > (?, ?)"
            " ORDER BY link.key, link.seq LIMIT ?"
        )
        for (part,) in parts:
            place: tuple[float, int] | None = _FIRST
            while place is not None:
                values = (part, *place, _PAGE)
                links = await self._store.run(lambda t, v=values: read_links(t, sql, *v))  # type: ignore[misc]
                for link in links:
                    yield link
                full = len(links) == _PAGE
                place = (links[-1].entry.key, links[-1].sequence) if full else None

    async def _kept(self, join: str) -> AsyncIterator[WaitingLink]:
        last: int | None = -1
        while last is not None:
            values = (last, _PAGE)
            sql = f"{join} WHERE link.seq > ? ORDER BY link.seq LIMIT ?"
            links = await self._store.run(lambda t, s=sql, v=values: read_links(t, s, *v))  # type: ignore[misc]
            for link in links:
                yield link
            last = links[-1].sequence if len(links) == _PAGE else None

    async def _seen(self) -> AsyncIterator[list[bytes]]:
        number = await self._store.run(lambda t: int(t.totals["seen"]))
        # one pass over the table per range of digests, to bound memory
        passes = number // _SORTED_AT_ONCE + 1
        bounds = [(65536 * n // passes).to_bytes(3, "big")[1:] for n in range(passes)]
        for low, high in zip(bounds, [*bounds[1:], b"\xff" * 16], strict=True):
            rows = await self._store.rows(
                "SELECT digest FROM seen WHERE digest >= ? AND digest < ? UNION SELECT digest"
                " FROM seen_before WHERE digest >= ? AND digest < ? ORDER BY digest",
                low,
                high,
                low,
                high,
            )
            for start in range(0, len(rows), _PAGE):
                yield [row[0] for row in rows[start : start + _PAGE]]

    async def _few(self, kind: RowKind) -> AsyncIterator[Any]:
        found: Iterable[Any]
        if kind == "leased":
            found = (lease.link for lease in await self._store.run(_leases))
        elif kind == "total":
            totals = await self._store.run(lambda t: dict(t.totals))
            found = ((name, float(totals[name])) for name in TOTALS if totals[name])
        elif kind == "family":
            families: defaultdict[str, dict[str, str]] = defaultdict(dict)
            sql = "SELECT name, field, value FROM family ORDER BY name, field"
            for name, field, value in await self._store.rows(sql):
                families[name][field] = field_text(value)
            found = families.items()
        else:
            sql, row_of = _ROWS[kind]
            found = starmap(row_of, await self._store.rows(sql))
        for row in found:
            yield row

    async def load(self, kind: RowKind, rows: Sequence[Any]) -> None:
        """Fill an empty frontier with rows of another."""

        def load(t: Transaction) -> None:
            match kind:
                case "waiting" | "failed":
                    restore(t, rows, failed=kind == "failed")
                case "seen":
                    see_digests(t, [name for digests in rows for name in digests])
                case "total":
                    for name, value in rows:
                        if name in TOTALS:
                            t.set_total(name, value if name == "turn" else int(value))
                case "family":
                    for name, fields in rows:
                        for field, value in fields.items():
                            set_field(t, name, field, stored(value))
                case "yield":
                    for name, found in rows:
                        host = t.host_named(name)
                        host.fetches, host.targets = found.fetches, found.targets
                        host.barren, host.turn = found.barren, found.turn or None
                        t.touch(host)
                case _:
                    raise ValueError(f"rows of this kind are not loaded: {kind}")

        if kind in ("waiting", "failed"):
            for link in rows:
                link.entry.check()
        await self._store.run(load)

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the tables; return one line per difference."""
        return await self._store.run(audit)

    async def _hosts(self, queue: str, top: int, now: float) -> list[HostState]:
        rows = await self._store.rows(
            "SELECT host.name, front.waiting, host.busy, host.cooling FROM front JOIN host"
            " ON host.id = front.host WHERE front.waiting > 0 AND front.queue ="
            " (SELECT id FROM queue WHERE name = ?) ORDER BY waiting DESC, host.name DESC LIMIT ?",
            queue,
            top,
        )
        return [
            HostState(text(name), queue, waiting, busy, max((cooling or 0) / 1e6 - now, 0.0))
            for name, waiting, busy, cooling in rows
        ]

    async def _groups(self, queue: str, top: int) -> list[GroupState]:
        rows = await self._store.rows(
            "SELECT grp.name, -s.score, s.parts, (SELECT count(*) FROM link WHERE state = 0 AND"
            " part IN (SELECT id FROM part WHERE grp = s.grp AND queue = s.queue AND state != 0))"
            " FROM standing s JOIN grp ON grp.id = s.grp WHERE s.queue ="
            " (SELECT id FROM queue WHERE name = ?) ORDER BY s.score, grp.name DESC LIMIT ?",
            queue,
            top,
        )
        return [
            GroupState(text(name), queue, value + 0.0, waiting, hosts)
            for name, value, hosts, waiting in rows
        ]


def _leases(t: Transaction) -> list[LeaseState]:
    rows = t.execute(
        "SELECT queue.name, l.id, l.worker, l.seq, l.due FROM lease l JOIN queue"
        " ON queue.id = l.queue UNION ALL SELECT queue.name, d.id, '', d.seq, d.due FROM delayed d"
        " JOIN queue ON queue.id = d.queue"
    ).fetchall()
    rows.sort(key=lambda row: (row[0], not row[2], row[4], row[1]))
    return [
        LeaseState(f"{queue}:{number}", worker, read_link(t, seq), (due - t.now) / 1e6)
        for queue, number, worker, seq, due in rows
    ]
