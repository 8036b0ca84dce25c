"""The order of links in the file, and which hosts may be asked."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Entry, SkippedHosts, WaitingLink
from semcrawl.frontier.links import UNREADABLE, digest, text, unpack_blob
from semcrawl.frontier.sqlite.file import EMPTY, LOCAL, PARKED, SPREAD, Host, Part, Transaction

#: turn of untried hosts, which come last
LATER = 1e308
#: from here on a turn is that of a host which comes before or after others, which this score shows
_RANKED, _SCORE_OF_RANK = 1e307, 1e300
#: time without a probe that does not count as being down (µs)
STOOD_STILL = 180_000_000


def pace(t: Transaction, host: Host) -> tuple[int, int]:
    """Return the crawl delay (µs) and concurrency of a host."""
    delay = t.options["delay"] if host.delay is None else host.delay
    concurrency = t.options["concurrency"] if host.concurrency is None else host.concurrency
    return int(delay), int(concurrency)


def available(t: Transaction, host: Host) -> bool:
    """Whether a link of the host may be taken now."""
    if host.cooling is not None and host.cooling > t.now:
        return False
    if host.busy == 0:
        return True
    if host.busy >= pace(t, host)[1] or host.since is not None:
        return False
    return host.lined == 0


def cool(t: Transaction, host: Host, till: int) -> None:
    """Let a host cool until a time, and until its rest is over."""
    if host.rest is not None:
        if host.rest > t.now:
            till = max(till, host.rest)
        else:
            host.rest = None
    host.cooling = till if till > t.now else None
    t.touch(host)


def rest_until(t: Transaction, host: Host, till: int) -> None:
    """Let a host rest at least until a time, whatever its pace."""
    if till > (host.rest or 0):
        host.rest = till
        t.touch(host)


def untried(host: Host) -> bool:
    """Whether a host gave nothing yet."""
    return host.good is None


def is_ranked(host: Host) -> bool:
    """Whether a host comes before or after all others, as an operator said."""
    return abs(host.turn or 0.0) >= _RANKED


def turn(t: Transaction, host: Host) -> float:
    """Return the virtual time of a host's next turn: start-time fair queueing."""
    if host.turn is not None and is_ranked(host):
        return host.turn
    # once some hosts were found dead, untried hosts come last
    if t.totals["dead"] > 1 and untried(host):
        return LATER
    if t.options["fairness"] == "off":
        return 0.0
    return float(t.totals["turn"] if host.turn is None else host.turn)


def move_turn(t: Transaction, host: Host) -> None:
    """Move a host's turn after a take, the further the less it yields."""
    if t.options["fairness"] == "off" or is_ranked(host):
        return
    now = max(host.turn or 0.0, float(t.totals["turn"]))
    weight = 1.0
    if t.options["fairness"] == "yield":
        weight = (host.targets + 1) / (host.fetches + 2)
    t.set_total("turn", now)
    host.turn = now + 1 / weight
    t.touch(host)


class Skip:
    """Tells which hosts to skip, by a call or as an SQL condition on the table ``host``.

    ``sql``, with ``values``, is true for hosts that are not skipped. Within a transaction, it may
    still count a host as untried that has just given something.
    """

    def __init__(self, t: Transaction, skip: SkippedHosts) -> None:
        self._t = t
        self._untried = skip.untried
        self.domains: Sequence[str] = list(skip.domains)

    def __call__(self, host: int) -> bool:
        """Whether a host is skipped."""
        return (self._untried and untried(self._t.host(host))) or self.in_domains(host)

    def in_domains(self, host: int) -> bool:
        """Whether a host is in one of the domains to skip."""
        full = self._t.host_name(host)
        name, colon, port = full.rpartition(":")
        bare = name if colon and port.isdigit() else full
        return any(bare == d or bare.endswith("." + d) for d in self.domains)

    @property
    def sql(self) -> str:
        """The SQL condition."""
        name = "'.' || CAST(host.name AS TEXT)"
        parts = ["host.good IS NOT NULL"] if self._untried else []
        parts += [f"{name} NOT LIKE ? AND {name} NOT LIKE ?" for _ in self.domains]
        return " AND ".join(parts) or "1"

    @property
    def values(self) -> list[str]:
        """The parameters of the condition."""
        return [f"%.{domain}{port}" for domain in self.domains for port in ("", ":%")]


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
_RANK = "UPDATE front SET score = score + ? WHERE queue = ? AND host = ?"


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
        if is_ranked(row):
            t.execute(_RANK, (copysign(_SCORE_OF_RANK, place), queue, host))
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
