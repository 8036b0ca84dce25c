"""Leases and errands, and what happens when they expire."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from semcrawl.frontier.sqlite.availability import available, cool, pace
from semcrawl.frontier.sqlite.links import MOST_TRIES, label_of, put
from semcrawl.frontier.sqlite.ordering import file_availability
from semcrawl.frontier.sqlite.transaction import Transaction

#: time that a request may need to arrive, at least (µs)
_SLACK = 250_000
#: most due leases, retries and errands that one call handles
_AT_ONCE = 100


@dataclass(slots=True)
class LeaseRow:
    """A row of the table of leases."""

    id: int
    seq: int
    queue: int
    host: int
    worker: str
    #: state of its download: ``None`` = over, 0 = it holds the host, 1 = no delay, else its start
    mark: int | None


def number_of(lease_id: str) -> int:
    """Return the number of a lease by its id; -1 for an invalid id."""
    number = lease_id.rpartition(":")[2]
    return int(number) if number.isdigit() and len(number) < 19 else -1


def lease(t: Transaction, number: int) -> LeaseRow | None:
    """Return a lease, or ``None`` if it is void."""
    row = t.row("SELECT id, seq, queue, host, worker, mark FROM lease WHERE id = ?", number)
    return None if row is None else LeaseRow(*row)


def leases(t: Transaction, ids: Iterable[str]) -> list[LeaseRow]:
    """Return those of the leases that are not void."""
    numbers = [number_of(name) for name in ids]
    rows = t.execute(
        "SELECT id, seq, queue, host, worker, mark FROM lease"
        " WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    ).fetchall()
    return [LeaseRow(*row) for row in rows]


def _ended(t: Transaction, host_id: int, mark: int) -> None:
    """Note that a download with this mark is over; its mark is already removed.

    Requests reach a host some time after they start. So that no two arrive closer than the delay,
    it counts from the end of a download that ends soon after its start.
    """
    host = t.host(host_id)
    was, cooled = available(t, host), host.cooling
    delay = pace(t, host)[0]
    host.busy = max(host.busy - 1, 0)
    t.touch(host)
    if mark == 0:
        host.held = max(host.held - 1, 0)
        cool(t, host, t.now + delay)
    elif mark != 1 and delay > 0:
        till = min(t.now, mark + max(delay // 10, _SLACK)) + delay
        if till > (host.cooling or 0):
            cool(t, host, till)
    # a delay may have ended that no tick noticed, and none will, as its entry is gone
    unseen = cooled is not None and host.cooling is None
    if unseen or was != available(t, host):
        file_availability(t, host_id)


def release_all(t: Transaction, ids: Iterable[str]) -> None:
    """End the downloads of these leases."""
    rows = [row for row in leases(t, ids) if row.mark is not None]
    if rows:
        t.execute(
            "UPDATE lease SET mark = NULL WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps([row.id for row in rows]),),
        )
        for row in rows:
            if row.mark is not None:
                _ended(t, row.host, row.mark)


def forget(t: Transaction, row: LeaseRow) -> None:
    """End a lease and its download."""
    forget_all(t, [row])


def forget_all(t: Transaction, rows: Sequence[LeaseRow]) -> None:
    """End leases and their downloads."""
    t.execute(
        "DELETE FROM lease WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps([row.id for row in rows]),),
    )
    for row in rows:
        if row.mark is not None:
            _ended(t, row.host, row.mark)


def let_go(t: Transaction, row: LeaseRow) -> None:
    """Free the host of a lease that holds it, as nothing is sent."""
    if row.mark == 0:
        t.execute("UPDATE lease SET mark = NULL WHERE id = ?", (row.id,))
        host = t.host(row.host)
        host.busy = max(host.busy - 1, 0)
        host.held = max(host.held - 1, 0)
        cool(t, host, t.now)
        row.mark = None


def go_back(t: Transaction, row: LeaseRow) -> None:
    """Put a leased link back into its place, as its take was not acknowledged."""
    forget(t, row)
    t.execute(
        "UPDATE link SET tries = min(tries + 1, ?), lost = coalesce(lost, ?) WHERE seq = ?",
        (MOST_TRIES, row.id, row.seq),
    )
    part, label = label_of(t, row.seq)
    t.label(row.queue, label, 1)
    put(t, row.seq, part)


def end_errand(t: Transaction, host_id: int, name: str, *, sent: bool) -> None:
    """End an errand; if nothing was sent, the host may be asked at once."""
    found = t.execute(
        "DELETE FROM errand WHERE host = ? AND name = ? RETURNING mark", (host_id, name)
    ).fetchall()
    if not found:
        return
    mark = found[0][0]
    if mark is None or (mark == 0 and not sent):
        host = t.host(host_id)
        host.busy = max(host.busy - 1, 0)
        t.touch(host)
        if mark is None:
            host.lined = max(host.lined - 1, 0)
        else:
            host.held = max(host.held - 1, 0)
            cool(t, host, t.now)
    else:
        _ended(t, host_id, mark)
    file_availability(t, host_id)


_ANY_DUE = (
    "SELECT EXISTS (SELECT 1 FROM lease WHERE due <= ?) OR EXISTS (SELECT 1 FROM errand WHERE"
    " void <= ?) OR EXISTS (SELECT 1 FROM host WHERE cooling <= ?) OR EXISTS (SELECT 1 FROM"
    " queue CROSS JOIN delayed ON delayed.queue = queue.id AND delayed.due <= ?)"
)


def tick(t: Transaction) -> None:
    """Put back expired leases and due retries, end void errands, file hosts that have cooled."""
    t.flush()
    if not t.row(_ANY_DUE, *[t.now] * _ANY_DUE.count("?"))[0]:
        return
    for (number,) in t.execute(
        "SELECT id FROM lease WHERE due <= ? ORDER BY due LIMIT ?", (t.now, _AT_ONCE)
    ).fetchall():
        row = lease(t, number)
        if row is not None:
            go_back(t, row)
            t.count("expired")
    for queue in t.all_queues():
        for number, seq in t.execute(
            "SELECT id, seq FROM delayed WHERE queue = ? AND due <= ? ORDER BY due LIMIT ?",
            (queue, t.now, _AT_ONCE),
        ).fetchall():
            t.execute("DELETE FROM delayed WHERE id = ?", (number,))
            put(t, seq, label_of(t, seq)[0])
    for host, name in t.execute(
        "SELECT host, name FROM errand WHERE void <= ? ORDER BY void LIMIT ?", (t.now, _AT_ONCE)
    ).fetchall():
        end_errand(t, host, name, sent=True)
    t.flush()
    for (number,) in t.execute(
        "SELECT id FROM host WHERE cooling <= ? ORDER BY cooling LIMIT ?", (t.now, 2 * _AT_ONCE)
    ).fetchall():
        host_row = t.host(number)
        host_row.cooling = None
        t.touch(host_row)
        file_availability(t, number)


def reclaim(t: Transaction, worker: str) -> int:
    """Give back a worker's leases at once; return how many.

    Its errands end, and its pending seeds can be taken again.
    """
    t.execute("DELETE FROM member WHERE worker = ?", (worker,))
    numbers = t.execute("SELECT id FROM lease WHERE worker = ?", (worker,)).fetchall()
    for (number,) in numbers:
        row = lease(t, number)
        if row is not None:
            go_back(t, row)
    errands = t.execute("SELECT host, name FROM errand WHERE worker = ?", (worker,)).fetchall()
    for host, name in errands:
        end_errand(t, host, name, sent=True)
    t.execute("UPDATE pending SET due = 0 WHERE worker = ?", (worker,))
    return len(numbers)


def workers(t: Transaction) -> list[str]:
    """Return the names of the workers with leases, errands or pending seeds."""
    rows = t.execute(
        "SELECT worker FROM lease UNION SELECT worker FROM errand UNION SELECT worker FROM pending"
    )
    return [row[0] for row in rows]
