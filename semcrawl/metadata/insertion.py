"""Many rows into a table by the driver's own call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Dialect, Table, insert


class Insertion:
    """Inserts rows of numbers and text by the driver's own call.

    SQLAlchemy writes the SQL, once. Leaving each row's values to it as well would cost as much
    again as the insertion: there is nothing to convert.
    """

    def __init__(self, table: Table, dialect: Dialect, columns: Sequence[str]) -> None:
        """Write the SQL for rows that have two or more ``columns``."""
        compiled = insert(table).compile(dialect=dialect, column_keys=list(columns))
        self._sql = str(compiled)
        self._values: Callable[[dict[str, Any]], Any] = (
            itemgetter(*compiled.positiontup) if compiled.positiontup else dict
        )

    def __call__(self, connection: Connection, rows: Iterable[dict[str, Any]]) -> None:
        """Insert the rows; raises SQLAlchemy's errors."""
        connection.exec_driver_sql(self._sql, [self._values(row) for row in rows])
