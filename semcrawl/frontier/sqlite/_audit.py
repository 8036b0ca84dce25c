"""Compares all sums and orders of a file with its links."""

from __future__ import annotations

from typing import Any

from semcrawl.frontier.sqlite.availability import available
from semcrawl.frontier.sqlite.layout import LOCAL, PARKED, SPREAD
from semcrawl.frontier.sqlite.ordering import head
from semcrawl.frontier.sqlite.transaction import Transaction

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
