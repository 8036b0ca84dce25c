"""Hubs of earlier crawls, read from records."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy.orm import Session

from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.records import Fetch, fetch_row
from semcrawl.metadata.seedfates import Hub, HubBook
from semcrawl.web.vocabulary import FoundBy

A, B = "http://a.example/", "http://b.example/"


def record(url: str, parent: str | None, outcome: str, **more: object) -> FetchRecord:
    depth = 0 if parent is None else 1
    return FetchRecord(url, FetchOutcome(outcome), url, parent, depth, **more)  # type: ignore[arg-type]


def job(folder: Path, *records: FetchRecord) -> HubBook:
    engine = connect(crawl_db_url(folder))
    with Session(engine) as session, session.begin():
        session.add_all(Fetch(**fetch_row(one)) for one in records)
    book = HubBook()
    book.add(engine)
    engine.dispose()
    return book


def test_pages_that_led_to_much_with_few_requests_come_first(tmp_path: Path) -> None:
    good = [record(f"{B}{n}.ttl", f"{B}list", "fetched-rdf") for n in range(8)]
    poor = [record(f"{A}{n}", A, "fetched-rdf" if n < 3 else "http-error") for n in range(20)]
    lucky = [record(f"{A}one.ttl", f"{A}lucky", "fetched-rdf")]
    seeds = [record(A, None, "fetched-html"), record(f"{B}list", None, "fetched-html")]
    hubs = list(job(tmp_path, *seeds, *good, *poor, *lucky).best())
    assert [hub.url for hub in hubs] == [f"{B}list", f"{A}lucky", A]
    assert "8 RDF documents in 8 requests" in hubs[0].why
    assert Hub("http://a.example/", 1, 1).why == "page that led to 1 RDF document in 1 request"


def test_what_was_not_sent_and_pages_of_endpoints_do_not_count(tmp_path: Path) -> None:
    book = job(
        tmp_path,
        record(f"{A}robots.txt", None, "fetched-robots"),
        record(A, None, "fetched-html"),
        record(f"{A}x.ttl", A, "fetched-rdf"),
        record(f"{A}private", A, "robots-denied"),
        record(f"{A}sparql?query=1", f"{A}sparql", "fetched-rdf", found_by=FoundBy.ENDPOINT),
    )
    assert [(hub.url, hub.documents, hub.requests) for hub in book.pages.values()] == [(A, 1, 1)]
    (host,) = book.hosts.values()
    assert (host.url, host.documents, host.requests) == (A, 1, 2)


def test_several_jobs_are_added_up(tmp_path: Path) -> None:
    book = HubBook()
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        engine = connect(crawl_db_url(tmp_path / name))
        with Session(engine) as session, session.begin():
            session.add(Fetch(**fetch_row(record(f"{A}x.ttl", A, "fetched-rdf"))))
        book.add(engine)
        engine.dispose()
    assert (book.pages[A].documents, book.pages[A].requests) == (2, 2)
