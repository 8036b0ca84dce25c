"""Links that are left out, or withheld as the first of their family were barren."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcrawl.frontier.contract import LeftOutLinks, Withheld, reason_in
from semcrawl.frontier.links import digest
from semcrawl.frontier.sqlite.file import WITHHELD, SqlitePart, Transaction, encoded
from semcrawl.frontier.sqlite.ordering import label_of, put, site_of
from semcrawl.links import Reason
from semcrawl.relevance.families import Family, Verdict
from semcrawl.web.hosts import netloc_of

#: characters of a family's name
_NAME = 8
#: bytes before that name at the end of a blob: msgpack of "s": NAME
_MARK = b"\xa1s" + bytes([160 + _NAME])


def family_of(blob: bytes, lost: int | None) -> str | None:
    """Return the family of a link that was neither redirected nor requested before, or ``None``."""
    if blob[-_NAME - len(_MARK) : -_NAME] != _MARK:
        return None
    return blob[-_NAME:].decode("ascii", "replace")


def fields(t: Transaction, name: str) -> dict[str, Any]:
    """Return the stored fields of a family."""
    return dict(t.execute("SELECT field, value FROM family WHERE name = ?", (name,)).fetchall())


def set_field(t: Transaction, name: str, field: str, value: object) -> None:
    """Store a field of a family."""
    t.execute("INSERT OR REPLACE INTO family VALUES (?, ?, ?)", (name, field, value))


def count_field(t: Transaction, name: str, field: str) -> int:
    """Increment a field of a family; return it."""
    return int(
        t.execute(
            "INSERT INTO family VALUES (?, ?, 1) ON CONFLICT DO UPDATE"
            " SET value = CAST(value AS INTEGER) + 1 RETURNING value",
            (name, field),
        ).fetchall()[0][0]
    )


def is_barren(t: Transaction, known: Mapping[str, Any]) -> bool:
    """Whether a family is barren, by its fields."""
    tries = t.options["family_tries"]
    if tries <= 0:
        return False
    return int(known.get("useful", 0)) == 0 and int(known.get("barren", 0)) >= tries


def is_withheld(t: Transaction, name: str) -> bool:
    """Whether to withhold a link of this family, now that its turn has come."""
    if not is_barren(t, fields(t, name)):
        return False
    met = count_field(t, name, "met")
    return met & (met - 1) != 0


def withhold(t: Transaction, name: str, seq: int) -> None:
    """Withhold a link of a family."""
    t.execute("UPDATE link SET state = ? WHERE seq = ?", (WITHHELD, seq))
    t.execute("INSERT OR IGNORE INTO withheld VALUES (?, ?)", (name, seq))


def put_back(t: Transaction, name: str, seq: int) -> int:
    """Let a withheld link wait again; return 1, or 0 if it was not withheld."""
    sql = "DELETE FROM withheld WHERE family = ? AND seq = ?"
    if not t.execute(sql, (name, seq)).rowcount:
        return 0
    number, label = label_of(t, seq)
    t.label(t.part(number).queue, label, 1)
    put(t, seq, number)
    return 1


def withholding(t: Transaction) -> list[tuple[str, int]]:
    """Return the families with withheld links, and the numbers of these."""
    return t.execute("SELECT family, count(*) FROM withheld GROUP BY family").fetchall()


def know(t: Transaction, families: Sequence[tuple[str, str, str]]) -> None:
    """Register families (name, document, pattern) of links to be added."""
    for name, document, pattern in families:
        set_field(t, name, "document", stored(document))
        set_field(t, name, "pattern", stored(pattern))


def stored(value: str) -> str | bytes:
    """Return a text in a form that SQLite stores: bytes if it is not valid Unicode."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")
    return value


def judge(t: Transaction, answers: Sequence[tuple[str, str, str]]) -> bool:
    """Record verdicts on families: name, verdict, digest of a redirect's target.

    A redirect to a known address that another link of the family led to before is barren. If that
    other link was the only useful one, it does not count as useful either, as a common target of
    all links is not what they name. Return whether withheld links must be restored.
    """
    found = False
    for name, verdict, led_to in answers:
        what = verdict
        known = fields(t, name)
        if not known:
            continue
        if led_to:
            useful = int(known.get("useful", 0))
            if what != "useful" and known.get("led") == led_to:
                what = "barren"
                if known.get("only") == led_to and useful == 1:
                    set_field(t, name, "useful", 0)
                    count_field(t, name, "unknown")
            elif what == "useful" and useful == 0:
                set_field(t, name, "only", led_to)
            set_field(t, name, "led", led_to)
        count_field(t, name, what)
        if what == "useful" and t.row("SELECT 1 FROM withheld WHERE family = ?", name):
            found = True
    return found


