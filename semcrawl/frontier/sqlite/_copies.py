"""Mirrors: two origins that give the same bytes by the same paths.

See :mod:`semcrawl.crawl.withholding`. If one gave a path or is being asked for it, the other's link
with that path is withheld like one of a barren family, under a name made of both origins' names.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgpack

from semcrawl.frontier.sqlite.leases import forget, lease, let_go, number_of
from semcrawl.frontier.sqlite.ordering import file_availability
from semcrawl.frontier.sqlite.transaction import Transaction
from semcrawl.frontier.sqlite.withheldlinks import (
    fields,
    is_withheld,
    put_back,
    set_field,
    withhold,
    withholding,
)

#: characters of an origin's, path's and body's name
_PART = 8
#: replaces a body that is being asked for
_ASKED = "=asked=="
#: most origins of a path, paths, and pairs of origins
_AT_PATH, _MOST, _MOST_PAIRS = 8, 200_000, 50_000

Given = list[tuple[str, str]]
Pending = list[tuple[str, int]]


def _pair(a: str, b: str) -> str:
    return a + b if a.encode() < b.encode() else b + a


def _has_part(names: str, part: str) -> bool:
    return any(names[i : i + _PART] == part for i in range(0, len(names), _PART))


def _get(t: Transaction, kind: str, name: str) -> str | None:
    row = t.row("SELECT value FROM mirror WHERE kind = ? AND name = ?", kind, name)
    return None if row is None else str(row[0])


def _set(t: Transaction, kind: str, name: str, value: object) -> None:
    t.execute("INSERT OR REPLACE INTO mirror VALUES (?, ?, ?)", (kind, name, value))


def _delete(t: Transaction, kind: str, name: str) -> bool:
    sql = "DELETE FROM mirror WHERE kind = ? AND name = ?"
    return t.execute(sql, (kind, name)).rowcount > 0


def _given(t: Transaction, path: str) -> Given:
    """Return the origins and bodies of a path."""
    text = _get(t, "body", path) or ""
    step = 2 * _PART
    return [(text[i : i + _PART], text[i + _PART : i + step]) for i in range(0, len(text), step)]


def _keep_given(t: Transaction, path: str, given: Given, *, known: bool) -> None:
    """Store the origins and bodies of a path, if there is room."""
    if not given:
        t.count("bodies", -int(_delete(t, "body", path)))
    elif len(given) <= _AT_PATH and (known or t.totals["bodies"] < _MOST):
        t.count("bodies", int(not known))
        _set(t, "body", path, "".join(origin + body for origin, body in given))


def _pending(t: Transaction, path: str) -> Pending:
    """Return links that were withheld as a mirror was being asked for their path."""
    row = t.row("SELECT value FROM mirror WHERE kind = 'copy' AND name = ?", path)
    return [(name, seq) for name, seq in msgpack.unpackb(row[0])] if row else []


def _keep_pending(t: Transaction, path: str, links: Pending) -> None:
    if links:
        _set(t, "copy", path, msgpack.packb(links))
    else:
        _delete(t, "copy", path)


def _compare(t: Transaction, a: str, b: str, body: str, *, same: bool) -> bool:
    """Compare two origins' bodies of a path; return whether they are no longer mirrors."""
    name = _pair(a, b)
    known = _get(t, "pair", name)
    if known == "X" or (known is None and t.totals["pairs"] >= _MOST_PAIRS):
        return False
    if known is None:
        t.count("pairs")
    if not same:
        _set(t, "pair", name, "X")
        if not _delete(t, "mirrored", name):
            return False
        t.execute("DELETE FROM family WHERE name = ? AND field = 'mirror'", (name,))
        t.count("mirrors")
        return True
    known = known or ""
    if _has_part(known, body) or _get(t, "mirrored", name) is not None:
        return False
    known += body
    _set(t, "pair", name, known)
    if len(known) >= t.options["mirror_copies"] * _PART:
        set_field(t, name, "mirror", 1)
        set_field(t, name, "document", _get(t, "origin", name[:_PART]) or "")
        set_field(t, name, "pattern", _get(t, "origin", name[_PART:]) or "")
        _set(t, "mirrored", name, "")
        t.count("mirrors")
    return False


