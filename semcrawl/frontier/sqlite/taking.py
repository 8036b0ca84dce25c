"""Links get out of the file: taken under a lease, given back, finished."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgpack

from semcrawl.frontier.contract import Entry, Lease, SkippedHosts
from semcrawl.frontier.links import pack_blob, text
from semcrawl.frontier.sqlite.file import DELAYED, FAILED, Part, Transaction, encoded
from semcrawl.frontier.sqlite.leftout import family_of, is_withheld, withhold
from semcrawl.frontier.sqlite.ordering import (
    MOST_TRIES,
    Skip,
    available,
    best,
    cool,
    entry_of,
    file_availability,
    file_wait,
    find_waiting,
    head,
    label_of,
    move_turn,
    pace,
    put,
    refile,
    remove,
    seen_at,
)


@dataclass(frozen=True, slots=True)
class Taken:
    """A taken link, with the columns of its row."""

    number: int
    queue: str
    host: str
    group: str
    key: float
    tries: int
    lost: int | None
    label: bytes
    blob: bytes
    held: bool
    probe: bool


def lease_of(t: Transaction, link: Taken) -> Lease:
    """Return the lease of a link; the crawl and its first lost take determine the attempt."""
    fields = (link.key, link.label, link.blob)
    number = link.number if link.lost is None else link.lost
    made = hashlib.blake2b(f"{t.uid}/{number}".encode(), digest_size=8)
    return Lease(
        f"{link.queue}:{link.number}",
        entry_of(t, link.queue, link.host, link.group, fields),
        link.tries,
        link.held,
        link.probe,
        int.from_bytes(made.digest(), "big", signed=True),
        link.lost is not None,
    )


def pack_taken(taken: Sequence[Taken]) -> bytes:
    """Pack the links of a take for its event."""
    rows = [[encoded(x.queue), encoded(x.host), encoded(x.group), x.label, x.blob] for x in taken]
    packed: bytes = msgpack.packb(rows)
    return packed


def unpack_taken(t: Transaction, packed: bytes) -> list[Entry]:
    """Unpack the links of a take; raise one of ``UNREADABLE`` for invalid bytes."""
    return [
        entry_of(t, text(queue), text(host), text(group), (0.0, label, blob))
        for queue, host, group, label, blob in msgpack.unpackb(packed)
    ]


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


#: most links that one take withholds
_PASSED_OVER = 1000
#: number of sampled hosts
_SAMPLE = 20


def take(
    t: Transaction,
    limit: int,
    names: Sequence[str],
    lease_time: int,
    worker: str,
    skip: SkippedHosts,
) -> list[Taken]:
    """Lease the best links that can be taken now."""
    tick(t)
    queues = t.known_queues(names)
    choice = Skip(t, skip) if skip else None
    taken: list[Taken] = []
    passed = 0
    while len(taken) < limit and passed < _PASSED_OVER:
        part = best(t, queues, choice)
        if part is None:
            # domains are skipped only if links wait on others
            if choice is None or not choice.domains or _others_wait(t, choice):
                break
            choice.domains = []
            continue
        found = _lease(t, part, lease_time, worker)
        if found is None:
            passed += 1
        else:
            taken.append(found)
    return taken


def _others_wait(t: Transaction, skip: Skip) -> bool:
    """Whether links wait on hosts of other domains, judged by a sample."""
    t.flush()
    for queue in t.all_queues():
        last = t.row("SELECT max(host) FROM front WHERE queue = ?", queue)[0]
        start = random.randint(0, last or 0)
        rows: list[Any] = []
        for where in ("host >= ?", "host < ?"):
            sql = f"SELECT host FROM front WHERE queue = ? AND {where} LIMIT ?"  # noqa: S608
            rows += t.execute(sql, (queue, start, _SAMPLE - len(rows))).fetchall()
        if any(not skip.in_domains(host) for (host,) in rows):
            return True
    return False


def _lease(t: Transaction, part: Part, lease_time: int, worker: str) -> Taken | None:
    """Lease the first link of a part; return ``None`` if it is withheld."""
    row = t.execute(
        "UPDATE link SET state = 1 WHERE seq = ? RETURNING tries, lost, label, blob", (part.seq,)
    ).fetchall()
    if not row or part.seq is None or part.key is None:
        raise t.corrupt(f"part {part.id} has no first link")
    tries, lost, label, blob = row[0]
    seq = part.seq
    t.label(part.queue, label, -1)
    t.waiting(part.queue, part.host, -1)
    family = family_of(blob, lost) if t.options["family_tries"] > 0 else None
    if family is not None and is_withheld(t, family):
        withhold(t, family, seq)
        file_wait(t, part, head(t, part.id))
        return None
    number = t.count("takes")
    host = t.host(part.host)
    delay = pace(t, host)[0]
    t.execute(
        "INSERT INTO lease VALUES (?, ?, ?, ?, ?, ?, ?)",
        (number, seq, part.queue, part.host, worker, t.now + lease_time, 0 if delay else 1),
    )
    host.busy += 1
    t.touch(host)
    if delay:
        host.held += 1
        cool(t, host, t.now + lease_time)
    move_turn(t, host)
    key = part.key
    file_wait(t, part, head(t, part.id))
    if not available(t, host):
        file_availability(t, part.host)
    return Taken(
        number,
        t.queue_name(part.queue),
        t.host_name(part.host),
        t.group_name(part.grp),
        key,
        tries,
        lost,
        label,
        blob,
        delay > 0,
        host.since is not None,
    )


def next_ready(t: Transaction, names: Sequence[str], poll: int) -> int | None:
    """Return the microseconds until a take may give a link, or ``None`` if none waits."""
    tick(t)
    queues = t.known_queues(names)
    if best(t, queues) is not None:
        return 0
    t.flush()
    soonest: int | None = None
    waits = False
    for queue in queues:
        waits = waits or bool(t.row("SELECT hosts FROM queue WHERE id = ?", queue)[0])
        due = t.row("SELECT min(due) FROM delayed WHERE queue = ?", queue)[0]
        if due is not None:
            waits = True
            soonest = min(due - t.now, due - t.now if soonest is None else soonest)
    if not waits:
        return None
    if t.row("SELECT 1 FROM lease LIMIT 1") or t.row("SELECT 1 FROM errand LIMIT 1"):
        soonest = poll if soonest is None else min(soonest, poll)
    marks = ",".join("?" * len(queues))
    last = t.now + soonest if soonest is not None else 1 << 62
    row = t.row(
        f"SELECT cooling FROM host WHERE cooling < ? AND EXISTS (SELECT 1 FROM front"  # noqa: S608
        f" WHERE queue IN ({marks}) AND front.host = host.id) ORDER BY cooling LIMIT 1",
        last,
        *queues,
    )
    if row is not None:
        return max(int(row[0]) - t.now, 1)
    return max(poll if soonest is None else soonest, 1)


def started(t: Transaction, ids: Sequence[str]) -> list[bool]:
    """Note that these requests start now; return for each whether its lease still held."""
    held = []
    for name in ids:
        row = lease(t, number_of(name))
        held.append(row is not None)
        if row is not None and row.mark == 0:
            host = t.host(row.host)
            delay = pace(t, host)[0]
            mark = t.now if delay else 1
            t.execute("UPDATE lease SET mark = ? WHERE id = ?", (mark, row.id))
            host.held = max(host.held - 1, 0)
            cool(t, host, t.now + delay)
            if not delay:
                file_availability(t, row.host)
    return held


def not_sent(t: Transaction, ids: Sequence[str]) -> None:
    """Note that no request is sent for these links, so their hosts may be asked at once."""
    for row in leases(t, ids):
        if row.mark == 0:
            let_go(t, row)
            file_availability(t, row.host)


def renew(t: Transaction, ids: Sequence[str], lease_time: int) -> list[bool]:
    """Renew leases; return for each whether it still held."""
    sql = "UPDATE lease SET due = ? WHERE id = ?"
    return [t.execute(sql, (t.now + lease_time, number_of(name))).rowcount > 0 for name in ids]


def done(t: Transaction, links: Sequence[tuple[str, Entry]]) -> None:
    """Acknowledge links (ids of leases, entries), including those of expired leases."""
    held = leases(t, [name for name, _ in links])
    number = len(held)
    if held:
        forget_all(t, held)
        t.execute(
            "DELETE FROM link WHERE seq IN (SELECT value FROM json_each(?))",
            (json.dumps([row.seq for row in held]),),
        )
    if number < len(links):
        known = {row.id for row in held}
        for name, entry in links:
            found = None if number_of(name) in known else find_waiting(t, entry)
            if found is not None and found.seq is not None:
                remove(t, found.seq, found, label_of(t, found.seq)[1])
                refile(t, found.id)
                number += 1
    if number:
        t.count("done", number)


def set_aside(t: Transaction, seq: int) -> None:
    """Move a waiting link to the failed ones, for the import."""
    number, label = label_of(t, seq)
    part = t.part(number)
    t.execute("UPDATE link SET state = ? WHERE seq = ?", (FAILED, seq))
    t.execute("INSERT INTO aside VALUES (?, ?)", (part.queue, seq))
    t.execute("UPDATE queue SET failed = failed + 1 WHERE id = ?", (part.queue,))
    t.label(part.queue, label, -1)
    t.waiting(part.queue, part.host, -1)
    refile(t, number)


def keep_aside(t: Transaction, seq: int, queue: int, most: int) -> None:
    """Keep a failed link if there are fewer than ``most``, else delete it."""
    kept = t.execute(
        "UPDATE queue SET failed = failed + 1 WHERE id = ? AND failed < ?", (queue, most)
    ).rowcount
    if kept:
        t.execute("UPDATE link SET state = ? WHERE seq = ?", (FAILED, seq))
        t.execute("INSERT INTO aside VALUES (?, ?)", (queue, seq))
    else:
        t.execute("DELETE FROM link WHERE seq = ?", (seq,))


def fail(t: Transaction, ids: Sequence[str], most: int) -> None:
    """Acknowledge links that could not be fetched, and keep them for a requeue."""
    for row in leases(t, ids):
        forget(t, row)
        keep_aside(t, row.seq, row.queue, most)
        t.count("failed")


def requeue(t: Transaction, names: Sequence[str], limit: int) -> int:
    """Put failed links back into their groups, as if never taken; return how many."""
    number = 0
    for queue in t.known_queues(names):
        sql = "SELECT seq FROM aside WHERE queue = ? ORDER BY seq LIMIT ?"
        seqs = t.execute(sql, (queue, limit - number)).fetchall()
        for (seq,) in seqs:
            part, label = label_of(t, seq)
            t.execute("DELETE FROM aside WHERE queue = ? AND seq = ?", (queue, seq))
            t.execute("UPDATE link SET tries = 0, lost = NULL WHERE seq = ?", (seq,))
            t.label(queue, label, 1)
            put(t, seq, part)
        sql = "UPDATE queue SET failed = failed - ? WHERE id = ?"
        t.execute(sql, (len(seqs), queue))
        number += len(seqs)
    return number


def give_back(t: Transaction, links: Sequence[tuple[str, Entry]], delay: int) -> None:
    """Give back leased links, perhaps changed; they can be taken after ``delay``."""
    for name, entry in links:
        row = lease(t, number_of(name))
        if row is None:
            continue
        forget(t, row)
        queue, host = t.queue(entry.queue), t.host_id(entry.host)
        part = t.part_id(queue, host, t.group_id(entry.group))
        label = encoded(entry.label)
        t.execute(
            "UPDATE link SET part = ?, key = ?, tries = min(tries + 1, ?), lost = NULL, label = ?,"
            " blob = ?, state = ? WHERE seq = ?",
            (part, float(entry.key), MOST_TRIES, label, pack_blob(entry), DELAYED, row.seq),
        )
        seen_at(t, entry.url, row.seq)
        t.label(queue, label, 1)
        if delay > 0:
            again = t.count("takes")
            values = (again, row.seq, queue, host, t.now + delay)
            t.execute("INSERT INTO delayed VALUES (?, ?, ?, ?, ?)", values)
        else:
            put(t, row.seq, part)


def rekey(t: Transaction, keys: Sequence[tuple[Entry, int, bytes, float]]) -> None:
    """Set keys of links (entries, with their sites and digests) that still wait."""
    parts: dict[tuple[str, str, str], int | None] = {}
    rows = []
    for entry, site, name, key in keys:
        names = entry.queue, entry.host, entry.group
        if names not in parts:
            queues = t.known_queues([entry.queue])
            parts[names] = (
                t.part_id(queues[0], t.host_id(entry.host), t.group_id(entry.group))
                if queues
                else None
            )
        if parts[names] is not None:
            rows.append((key, site, name, parts[names], key))
    t.executemany(
        "UPDATE link SET key = ? WHERE seq = (SELECT seq FROM seen WHERE site = ?"
        " AND digest = ?) AND part = ? AND state = 0 AND key != ?",
        rows,
    )
    for number in set(parts.values()):
        if number is not None:
            refile(t, number)
