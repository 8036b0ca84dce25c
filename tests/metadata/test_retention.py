"""Old records of attempts go, except those that say what an address is."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import insert, select

from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.history import forget_attempts, visited_documents
from semcrawl.metadata.records import Fetch, fetch_row

PAGE, NOTHING = FetchOutcome.FETCHED_HTML, FetchOutcome.NOT_MODIFIED


def test_the_first_and_the_last_of_each_outcome_stay(tmp_path: Path) -> None:
    engine = connect(crawl_db_url(tmp_path))
    attempts = [
        ("a", PAGE, 1.0), ("a", PAGE, 2.0), ("a", PAGE, 3.0), ("a", NOTHING, 4.0),
        ("a", NOTHING, 5.0), ("a", NOTHING, 6.0), ("a", NOTHING, 11.0), ("b", PAGE, 2.0),
        ("c", PAGE, 9.0), ("c", PAGE, 10.0), ("c", PAGE, 12.0),
    ]  # fmt: skip
    records = [
        FetchRecord(f"http://x.example/{name}", outcome, started_at=at)
        for name, outcome, at in attempts
    ]
    rows = [{**fetch_row(one), "etag": f"{one.started_at}"} for one in records]
    with engine.begin() as connection:
        connection.execute(insert(Fetch), rows)

    def kept() -> list[tuple[str, float]]:
        with engine.connect() as connection:
            rows = connection.execute(select(Fetch.url, Fetch.started_at).order_by(Fetch.id))
            return [(url[-1], at) for url, at in rows]

    visited = {(one.url, one.etag) for one in visited_documents(engine)}
    assert forget_attempts(engine, 0.5) == 0
    assert forget_attempts(engine, 10.0) == 4
    assert kept() == [
        ("a", 1.0),
        ("a", 3.0),
        ("a", 11.0),
        ("b", 2.0),
        ("c", 9.0),
        ("c", 10.0),
        ("c", 12.0),
    ]
    assert {(one.url, one.etag) for one in visited_documents(engine)} == visited
    assert forget_attempts(engine, 10.0) == 0
    engine.dispose()
