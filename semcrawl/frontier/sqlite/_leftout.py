"""Links that are left out or withheld, in a SQLite file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from semcrawl.frontier.contract import LeftOutLinks, Withheld
from semcrawl.frontier.contract.leftout import most_first, reason_in
from semcrawl.frontier.linkblob import digest
from semcrawl.frontier.sqlite import _copies, withheldlinks
from semcrawl.frontier.sqlite.links import site_of
from semcrawl.frontier.sqlite.transaction import Transaction, encoded
from semcrawl.frontier.sqlite.writer import SqlitePart
from semcrawl.links import Reason
from semcrawl.relevance.families import Family, Verdict
from semcrawl.web.hosts import netloc_of

#: links left out that one call reads
_LEFT_AT_ONCE = 5000
_Note = tuple[int, bytes, bytes, bytes]


class SqliteLeftOut(SqlitePart):
    """Counts the links left out (:class:`~semcrawl.frontier.contract.LeftOutLog`)."""

    async def add(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links with the reasons for leaving them out."""
        notes = [
            (site_of(url), digest(url), encoded(f"{reason} {netloc_of(url)}"), encoded(url))
            for url, reason in links
        ]
        if notes:
            await self._store.run(lambda t: _leave_out(t, notes, limit))

    async def summary(self) -> LeftOutLinks:
        """Return the links left out so far, without those that another page brought in."""
        place: tuple[int, bytes] | None = (-1, b"")
        while place is not None:  # in portions, as other calls wait
            start = place
            place = await self._store.run(lambda t, start=start: _forget_seen(t, start))  # type: ignore[misc]
        rows, full = await self._store.run(
            lambda t: (
                t.execute("SELECT name, n, first FROM left_host").fetchall(),
                bool(t.totals["left_full"]),
            )
        )
        numbers = {name: number for name, number, _ in rows}
        return LeftOutLinks.of(numbers, {name: url for name, _, url in rows}, more=full)

    async def reason(self, url: str) -> Reason | None:
        """Return why a link was left out."""
        sql = "SELECT name FROM left_link WHERE site = ? AND digest = ?"
        rows = await self._store.rows(sql, site_of(url), digest(url))
        return reason_in(rows[0][0] if rows else None)


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


class SqliteWithheld(SqlitePart):
    """Links that wait apart (:class:`~semcrawl.frontier.contract.WithheldLinks`)."""

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Register families of links by name, before their links are added."""
        rows = [(name, found.document, found.pattern) for name, found in families.items()]
        if rows:
            await self._store.run(lambda t: withheldlinks.know(t, rows))

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Record verdicts on families."""
        rows = [
            (name, str(what), led_to and digest(led_to).hex()) for name, what, led_to in answers
        ]
        return await self._store.run(lambda t: withheldlinks.judge(t, rows))

    async def note_bodies(
        self,
        bodies: Sequence[tuple[str, str, str, str]],
        in_vain: Sequence[tuple[str, str]],
        known: int,
    ) -> tuple[bool, int, list[tuple[str, str]] | None]:
        """Record bodies, and paths without one; return the mirrors if they changed."""
        return await self._store.run(lambda t: _copies.note_bodies(t, bodies, in_vain, known))

    async def withhold_copies(self, links: Sequence[tuple[str, str, str]]) -> set[int]:
        """Withhold leased links that a mirror gave or is being asked for; return their indexes."""
        return await self._store.run(lambda t: _copies.withhold_copies(t, links))

    async def release_copies(self, limit: int) -> int:
        """Restore up to ``limit`` links that a mirror failed to give; return how many."""
        return await self._store.run(lambda t: _copies.release_copies(t, limit))

    async def restore(self, limit: int) -> int:
        """Restore up to ``limit`` links that need not be withheld now; return how many."""
        return await self._store.run(lambda t: withheldlinks.restore(t, limit))

    async def families(self) -> list[Withheld]:
        """Return the families with withheld links, those with most first."""
        rows = await self._store.run(
            lambda t: [
                (withheldlinks.fields(t, name), n) for name, n in withheldlinks.withholding(t)
            ]
        )
        return most_first(Withheld.of(facts, number) for facts, number in rows)
