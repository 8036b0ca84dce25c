"""A harvest's lines on its seeds: where they led, and which of them gave nothing."""

from __future__ import annotations

from semcrawl.metadata.database import connect
from semcrawl.metadata.seeds import seed_fates

#: lines about single seeds
_SHOWN = 10


def seed_lines(database: str) -> list[str]:
    """Return a line for each seed that led to another domain or gave nothing; the first ones."""
    engine = connect(database)
    try:
        lines = [line for fate in seed_fates(engine) if (line := fate.line())]
    finally:
        engine.dispose()
    more = len(lines) - _SHOWN
    if more > 0:
        lines[_SHOWN:] = [f"… and {more:,} more seeds; crawl.db has their records"]
    return lines
