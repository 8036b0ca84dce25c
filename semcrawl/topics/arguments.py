"""Arguments of topics: lists whose parts have commas between them."""

from __future__ import annotations

import csv

from semcrawl.errors import UsageError


def split_list(argument: str) -> list[str]:
    """Return the parts of an argument; one in double quotes may hold commas.

    Raises ``UsageError`` for a quotation mark that is not closed.
    """
    try:
        rows = list(csv.reader(argument.splitlines(), skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise UsageError(f"cannot read {argument!r}: {error}") from None
    return [part.strip() for row in rows for part in row if part.strip()]
