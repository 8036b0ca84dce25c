"""Re-visits start from what the database tells of documents and pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import insert

from semcrawl.config.revisit import RevisitOptions, RevisitPolicy, Visited
from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.history import due_revisits, visited_documents
from semcrawl.metadata.records import Fetch, fetch_row
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.web.vocabulary import FoundBy, Kind

PAGE, DATA, GONE = "http://example.org/", "http://example.org/data", "http://example.org/gone"
MAP = FoundBy.SITEMAP


def page(at: float, content: str, outcome=FetchOutcome.FETCHED_HTML) -> FetchRecord:
    return FetchRecord(
        PAGE,
        outcome,
        depth=0 if at == 1 else 9,
        label="HR",
        rules=("p1",),
        found_by=FoundBy.SEED,
        started_at=at,
        extra={"content_hash": content, "etag": f'"{content}"' if content else ""},
    )


def test_documents_and_pages_come_with_their_history(tmp_path):
    file = QuadsFile(tmp_path)
    file.append(
        [
            RdfDocument(DATA, parent_url=PAGE, quads=5, etag='"d"', fetched_at=1.0, found_by=MAP),
            RdfDocument(url=GONE, parent_url=PAGE, quads=5, fetched_at=1.0),
            FetchRecord(GONE, FetchOutcome.HTTP_ERROR, status=410, started_at=5.0, revisit=True),
        ]
    )
    file.close()
    engine = connect(crawl_db_url(tmp_path))
    records = [
        page(1, "a"),
        page(2, "b"),
        page(3, "", FetchOutcome.NOT_MODIFIED),
        FetchRecord(DATA, FetchOutcome.FETCHED_RDF, started_at=1.0),
        FetchRecord("http://example.org/dead", FetchOutcome.HTTP_ERROR, started_at=1.0),
    ]
    with engine.begin() as connection:
        connection.execute(insert(Fetch), [fetch_row(record) for record in records])
    assert list(visited_documents(engine)) == [
        Visited(
            DATA,
            etag='"d"',
            first_seen_at=1.0,
            last_seen_at=1.0,
            richness=5,
            parent_url=PAGE,
            found_by=MAP,
        ),
        Visited(
            PAGE,
            Kind.HTML,
            etag='"b"',
            visits=3,
            changes=1,
            first_seen_at=1.0,
            last_seen_at=3.0,
            richness=1,
            depth=0,
            label="HR",
            rules=("p1",),
            found_by=FoundBy.SEED,
            content="b",
        ),
    ]


def test_what_is_due_comes_with_its_headers(tmp_path):
    file = QuadsFile(tmp_path)
    file.append([RdfDocument(url=DATA, quads=5, etag='"d"', fetched_at=1.0)])
    file.close()
    options = RevisitOptions(RevisitPolicy.UNIFORM, 10.0)
    url = crawl_db_url(tmp_path)
    assert due_revisits(url, options, 5.0) == []
    (revisit,) = due_revisits(url, options, 20.0)
    assert (revisit.url, revisit.headers) == (DATA, {"If-None-Match": '"d"'})


def fetched(at: float, outcome: FetchOutcome, status: int = 200, quads: int = 0) -> FetchRecord:
    return FetchRecord(DATA, outcome, status=status, quads=quads, started_at=at, revisit=True)


def known_after(tmp_path: Path, *records: FetchRecord) -> list[Visited]:
    """The state of a document that was fetched at 1, and then had these records."""
    file = QuadsFile(tmp_path)
    file.append([RdfDocument(url=DATA, quads=5, etag='"d"', fetched_at=1.0), *records])
    file.close()
    engine = connect(crawl_db_url(tmp_path))
    rows = [fetch_row(record) for record in (fetched(1, FetchOutcome.FETCHED_RDF), *records)]
    with engine.begin() as connection:
        connection.execute(insert(Fetch), rows)
    return list(visited_documents(engine))


def test_a_page_in_the_place_of_a_document_is_looked_at_again(tmp_path: Path) -> None:
    """It may become a document again."""
    (page,) = known_after(tmp_path, fetched(5, FetchOutcome.FETCHED_HTML))
    assert (page.url, page.kind, page.missing) == (DATA, Kind.HTML, False)


@pytest.mark.parametrize(("status", "visits"), [(404, [3]), (410, [])])
def test_what_is_not_found_is_looked_for_again_and_what_is_gone_is_not(
    tmp_path: Path, status: int, visits: list[int]
) -> None:
    looks = [fetched(at, FetchOutcome.HTTP_ERROR, status) for at in (5, 9)]
    found = known_after(tmp_path, *looks)
    assert [(one.url, one.missing, one.visits, one.last_seen_at) for one in found] == [
        (DATA, True, count, 9.0) for count in visits
    ]


def test_a_page_that_is_not_found_is_looked_for_once(tmp_path: Path) -> None:
    found = known_after(
        tmp_path,
        fetched(5, FetchOutcome.FETCHED_HTML),
        fetched(9, FetchOutcome.HTTP_ERROR, 404),
    )
    assert [(one.url, one.missing) for one in found] == [(DATA, True)]
