"""The steps of the queue: take, acknowledge, give back, set aside."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from semcrawl.frontier.contract import Entry, SkippedHosts
from semcrawl.frontier.linkblob import pack_blob
from semcrawl.frontier.sqlite.availability import available, cool, move_turn, pace
from semcrawl.frontier.sqlite.layout import DELAYED, FAILED
from semcrawl.frontier.sqlite.leases import (
    forget,
    forget_all,
    lease,
    leases,
    let_go,
    number_of,
    tick,
)
from semcrawl.frontier.sqlite.links import (
    MOST_TRIES,
    find_waiting,
    label_of,
    put,
    refile,
    remove,
    seen_at,
)
from semcrawl.frontier.sqlite.ordering import best, file_availability, file_wait, head
from semcrawl.frontier.sqlite.skipping import Skip
from semcrawl.frontier.sqlite.taken import Taken
from semcrawl.frontier.sqlite.transaction import Part, Transaction, encoded
from semcrawl.frontier.sqlite.withheldlinks import family_of, is_withheld, withhold

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
