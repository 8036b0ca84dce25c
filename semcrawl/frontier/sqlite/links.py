"""Links in the tables: the seen set and the waiting links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Entry, WaitingLink
from semcrawl.frontier.linkblob import UNREADABLE, digest, text, unpack_blob
from semcrawl.frontier.sqlite.ordering import file_wait, head
from semcrawl.frontier.sqlite.transaction import Part, Transaction

#: most counted tries
MOST_TRIES = 127

Place = tuple[float, int]


def site_of(url: str) -> int:
    """Return a number for the URL's site, which clusters the seen set."""
    parts = url.split("/", 3)
    site = parts[2] if len(parts) > 2 else urlsplit(url).netloc
    return crc32(site.encode("utf-8", "surrogatepass"))


# -- the seen set
def see(t: Transaction, site: int, name: bytes, seq: int | None) -> bool:
    """Add a URL to the seen set by site and digest; return whether it was new."""
    if t.totals["imported"] and t.row("SELECT 1 FROM seen_before WHERE digest = ?", name):
        return False
    changed = t.execute("INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", (site, name, seq)).rowcount
    if changed:
        t.count("seen")
    return bool(changed)


def seen_at(t: Transaction, url: str, seq: int) -> None:
    """Store the number of the link with this URL."""
    site, name = site_of(url), digest(url)
    if not see(t, site, name, seq):
        t.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", (site, name, seq))


def find_waiting(t: Transaction, entry: Entry) -> Part | None:
    """Return the part of a waiting link, with the link's number as :attr:`Part.seq`."""
    queues = t.known_queues([entry.queue])
    if not queues:
        return None
    row = t.row(
        "SELECT link.seq, link.part FROM seen JOIN link ON link.seq = seen.seq"
        " WHERE seen.site = ? AND seen.digest = ? AND link.state = 0",
        site_of(entry.url),
        digest(entry.url),
    )
    if row is None:
        return None
    if row[1] != t.part_id(queues[0], t.host_id(entry.host), t.group_id(entry.group)):
        return None
    part = t.part(row[1])
    return Part(part.id, part.queue, part.host, part.grp, 0, None, None, None, row[0])


# -- in and out
def put(t: Transaction, seq: int, number: int) -> None:
    """Let a leased, delayed or otherwise kept link wait again; the caller counts its label."""
    row = t.execute(
        "UPDATE link SET state = 0 WHERE seq = ? AND state != 0 RETURNING key", (seq,)
    ).fetchall()
    if not row:
        return
    part = t.part(number)
    t.waiting(part.queue, part.host, 1)
    arrived(t, part, (row[0][0], seq))


def arrived(t: Transaction, part: Part, first: Place) -> None:
    """Note that links were added to a part, the first of them at this place."""
    if part.state == 0 or part.seq is None or part.key is None:
        # the place of a parked part is unknown and does not matter
        file_wait(t, part, first)
    elif first < (part.key, part.seq):
        file_wait(t, part, first)


def refile(t: Transaction, number: int) -> None:
    """File a part by its present first link."""
    file_wait(t, t.part(number), head(t, number))


def remove(t: Transaction, seq: int, part: Part, label: bytes) -> None:
    """Delete a waiting link."""
    t.execute("DELETE FROM link WHERE seq = ?", (seq,))
    t.label(part.queue, label, -1)
    t.waiting(part.queue, part.host, -1)


def label_of(t: Transaction, seq: int) -> tuple[int, bytes]:
    """Return the part and label of a link."""
    row = t.row("SELECT part, label FROM link WHERE seq = ?", seq)
    if row is None:
        raise t.corrupt(f"no link {seq}")
    return int(row[0]), row[1]


def entry_of(t: Transaction, queue: str, host: str, group: str, fields: Sequence[Any]) -> Entry:
    """Make an entry from key, label and blob; raise ``FrontierCorrupt`` for invalid ones."""
    key, label, blob = fields
    try:
        url, payload, barren = unpack_blob(blob, host)
        return Entry(url, host, queue, group, key, payload, text(label), barren)
    except UNREADABLE as error:
        raise unreadable(t, queue, host, group, error) from error


def unreadable(
    t: Transaction, queue: str, host: str, group: str, error: Exception
) -> FrontierCorrupt:
    """Return the error for an unreadable link."""
    return FrontierCorrupt(
        f"the frontier {t.path} holds a link of {queue}:{host}/{group} that cannot be read:"
        f" {error or type(error).__name__}"
    )


_LINK = (
    "SELECT queue.name, host.name, grp.name, link.seq, link.tries, link.lost, link.key, link.label,"
    " link.blob FROM link JOIN part ON part.id = link.part JOIN queue ON queue.id = part.queue"
    " JOIN host ON host.id = part.host JOIN grp ON grp.id = part.grp "
)


def read_links(t: Transaction, where: str, *values: Any) -> list[WaitingLink]:
    """Return the links that meet a condition."""
    found = []
    for queue, host, group, seq, tries, lost, *fields in t.execute(_LINK + where, values):
        entry = entry_of(t, queue, text(host), text(group), fields)
        found.append(WaitingLink(entry, seq, tries, lost))
    return found


def read_link(t: Transaction, seq: int) -> WaitingLink:
    """Return a link by its number."""
    found = read_links(t, "WHERE link.seq = ?", seq)
    if not found:
        raise t.corrupt(f"no link {seq}")
    return found[0]


def worst_part(t: Transaction) -> int | None:
    """Return the part of the worst group's last host, from which a full frontier drops."""
    worst: Any = None
    for queue in t.all_queues():
        row = t.row(
            "SELECT score, queue, grp, owner FROM standing WHERE queue = ?"
            " ORDER BY score DESC LIMIT 1",
            queue,
        )
        if row is not None and (worst is None or row[0] > worst[0]):
            worst = row
    if worst is None:
        return None
    _, queue, grp, owner = worst
    if owner is not None:
        return int(owner)
    row = t.row(
        "SELECT id FROM part WHERE grp = ? AND queue = ? AND state = 2"
        " ORDER BY turn DESC, key DESC, seq DESC LIMIT 1",
        grp,
        queue,
    ) or t.row("SELECT id FROM part WHERE grp = ? AND queue = ? AND state = 3", grp, queue)
    return None if row is None else int(row[0])


def drop_worst(t: Transaction, most: int) -> None:
    """Drop the last links of the worst groups until at most ``most`` wait."""
    t.flush()
    waiting = int(t.row("SELECT coalesce(sum(n), 0) FROM label")[0])
    while waiting > most:
        number = worst_part(t)
        if number is None:
            break
        part = t.part(number)
        gone = t.execute(
            "SELECT seq, label FROM link WHERE part = ? AND state = 0"
            " ORDER BY key DESC, seq DESC LIMIT ?",
            (number, waiting - most),
        ).fetchall()
        if not gone:
            raise t.corrupt(f"part {number} stands without a link")
        for seq, label in gone:
            remove(t, seq, part, label)
        refile(t, number)
        waiting -= len(gone)
        t.count("dropped", len(gone))
    t.flush()
