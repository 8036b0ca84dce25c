"""Statements that the documents of a crawl made, in a SQLite file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from semcrawl.frontier.sqlite.transaction import Transaction
from semcrawl.frontier.sqlite.writer import Store

#: statements that one transaction adds
_AT_ONCE = 2000
#: made when it is needed first: most crawls have no use for it, and older files lack it
_TABLE = (
    "CREATE TABLE IF NOT EXISTS said"
    " (id INTEGER PRIMARY KEY, statement INTEGER NOT NULL UNIQUE, document INTEGER NOT NULL)"
)


class SqliteStatements:
    """A table, numbered by age (:class:`~semcrawl.frontier.contract.Statements`)."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def add(self, document: int, statements: Sequence[int], limit: int) -> list[bool]:
        """Add the statements of a document; return for each whether no other one made it."""
        new: list[bool] = []
        for first in range(0, len(statements), _AT_ONCE):  # so that no other worker waits long
            said = [_signed(one) for one in statements[first : first + _AT_ONCE]]
            new += await self._store.run(partial(_add, _signed(document), said, limit))
        return new


def _add(document: int, statements: Sequence[int], limit: int, t: Transaction) -> list[bool]:
    t.execute(_TABLE)
    new = []
    for one in statements:
        row = t.row("SELECT document FROM said WHERE statement = ?", one)
        if row is None:
            t.execute("INSERT INTO said (statement, document) VALUES (?, ?)", (one, document))
        new.append(row is None or row[0] == document)
    t.execute("DELETE FROM said WHERE id <= (SELECT max(id) FROM said) - ?", (limit,))
    return new


def _signed(number: int) -> int:
    """Return an unsigned number of 64 bits as SQLite holds it."""
    return number - (1 << 64) if number >> 63 else number
