"""The order of links.

A group with links on one host only is ordered inside that host, and ``front`` orders the hosts by
the best of these. A group on several hosts orders them (``part_spread``), and ``standing`` orders
these groups by their first link. A host that cannot be asked leaves ``front`` at once, but a shared
group only when a take meets it there; it is then parked until it may be asked. So the cost does not
depend on the number of groups or hosts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semcrawl.frontier.sqlite.availability import LATER, available, turn
from semcrawl.frontier.sqlite.layout import EMPTY, LOCAL, PARKED, SPREAD
from semcrawl.frontier.sqlite.skipping import Skip
from semcrawl.frontier.sqlite.transaction import Part, Transaction

#: hosts and groups to check at first for one that is not skipped
_LOOKED_AT = 50
#: … and hosts that the database searches after these
_SEARCHED = 10_000


def value(t: Transaction, grp: int) -> float:
    """Return the value of a group; 0 if it has none."""
    return float(t.row("SELECT value FROM grp WHERE id = ?", grp)[0] or 0.0)


def head(t: Transaction, part: int) -> Any:
    """Return key and number of the first waiting link of a part, or ``None``."""
    return t.row(
        "SELECT key, seq FROM link WHERE part = ? AND state = 0 ORDER BY key, seq LIMIT 1", part
    )


_BEST_OF_HOST = (
    "SELECT score, key, seq, id FROM part WHERE host = ? AND queue = ? AND state = 1"
    " ORDER BY score, key, seq LIMIT 1"
)
_FILE_HOST = (
    f"UPDATE front SET (score, key, seq, part) = ({_BEST_OF_HOST}), turn = ?"  # noqa: S608
    " WHERE queue = ? AND host = ?"
)


def file_host(t: Transaction, queue: int, host: int, may: bool | None = None) -> None:
    """File a host in ``front`` by its best local group; ``may`` is its availability, if known."""
    row = t.host(host)
    if available(t, row) if may is None else may:
        place = turn(t, row)
        values = (host, queue)
        if t.execute(_FILE_HOST, (*values, place, queue, host)).rowcount == 0 and t.row(
            _BEST_OF_HOST, *values
        ):
            t.execute("INSERT INTO front (queue, host, waiting) VALUES (?, ?, 0)", (queue, host))
            t.execute(_FILE_HOST, (*values, place, queue, host))
        return
    t.execute(
        "UPDATE front SET score = NULL, turn = NULL, key = NULL, seq = NULL, part = NULL"
        " WHERE queue = ? AND host = ? AND part IS NOT NULL",
        (queue, host),
    )


def file_group(t: Transaction, queue: int, grp: int) -> None:
    """File a group on several hosts by its first host."""
    first = t.row(
        "SELECT turn, key, seq FROM part WHERE grp = ? AND queue = ? AND state = 2"
        " ORDER BY turn, key, seq LIMIT 1",
        grp,
        queue,
    )
    t.execute(
        "UPDATE standing SET turn = ?, key = ?, seq = ? WHERE queue = ? AND grp = ?",
        (*(first or (None, None, None)), queue, grp),
    )


def _set_part(t: Transaction, part: Part, state: int, place: tuple[float, int] | None) -> None:
    """Write the state and the first link of a part."""
    part.state = state
    part.key, part.seq = place or (None, None)
    if state != LOCAL:
        part.score = None
    part.turn = turn(t, t.host(part.host)) if state == SPREAD else None
    t.execute(
        "UPDATE part SET state = ?, score = ?, turn = ?, key = ?, seq = ? WHERE id = ?",
        (part.state, part.score, part.turn, part.key, part.seq, part.id),
    )


def file_wait(t: Transaction, part: Part, place: tuple[float, int] | None) -> None:
    """File a part whose first link (key and number, or ``None``) may have changed."""
    queue, grp = part.queue, part.grp
    if part.state == EMPTY:
        if place is not None:
            _enter(t, part, place)
    elif part.state == LOCAL:
        if place is None:
            _set_part(t, part, EMPTY, None)
            t.execute("DELETE FROM standing WHERE queue = ? AND grp = ?", (queue, grp))
        elif place != (part.key, part.seq):
            _set_part(t, part, LOCAL, place)
        else:
            return
        file_host(t, queue, part.host)
    elif place is None:
        parked = part.state == PARKED
        _set_part(t, part, EMPTY, None)
        left = t.execute(
            "UPDATE standing SET parts = parts - 1 WHERE queue = ? AND grp = ? RETURNING parts",
            (queue, grp),
        ).fetchall()
        if not left or left[0][0] <= 0:
            t.execute("DELETE FROM standing WHERE queue = ? AND grp = ?", (queue, grp))
        elif not parked:
            file_group(t, queue, grp)
    elif part.state == SPREAD:
        now = turn(t, t.host(part.host))
        if place != (part.key, part.seq) or now != part.turn:
            _set_part(t, part, SPREAD, place)
            file_group(t, queue, grp)


def _enter(t: Transaction, part: Part, place: tuple[float, int]) -> None:
    """File a part that was empty."""
    queue, grp = part.queue, part.grp
    standing = t.row("SELECT owner FROM standing WHERE queue = ? AND grp = ?", queue, grp)
    if standing is None:
        part.score = -value(t, grp)
        t.execute(
            "INSERT INTO standing (queue, grp, parts, owner, score) VALUES (?, ?, 1, ?, ?)",
            (queue, grp, part.id, part.score),
        )
        _set_part(t, part, LOCAL, place)
        file_host(t, queue, part.host)
        return
    if standing[0] is not None:
        # a second host: the group is now on several
        owner = t.part(standing[0])
        if owner.key is None or owner.seq is None:
            raise t.corrupt(f"part {owner.id} has no first link")
        _set_part(t, owner, SPREAD, (owner.key, owner.seq))
        file_host(t, queue, owner.host)
    t.execute(
        "UPDATE standing SET parts = parts + 1, owner = NULL WHERE queue = ? AND grp = ?",
        (queue, grp),
    )
    _set_part(t, part, SPREAD, place)
    file_group(t, queue, grp)


def file_availability(t: Transaction, host: int) -> None:
    """File a host whose availability may have changed."""
    yes = available(t, t.host(host))
    for queue in t.all_queues():
        file_host(t, queue, host, yes)
    if yes:
        for (number,) in t.execute(
            "SELECT id FROM part WHERE host = ? AND state = 3", (host,)
        ).fetchall():
            part = t.part(number)
            _set_part(t, part, SPREAD, head(t, number))
            file_group(t, part.queue, part.grp)


def file_turn(t: Transaction, host: int) -> None:
    """File a host's groups again, as its turn changed."""
    for queue in t.all_queues():
        file_host(t, queue, host)
        for (number,) in t.execute(
            "SELECT id FROM part WHERE host = ? AND queue = ? AND state = 2", (host, queue)
        ).fetchall():
            part = t.part(number)
            if part.key is not None and part.seq is not None:
                file_wait(t, part, (part.key, part.seq))


