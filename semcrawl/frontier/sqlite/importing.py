"""Taking an exported frontier into a SQLite file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from semcrawl.frontier.contract import WaitingLink
from semcrawl.frontier.contract.inspection import TOTALS
from semcrawl.frontier.sqlite.adding import restore, see_digests
from semcrawl.frontier.sqlite.transaction import Transaction
from semcrawl.frontier.sqlite.withheldlinks import set_field, stored
from semcrawl.frontier.sqlite.writer import Store


class SqliteImporter:
    """Fills an empty frontier (:class:`~semcrawl.frontier.contract.Importer`)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def links(self, links: Sequence[WaitingLink], *, failed: bool = False) -> None:
        """Put links into their old places, or among the failed ones."""
        for link in links:
            link.entry.check()
        await self._store.run(lambda t: restore(t, links, failed=failed))

    async def totals(self, totals: Mapping[str, float]) -> None:
        """Set the totals of the former frontier."""

        def totals_of(t: Transaction) -> None:
            for name, value in totals.items():
                if name in TOTALS:
                    t.set_total(name, value if name == "turn" else int(value))

        await self._store.run(totals_of)

    async def host_yield(self, host: str, numbers: Sequence[int], turn: float) -> None:
        """Set a host's counts, and its turn."""

        def host_yield(t: Transaction) -> None:
            row = t.host_named(host)
            row.fetches, row.targets, row.barren = numbers
            row.turn = turn or None
            t.touch(row)

        await self._store.run(host_yield)

    async def family(self, name: str, fields: Mapping[str, str]) -> None:
        """Set the state of a family of links."""

        def family(t: Transaction) -> None:
            for field, value in fields.items():
                set_field(t, name, field, stored(value))

        await self._store.run(family)

    async def seen(self, digests: Sequence[bytes]) -> None:
        """Count URLs as seen, by their digests."""
        await self._store.run(lambda t: see_digests(t, digests))