def note_bodies(
    t: Transaction,
    bodies: Sequence[tuple[str, str, str, str]],
    in_vain: Sequence[tuple[str, str]],
    known: int,
) -> tuple[bool, int, list[tuple[str, str]] | None]:
    """Record bodies, and paths without one, and find out which origins are mirrors."""
    ended = False
    for origin, url, path, content in bodies:
        given = _given(t, path)
        t.execute("INSERT OR IGNORE INTO mirror VALUES ('origin', ?, ?)", (origin, url))
        for other, body in given:
            if other != origin and body != _ASKED:
                same = body == content
                ended = _compare(t, origin, other, content, same=same) or ended
        rest = [row for row in given if row[0] != origin]
        _keep_given(t, path, [*rest, (origin, content)], known=bool(given))
        links = _pending(t, path)
        waiting = [link for link in links if not _has_part(link[0], origin)]
        if len(waiting) < len(links):
            _keep_pending(t, path, waiting)
    for origin, path in in_vain:
        given = _given(t, path)
        if given:
            rest = [row for row in given if row != (origin, _ASKED)]
            _keep_given(t, path, rest, known=True)
        links = _pending(t, path)
        waiting = []
        for name, seq in links:
            if _has_part(name, origin):
                put_back(t, name, seq)
            else:
                waiting.append((name, seq))
        if len(waiting) < len(links):
            _keep_pending(t, path, waiting)
    number = int(t.totals["mirrors"])
    if number == known:
        return ended, number, None
    found = []
    for (name,) in t.execute("SELECT name FROM mirror WHERE kind = 'mirrored'").fetchall():
        facts = fields(t, name)
        if "document" in facts and "pattern" in facts:
            found.append((str(facts["document"]), str(facts["pattern"])))
    return ended, number, found


def withhold_copies(t: Transaction, links: Sequence[tuple[str, str, str]]) -> set[int]:
    """Withhold leased links (id, origin, path) if a mirror gave or is being asked for their path.

    The 1st, 2nd, 4th, 8th … of them are not withheld; their paths are recorded as being asked for.
    Return the positions of the withheld links.
    """
    if not t.options["mirror_copies"]:
        return set()
    withheld = set()
    for position, (lease_id, origin, path) in enumerate(links):
        row = lease(t, number_of(lease_id))
        if row is None:
            continue
        given = _given(t, path)
        name = asked = None
        for other, body in given:
            if other == origin or _get(t, "mirrored", _pair(other, origin)) is None:
                continue
            if body == _ASKED:
                asked = _pair(other, origin)
            else:
                name = _pair(other, origin)
        mirror = name or asked
        if mirror is not None and is_withheld(t, mirror):
            let_go(t, row)  # nothing was sent, so the host needs no delay
            forget(t, row)
            file_availability(t, row.host)
            withhold(t, mirror, row.seq)
            if asked is not None and name is None:
                _keep_pending(t, path, [*_pending(t, path), (asked, row.seq)])
            withheld.add(position)
        elif all(other != origin for other, _ in given):
            _keep_given(t, path, [*given, (origin, _ASKED)], known=bool(given))
    return withheld


def release_copies(t: Transaction, limit: int) -> int:
    """Restore links withheld for a mirror's copy that cannot come any more; return how many.

    Of each pair of mirrors with links withheld since the last check, restore the last one and a
    random one, as new content may differ.
    """
    if t.row("SELECT 1 FROM lease LIMIT 1") or t.row("SELECT 1 FROM delayed LIMIT 1"):
        return 0
    number = 0
    for name, links in withholding(t):
        facts = fields(t, name)
        if (
            t.options["mirror_copies"]
            and "mirror" in facts
            and links > int(facts.get("checked", 0))
        ):
            sql = "SELECT seq FROM withheld WHERE family = ? ORDER BY seq"
            seqs = [row[0] for row in t.execute(sql, (name,)).fetchall()]
            number += put_back(t, name, seqs.pop())
            if seqs:
                number += put_back(t, name, random.choice(seqs))
            set_field(t, name, "checked", max(len(seqs) - 1, 0))
            # both are fetched
            t.execute("DELETE FROM family WHERE name = ? AND field = 'met'", (name,))
    paths = t.execute("SELECT name FROM mirror WHERE kind = 'copy' LIMIT ?", (limit,)).fetchall()
    for (path,) in paths:
        for name, seq in _pending(t, path):
            number += put_back(t, name, seq)
        _delete(t, "copy", path)
        rest = [row for row in _given(t, path) if row[1] != _ASKED]
        _keep_given(t, path, rest, known=True)
    return number