def set_value(t: Transaction, name: str, number: float) -> None:
    """Set the value of a group."""
    grp = t.group_id(name)
    old = t.row("SELECT value FROM grp WHERE id = ?", grp)[0]
    if old == number and old is not None:
        return
    t.execute("UPDATE grp SET value = ? WHERE id = ?", (number, grp))
    for queue in t.all_queues():
        found = t.execute(
            "UPDATE standing SET score = ? WHERE queue = ? AND grp = ? RETURNING owner",
            (-number, queue, grp),
        ).fetchall()
        if found and found[0][0] is not None:
            part = t.part(found[0][0])
            part.score = -number
            t.execute("UPDATE part SET score = ? WHERE id = ?", (part.score, part.id))
            file_host(t, queue, part.host)


# -- the best link
_FIRST_IN_FRONT = (
    "SELECT score, turn, key, seq, host, part, 0 FROM front"
    " WHERE queue = {} AND part IS NOT NULL ORDER BY score, turn, key, seq LIMIT 1"
)
_FIRST_GROUP = (
    "SELECT score, turn, key, seq, grp, queue, 1 FROM standing"
    " WHERE queue = {} AND seq IS NOT NULL ORDER BY score, turn, key, seq LIMIT 1"
)


def best(t: Transaction, queues: Sequence[int], skip: Skip | None = None) -> Part | None:
    """Return the part of the best link that can be taken now, not on hosts to ``skip``."""
    while True:
        found = _first(t, queues) if skip is None else _first_but(t, queues, skip)
        if found is None:
            return None
        _, at, _, _, where, part_or_queue, shared, *chosen = found
        if not shared:
            part = t.part(part_or_queue)
            if (at == LATER) == (turn(t, t.host(where)) == LATER):
                return part
            file_host(t, part.queue, where)
            continue
        part = t.part(chosen[0]) if chosen else _first_part(t, part_or_queue, where)
        host = t.host(part.host)
        if not available(t, host):
            _set_part(t, part, PARKED, None)
            file_group(t, part.queue, part.grp)
        elif turn(t, host) != part.turn:
            if part.key is None or part.seq is None:
                raise t.corrupt(f"part {part.id} has no first link")
            file_wait(t, part, (part.key, part.seq))
        else:
            return part