def restore(t: Transaction, limit: int) -> int:
    """Restore links whose families no longer count as barren; return how many."""
    number = 0
    for name, _ in withholding(t):
        if is_barren(t, fields(t, name)):
            continue
        sql = "SELECT seq FROM withheld WHERE family = ? ORDER BY seq LIMIT ?"
        for (seq,) in t.execute(sql, (name, limit - number)).fetchall():
            number += put_back(t, name, seq)
        if number >= limit:
            return number
        t.execute("DELETE FROM family WHERE name = ? AND field = 'met'", (name,))
    return number


#: links left out that one call reads
_LEFT_AT_ONCE = 5000
_Note = tuple[int, bytes, bytes, bytes]


class SqliteAside(SqlitePart):
    """Links that are not fetched (:class:`~semcrawl.frontier.contract.Aside`)."""

    async def leave_out(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links with the reasons for leaving them out."""
        notes = [
            (site_of(url), digest(url), encoded(f"{reason} {netloc_of(url)}"), encoded(url))
            for url, reason in links
        ]
        if notes:
            await self._store.run(lambda t: _leave_out(t, notes, limit))

    async def left_out(self) -> LeftOutLinks:
        """Return the links left out so far, and the families with withheld links."""
        place: tuple[int, bytes] | None = (-1, b"")
        while place is not None:  # in portions, as other calls wait
            start = place
            place = await self._store.run(lambda t, start=start: _forget_seen(t, start))  # type: ignore[misc]
        rows, full, withheld = await self._store.run(
            lambda t: (
                t.execute("SELECT name, n, first FROM left_host").fetchall(),
                bool(t.totals["left_full"]),
                [(fields(t, name), number) for name, number in withholding(t)],
            )
        )
        numbers = {name: number for name, number, _ in rows}
        families = (Withheld.of(facts, number) for facts, number in withheld)
        return LeftOutLinks.of(numbers, {name: url for name, _, url in rows}, families, more=full)

    async def reason(self, url: str) -> Reason | None:
        """Return why a link was left out."""
        sql = "SELECT name FROM left_link WHERE site = ? AND digest = ?"
        rows = await self._store.rows(sql, site_of(url), digest(url))
        return reason_in(rows[0][0] if rows else None)

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Register families of links by name, before their links are added."""
        rows = [(name, found.document, found.pattern) for name, found in families.items()]
        if rows:
            await self._store.run(lambda t: know(t, rows))

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Record verdicts on families."""
        rows = [
            (name, str(what), led_to and digest(led_to).hex()) for name, what, led_to in answers
        ]
        return await self._store.run(lambda t: judge(t, rows))

    async def restore(self, limit: int) -> int:
        """Restore up to ``limit`` links that need not be withheld now; return how many."""
        return await self._store.run(lambda t: restore(t, limit))


def _leave_out(t: Transaction, notes: Sequence[_Note], limit: int) -> None:
    for site, name, where, url in notes:
        if t.totals["left_out"] >= limit:
            sql = "SELECT 1 FROM left_link WHERE site = ? AND digest = ?"
            if t.row(sql, site, name) is None:
                t.set_total("left_full", 1)
            continue
        sql = "INSERT OR IGNORE INTO left_link VALUES (?, ?, ?)"
        if t.execute(sql, (site, name, where)).rowcount:
            t.count("left_out")
            sql = "INSERT INTO left_host VALUES (?, 1, ?) ON CONFLICT DO UPDATE SET n = n + 1"
            t.execute(sql, (where, url))


def _forget_seen(t: Transaction, start: tuple[int, bytes]) -> tuple[int, bytes] | None:
    """Forget links left out that were added after all; return where to continue."""
    rows = t.execute(
        "SELECT l.site, l.digest, l.name, EXISTS (SELECT 1 FROM seen s WHERE s.site = l.site AND"
        " s.digest = l.digest) OR EXISTS (SELECT 1 FROM seen_before b WHERE b.digest = l.digest)"
        " FROM left_link l WHERE (l.site, l.digest) > (?, ?) ORDER BY l.site, l.digest LIMIT ?",
        (*start, _LEFT_AT_ONCE),
    ).fetchall()
    for site, name, where, seen in rows:
        if seen:
            t.execute("DELETE FROM left_link WHERE site = ? AND digest = ?", (site, name))
            t.execute("UPDATE left_host SET n = n - 1 WHERE name = ?", (where,))
            t.execute("DELETE FROM left_host WHERE name = ? AND n <= 0", (where,))
            t.count("left_out", -1)
    return (rows[-1][0], rows[-1][1]) if len(rows) == _LEFT_AT_ONCE else None
