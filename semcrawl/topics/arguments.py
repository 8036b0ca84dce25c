"""Arguments of topics that are comma-separated lists."""

from __future__ import annotations

import csv

from semcrawl.errors import UsageError


def split_list(argument: str) -> list[str]:
    """Split an argument at its commas, except inside double quotes.

    Raises ``UsageError`` for an unclosed quotation mark.
    """
    try:
        rows = list(csv.reader(argument.splitlines(), skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise UsageError(f"cannot read {argument!r}: {error}") from None
    return [part.strip() for row in rows for part in row if part.strip()]