def _first(t: Transaction, queues: Sequence[int]) -> Any:
    """Return the best entry of all queues."""
    if not queues:
        return None
    parts = [
        f"SELECT * FROM ({sql.format(int(queue))})"  # noqa: S608 - a number
        for queue in queues
        for sql in (_FIRST_IN_FRONT, _FIRST_GROUP)
    ]
    return t.row(" UNION ALL ".join(parts) + " ORDER BY 1, 2, 3, 4 LIMIT 1")


def _first_part(t: Transaction, queue: int, grp: int) -> Part:
    row = t.row(
        "SELECT id FROM part WHERE grp = ? AND queue = ? AND state = 2"
        " ORDER BY turn, key, seq LIMIT 1",
        grp,
        queue,
    )
    if row is None:
        raise t.corrupt(f"group {grp} stands without a host")
    return t.part(row[0])


def _first_but(t: Transaction, queues: Sequence[int], skip: Skip) -> Any:
    """Return the best entry of all queues on a host that is not skipped, in a bounded search."""
    found: list[tuple[Any, ...]] = []
    for queue in queues:
        first = _first_host(
            t,
            skip,
            "SELECT score, turn, key, seq, part, host FROM front WHERE queue = ? AND part IS NOT"
            " NULL ORDER BY score, turn, key, seq LIMIT ?",
            (queue,),
        )
        if first is not None:
            found.append((*first[:4], first[5], first[4], 0))
        for score, grp in t.execute(
            "SELECT score, grp FROM standing WHERE queue = ? AND seq IS NOT NULL"
            " ORDER BY score, turn, key, seq LIMIT ?",
            (queue, _LOOKED_AT),
        ).fetchall():
            first = _first_host(
                t,
                skip,
                "SELECT turn, key, seq, id, host FROM part WHERE grp = ? AND queue = ?"
                " AND state = 2 ORDER BY turn, key, seq LIMIT ?",
                (grp, queue),
            )
            if first is not None:
                found.append((score, *first[:3], grp, queue, 1, first[3]))
                break
    return min(found, key=lambda row: row[:4], default=None)


def _first_host(t: Transaction, skip: Skip, sql: str, values: tuple[int, ...]) -> Any:
    """Return the first row, whose last column is the host, that is not skipped.

    Many skipped hosts may come first, so the database searches beyond the first rows.
    """
    rows = t.execute(sql, (*values, _LOOKED_AT)).fetchall()
    for row in rows:
        if not skip(row[-1]):
            return row
    if len(rows) < _LOOKED_AT:
        return None
    beyond = f"SELECT first.* FROM ({sql}) first JOIN host ON host.id = first.host WHERE {skip.sql}"  # noqa: S608
    for row in t.execute(beyond, (*values, _SEARCHED, *skip.values)):
        if not skip(row[-1]):
            return row
    return None
