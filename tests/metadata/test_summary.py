"""The summary of a job says what its files hold."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from sqlalchemy import insert

from semcrawl.config.targets import Targets
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.records import Fetch, fetch_row
from semcrawl.metadata.summary import Summary, summarise
from semcrawl.web.vocabulary import FoundBy

DATA = "http://example.org/data"
RDF, HTML = FetchOutcome.FETCHED_RDF, FetchOutcome.FETCHED_HTML


def summary_of(folder: Path, attempts: Iterable[tuple[FetchOutcome, int, int]]) -> Summary:
    """Sum up attempts at one URL: outcome, status and quads of each."""
    engine = connect(crawl_db_url(folder))
    rows = [
        fetch_row(FetchRecord(DATA, outcome, status=status, quads=quads))
        for outcome, status, quads in attempts
    ]
    with engine.begin() as connection:
        connection.execute(insert(Fetch), rows)
    return summarise(engine)


@pytest.mark.parametrize(
    ("last", "documents", "quads", "pages", "embedded"),
    [
        ((RDF, 200, 5), 1, 5, 0, 0),
        ((FetchOutcome.NOT_MODIFIED, 304, 0), 1, 3, 0, 0),
        ((FetchOutcome.HTTP_ERROR, 500, 0), 1, 3, 0, 0),
        ((FetchOutcome.TIMEOUT, 0, 0), 1, 3, 0, 0),
        ((FetchOutcome.REDIRECTED, 302, 0), 1, 3, 0, 0),
        ((FetchOutcome.HTTP_ERROR, 404, 0), 0, 0, 0, 0),
        ((FetchOutcome.REDIRECTED, 301, 0), 0, 0, 0, 0),
        ((HTML, 200, 0), 0, 0, 1, 0),
        ((HTML, 200, 4), 0, 0, 1, 4),
    ],
)
def test_a_document_counts_as_its_last_visit_found_it(
    tmp_path: Path,
    last: tuple[FetchOutcome, int, int],
    documents: int,
    quads: int,
    pages: int,
    embedded: int,
) -> None:
    summary = summary_of(tmp_path, [(RDF, 200, 3), last])
    assert (summary.rdf_documents, summary.quads) == (documents, quads)
    assert (summary.html_documents, summary.embedded_quads) == (pages, embedded)
    (host,) = summary.hosts.values()
    assert (host.requests, host.rdf_documents, host.quads) == (2, documents, quads)


def test_a_page_that_becomes_a_document_is_no_page_any_more(tmp_path: Path) -> None:
    summary = summary_of(tmp_path, [(HTML, 200, 2), (HTML, 200, 1), (RDF, 200, 3)])
    assert (summary.html_documents, summary.embedded_documents) == (0, 0)
    assert (summary.rdf_documents, summary.quads, summary.requests) == (1, 3, 3)


def test_what_was_no_request_for_a_link_is_told_apart(tmp_path: Path) -> None:
    """Nothing sent, robots.txt, JSON-LD contexts; and a document counts under its final URL."""
    site = "http://example.org"
    final = FetchRecord(f"{site}/old", RDF, final_url=DATA, status=200, quads=3, bytes=10)
    again = FetchRecord(f"{site}/older", RDF, final_url=DATA, status=200, quads=3, bytes=10)
    context = {"rules": ("context",), "bytes": 7}
    records = [
        FetchRecord(f"{site}/robots.txt", FetchOutcome.FETCHED_ROBOTS, bytes=5),
        FetchRecord(f"{site}/context", FetchOutcome.FETCHED_CONTEXT, **context),
        FetchRecord(f"{site}/closed", FetchOutcome.ROBOTS_DENIED, **context),
        FetchRecord(f"{site}/denied", FetchOutcome.ROBOTS_DENIED),
        FetchRecord(f"{site}/page", HTML, status=200),
        FetchRecord(f"{site}/down", FetchOutcome.TIMEOUT),
        final,
        again,
    ]
    engine = connect(crawl_db_url(tmp_path))
    with engine.begin() as connection:
        connection.execute(insert(Fetch), [fetch_row(record) for record in records])
    summary = summarise(engine)
    assert (summary.requests, summary.robots_requests, summary.context_requests) == (4, 1, 1)
    assert (summary.rdf_documents, summary.quads, summary.bytes) == (1, 3, 39)
    assert (summary.html_documents, summary.embedded_documents) == (1, 0)
    (host,) = summary.hosts.values()
    assert (host.requests, host.errors, host.harvest_rate) == (4, 1, 0.25)
    assert sum(summary.outcomes.values()) == len(records)


@pytest.mark.parametrize(
    ("targets", "threshold", "urls"),
    [
        ("rdf", 0.0, "data weak"),
        ("rdf", 0.5, "data"),
        ("rdf,html", 0.5, "data page plain"),
        ("html", 0.5, "page plain"),
        ("embedded", 0.5, "page"),
        ("text/csv", 0.5, "table"),
        ("images", 0.5, "image"),
    ],
)
def test_the_harvest_rate_counts_targets(
    tmp_path: Path, targets: str, threshold: float, urls: str
) -> None:
    """What the crawl is after, and with a topic only what is about it; each once."""
    records = [
        FetchRecord("http://a.example/data", RDF, status=200, quads=3, relevance=0.9),
        FetchRecord("http://a.example/weak", RDF, status=200, quads=3, relevance=0.1),
        FetchRecord("http://a.example/page", HTML, status=200, quads=1, relevance=0.9),
        FetchRecord("http://a.example/page", HTML, status=200, quads=1, relevance=0.9),
        FetchRecord("http://a.example/plain", HTML, status=200, relevance=0.9),
        FetchRecord("http://a.example/off", HTML, status=200, relevance=0.1),
        FetchRecord("http://a.example/table", FetchOutcome.FETCHED_OTHER, content_type="text/csv"),
        FetchRecord("http://a.example/odd", FetchOutcome.FETCHED_OTHER, content_type="text/x"),
        FetchRecord("http://a.example/far", FetchOutcome.OFF_TOPIC, status=200, relevance=0.1),
    ]
    if targets == "images":
        records.append(FetchRecord("http://a.example/image", FetchOutcome.FETCHED_IMAGE))
    engine = connect(crawl_db_url(tmp_path))
    with engine.begin() as connection:
        connection.execute(insert(Fetch), [fetch_row(record) for record in records])
    summary = summarise(engine, Targets.parse(targets), threshold)
    assert summary.targets == len(urls.split())
    assert summary.harvest_rate == summary.targets / len(records)
    (host,) = summary.hosts.values()
    assert host.harvest_rate == summary.harvest_rate


def test_checks_that_were_stopped_are_counted(tmp_path: Path) -> None:
    engine = connect(crawl_db_url(tmp_path))
    reasons = [(), ("shape: ASK: False",), ("shape: the check was stopped: no time left",)]
    records = [
        FetchRecord(f"http://a.example/{n}", FetchOutcome.OFF_TOPIC, reasons=each)
        for n, each in enumerate(reasons)
    ]
    with engine.begin() as connection:
        connection.execute(insert(Fetch), [fetch_row(record) for record in records])
    assert summarise(engine).checks_stopped == 1


def test_what_led_to_a_document_is_counted(tmp_path: Path) -> None:
    engine = connect(crawl_db_url(tmp_path))
    records = [
        FetchRecord("http://a.example/robots.txt", FetchOutcome.FETCHED_ROBOTS),
        FetchRecord("http://a.example/", HTML, found_by=FoundBy.SEED),
        FetchRecord("http://a.example/x", FetchOutcome.HTTP_ERROR, found_by=FoundBy.SITEMAP),
        FetchRecord("http://a.example/y", RDF, found_by=FoundBy.SITEMAP),
        FetchRecord("http://a.example/y", RDF, found_by=FoundBy.SITEMAP, revisit=True),
    ]
    with engine.begin() as connection:
        connection.execute(insert(Fetch), [fetch_row(record) for record in records])
    assert summarise(engine).as_dict()["found_by"] == {
        "seed": {"requests": 1, "rdf_documents": 0, "html_documents": 1},
        "sitemap": {"requests": 3, "rdf_documents": 1, "html_documents": 0},
    }
