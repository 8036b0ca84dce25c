"""Adds the links of a page with few SQL statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from semcrawl.frontier.contract import Entry, WaitingLink
from semcrawl.frontier.links import digest, pack_blob
from semcrawl.frontier.sqlite.file import Transaction, encoded
from semcrawl.frontier.sqlite.ordering import arrived, drop_worst, site_of
from semcrawl.frontier.sqlite.taking import set_aside

T = TypeVar("T")
#: most rows per statement
_ROWS = 64


class NewLink:
    """A link to be added, with everything that can be computed before the transaction."""

    __slots__ = ("blob", "digest", "entry", "index", "label", "site", "tries")

    def __init__(self, index: int, entry: Entry, tries: int = 0) -> None:
        self.index = index
        self.entry = entry
        self.tries = tries
        self.site = site_of(entry.url)
        self.digest = digest(entry.url)
        self.label = encoded(entry.label)
        self.blob = pack_blob(entry)


def _portions(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    """Yield portions whose sizes are powers of two, so that few statements are prepared."""
    start = 0
    while start < len(rows):
        size = min(_ROWS, 1 << (len(rows) - start).bit_length() - 1)
        yield rows[start : start + size]
        start += size


def _values(rows: int, columns: int) -> str:
    return ",".join(["(" + ",".join("?" * columns) + ")"] * rows)


def _seen(t: Transaction, links: Sequence[NewLink]) -> set[int]:
    """Return the positions of seen links."""
    found: set[int] = set()
    at = 0
    for portion in _portions(links):
        flat: list[Any] = []
        for position, link in enumerate(portion, at):
            flat += (position, link.site, link.digest)
        at += len(portion)
        values = _values(len(portion), 3)
        row = t.execute(
            f"SELECT group_concat(v.column1) FROM (VALUES {values}) v CROSS JOIN seen"  # noqa: S608
            " ON seen.site = v.column2 AND seen.digest = v.column3",
            flat,
        ).fetchone()
        if row[0] is not None:
            found.update(map(int, str(row[0]).split(",")))
        if t.totals["imported"]:
            row = t.execute(
                f"SELECT group_concat(v.column1) FROM (VALUES {values}) v"  # noqa: S608
                " CROSS JOIN seen_before s ON s.digest = v.column3",
                flat,
            ).fetchone()
            if row[0] is not None:
                found.update(map(int, str(row[0]).split(",")))
    return found


def add(t: Transaction, links: Sequence[NewLink], *, again: bool = False) -> list[int]:
    """Add unseen links; with ``again`` also seen ones that do not wait in their group.

    Return the indices of the new ones.
    """
    first = t.count("seq", len(links)) - len(links)
    seen = _seen(t, links)
    new, repeated = [], []
    for position, link in enumerate(links):
        if position not in seen:
            new.append((first + position, link))
        elif again and not _waits(t, link):
            repeated.append((first + position, link))
    for number, link in repeated:
        t.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", (link.site, link.digest, number))
    _insert(t, new, repeated)
    if t.options["max_waiting"] and (new or repeated):
        drop_worst(t, t.options["max_waiting"])
    return sorted(link.index for _, link in (*new, *repeated))


def _insert(
    t: Transaction,
    new: Sequence[tuple[int, NewLink]],
    repeated: Sequence[tuple[int, NewLink]],
) -> None:
    """Insert links with these numbers; add the ``new`` ones to the seen set."""
    t.count("seen", len(new))
    # in the order of the table's key
    for portion in _portions(sorted(new, key=lambda row: (row[1].site, row[1].digest))):
        flat: list[Any] = []
        for number, link in portion:
            flat += (link.site, link.digest, number)
        t.execute(f"INSERT INTO seen VALUES {_values(len(portion), 3)}", flat)  # noqa: S608
    parts: dict[tuple[str, str, str], int] = {}
    heads: dict[int, tuple[float, int]] = {}
    labels: defaultdict[tuple[int, bytes], int] = defaultdict(int)
    waiting: defaultdict[int, int] = defaultdict(int)
    rows = []
    for number, link in (*new, *repeated):
        entry = link.entry
        names = entry.queue, entry.host, entry.group
        part = parts.get(names)
        if part is None:
            queue = t.queue(entry.queue)
            part = t.part_id(queue, t.host_id(entry.host), t.group_id(entry.group))
            parts[names] = part
        key = float(entry.key)
        place = (key, number)
        if part not in heads or place < heads[part]:
            heads[part] = place
        labels[t.queue(entry.queue), link.label] += 1
        waiting[part] += 1
        rows.append((number, part, key, link.tries, link.label, link.blob))
    for (queue, label), n in labels.items():
        t.label(queue, label, n)
    for rows_portion in _portions(rows):
        flat = [value for row in rows_portion for value in row]
        values = ",".join(["(?,?,?,0,?,NULL,?,?)"] * len(rows_portion))
        t.execute(f"INSERT INTO link VALUES {values}", flat)  # noqa: S608
    for number, place in heads.items():
        row = t.part(number)
        t.waiting(row.queue, row.host, waiting[number])
        arrived(t, row, place)


def _waits(t: Transaction, link: NewLink) -> bool:
    """Whether a seen link waits in its group."""
    entry = link.entry
    part = t.part_id(t.queue(entry.queue), t.host_id(entry.host), t.group_id(entry.group))
    row = t.row(
        "SELECT 1 FROM seen JOIN link ON link.seq = seen.seq"
        " WHERE seen.site = ? AND seen.digest = ? AND link.state = 0 AND link.part = ?",
        link.site,
        link.digest,
        part,
    )
    return row is not None


def restore(t: Transaction, links: Sequence[WaitingLink], *, failed: bool) -> None:
    """Add links of an exported frontier at their former places, or as failed links."""
    made = [NewLink(i, link.entry, link.tries) for i, link in enumerate(links)]
    seen = _seen(t, made)
    new = [(links[i].sequence, link) for i, link in enumerate(made) if i not in seen]
    if not new:
        return
    _insert(t, new, ())
    # the imported digests that follow do not know their sites
    t.set_total("imported", 1)
    names = [(link.digest,) for _, link in new]
    t.executemany("INSERT OR IGNORE INTO seen_before VALUES (?)", names)
    highest = max(number for number, _ in new)
    if highest >= t.totals["seq"]:
        t.set_total("seq", highest + 1)
    if failed:
        for number, _ in new:
            set_aside(t, number)


def see_digests(t: Transaction, digests: Sequence[bytes]) -> None:
    """Add digests of URLs to the seen set."""
    t.set_total("imported", 1)
    for name in digests:
        t.count("seen", t.execute("INSERT OR IGNORE INTO seen_before VALUES (?)", (name,)).rowcount)
