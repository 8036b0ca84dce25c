"""Documents for the tests of the targets."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from pathlib import Path

from semcrawl.items import RdfDocument


def url_of(name: str) -> str:
    return f"http://example.org/{name}"


def document(name: str, *values: str, graph: str | None = None, **more) -> RdfDocument:
    """A document with one statement per value, in its own graph or in ``graph``."""
    url = url_of(name)
    lines = "".join(f'<{url}> <http://example.org/p> "{v}" <{graph or url}> .\n' for v in values)
    more.setdefault("content_hash", sha256(lines.encode()).hexdigest())
    more.setdefault("fetched_at", 1000.0)
    return RdfDocument(url=url, nquads=lines.encode(), quads=len(values), format="turtle", **more)


def rows(folder: Path, query: str) -> list[tuple]:
    with sqlite3.connect(folder / "crawl.db") as connection:
        return connection.execute(query).fetchall()
