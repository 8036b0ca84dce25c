"""Job folders made without a crawl."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import insert

from semcrawl.items import EMBEDDED, FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url
from semcrawl.metadata.records import Fetch, fetch_row
from semcrawl.pipelines.quadsfile import (
    EMBEDDED_FILE,
    EMBEDDED_LEDGER,
    QUADS_FILE,
    QuadsFile,
)

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
FOAF, SCHEMA = "http://xmlns.com/foaf/0.1/", "https://schema.org/"
ANN, BOB = "http://a.example/ann", "http://b.example/bob"
PAGE = "http://a.example/page.html"
PERSON = f"<{FOAF}Person>"


def document(url: str, *statements: str, **more: object) -> RdfDocument:
    """A document whose statements (predicate and object) are about its own address."""
    lines = "".join(f"<{url}> {statement} <{url}> .\n" for statement in statements)
    values = {"format": "turtle", "fetched_at": 5.0, **more}
    return RdfDocument(url, nquads=lines.encode(), quads=len(statements), **values)


def people() -> list[RdfDocument]:
    return [
        document(
            ANN,
            f"<{TYPE}> {PERSON}",
            f'<{FOAF}name> "Ann"@en',
            f'<{FOAF}name> "Anne"@FR',
            f"<{FOAF}knows> <{BOB}>",
            f'<{FOAF}age> "41"^^<http://www.w3.org/2001/XMLSchema#integer>',
        ),
        document(BOB, f"<{TYPE}> {PERSON}", f'<{FOAF}name> "Bob"'),
    ]


def page() -> RdfDocument:
    return document(PAGE, f"<{TYPE}> <{SCHEMA}Dataset>", f'<{SCHEMA}name> "data"', format=EMBEDDED)


def add(folder: Path, *items: RdfDocument | FetchRecord, terms: int = 1000) -> None:
    """Write items as a crawl does."""
    for of_pages, name, ledger in (
        (False, QUADS_FILE, CRAWL_DB),
        (True, EMBEDDED_FILE, EMBEDDED_LEDGER),
    ):
        wanted = [
            item
            for item in items
            if (isinstance(item, RdfDocument) and item.is_embedded) == of_pages
        ]
        if wanted or not of_pages:
            file = QuadsFile(folder, name, ledger, terms=terms)
            file.append(wanted)
            file.compact()
            file.close()


def record(folder: Path, *records: FetchRecord) -> None:
    engine = connect(crawl_db_url(folder))
    with engine.begin() as connection:
        connection.execute(insert(Fetch), [fetch_row(each) for each in records])
    engine.dispose()


def changed(url: str, *statements: str, at: float = 9.0) -> RdfDocument:
    return document(url, *statements, fetched_at=at, content_hash=f"{at}", revisit=True)


def gone(url: str) -> FetchRecord:
    return FetchRecord(url, FetchOutcome.HTTP_ERROR, status=410, started_at=20.0, revisit=True)
