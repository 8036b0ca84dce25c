"""The index of classes and properties by document."""

from __future__ import annotations

import pytest
from sqlalchemy import Engine, create_engine, func, select, text

from semcrawl.items import FetchOutcome, FetchRecord, RdfDocument
from semcrawl.metadata import database
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.records import Document, Term, TermUse
from semcrawl.pipelines.metadata import MetadataPipeline
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QuadsFile

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
DATASET = "http://schema.org/Dataset"
URL, OTHER = "http://example.org/a", "http://example.org/b"


def document(url: str, *statements: str, **more) -> RdfDocument:
    lines = "".join(f"<{url}#it> {statement} <{url}> .\n" for statement in statements)
    return RdfDocument(url, nquads=lines.encode(), quads=len(statements), **more)


def index_of(engine: Engine) -> set[tuple[str, str, str, int]]:
    joined = (
        select(Document.url, Term.kind, Term.iri, TermUse.count)
        .join(TermUse, TermUse.document_id == Document.id)
        .join(Term, Term.id == TermUse.term_id)
    )
    with engine.connect() as connection:
        return {tuple(row) for row in connection.execute(joined)}


def completeness(engine: Engine) -> dict[str, bool | None]:
    with engine.connect() as connection:
        return dict(tuple(row) for row in connection.execute(select(
            Document.url, Document.terms_complete
        )))  # fmt: skip


@pytest.fixture
def ledger(tmp_path):
    return connect(crawl_db_url(tmp_path))


def test_a_document_is_indexed_with_its_row(tmp_path, ledger):
    file = QuadsFile(tmp_path)
    file.append(
        [
            document(URL, f"<{TYPE}> <{DATASET}>", '<urn:p> "a"', '<urn:p> "b"'),
            document(OTHER, '<urn:p> "c"'),
        ]
    )
    file.close()
    assert index_of(ledger) == {
        (URL, "class", DATASET, 1),
        (URL, "property", TYPE, 1),
        (URL, "property", "urn:p", 2),
        (OTHER, "property", "urn:p", 1),
    }
    assert completeness(ledger) == {URL: True, OTHER: True}


def test_data_of_pages_are_indexed_beside_them(tmp_path):
    file = QuadsFile(tmp_path, EMBEDDED_FILE, EMBEDDED_LEDGER)
    file.append([document(URL, f"<{TYPE}> <{DATASET}>", format="embedded")])
    file.close()
    engine = connect(crawl_db_url(tmp_path, EMBEDDED_LEDGER))
    assert (URL, "class", DATASET, 1) in index_of(engine)


def test_a_changed_document_has_its_new_terms_and_a_gone_one_none(tmp_path, ledger):
    file = QuadsFile(tmp_path)
    file.append([document(URL, '<urn:old> "a"', fetched_at=1.0, content_hash="a")])
    file.append([document(OTHER, '<urn:p> "a"', fetched_at=1.0)])
    changed = document(
        URL, '<urn:new> "a"', fetched_at=2.0, content_hash="b", revisit=True
    )  # fmt: skip
    same = document(URL, '<urn:not> "a"', fetched_at=3.0, content_hash="b", revisit=True)
    gone = FetchRecord(
        OTHER, FetchOutcome.HTTP_ERROR, status=410, started_at=2.0, revisit=True
    )  # fmt: skip
    file.append([changed, gone])
    file.append([same])
    file.close()
    assert index_of(ledger) == {(URL, "property", "urn:new", 1)}


def test_changes_within_one_batch_leave_the_last(tmp_path, ledger):
    file = QuadsFile(tmp_path)
    file.append(
        [
            document(URL, '<urn:old> "a"', fetched_at=1.0, content_hash="a"),
            document(URL, '<urn:new> "a"', fetched_at=2.0, content_hash="b", revisit=True),
        ]
    )
    file.close()
    assert index_of(ledger) == {(URL, "property", "urn:new", 1)}


def test_what_does_not_fit_is_left_out_and_said(tmp_path, ledger):
    file = QuadsFile(tmp_path, terms=2)
    file.append([document(URL, *(f'<urn:p{n}> "a"' for n in range(4)))])
    file.close()
    assert {iri for _, _, iri, _ in index_of(ledger)} == {"urn:p0", "urn:p1"}
    assert completeness(ledger) == {URL: False}


def test_the_index_can_be_switched_off(tmp_path, ledger):
    file = QuadsFile(tmp_path, terms=0)
    file.append([document(URL, '<urn:p> "a"')])
    file.close()
    assert index_of(ledger) == set()
    assert completeness(ledger) == {URL: None}


async def test_a_database_elsewhere_has_the_index_too(tmp_path):
    url = f"sqlite:///{tmp_path}/shared.db"
    pipeline = MetadataPipeline(url, documents=True)
    pipeline.open_spider()
    await pipeline.process_item(document(URL, '<urn:p> "a"'))
    await pipeline.close_spider()
    assert index_of(connect(url)) == {(URL, "property", "urn:p", 1)}


def test_several_documents_share_the_row_of_a_term(tmp_path, ledger):
    for url in (URL, OTHER):
        file = QuadsFile(tmp_path)
        file.append([document(url, '<urn:p> "a"')])
        file.close()
    with ledger.connect() as connection:
        assert connection.scalar(select(func.count()).select_from(Term)) == 1


def test_documents_of_an_older_version_are_not_indexed_yet(tmp_path):
    url = f"sqlite:///{tmp_path}/crawl.db"
    engine = create_engine(url)
    database.migrate(engine, "0005")
    columns = (
        "url_key url request_url depth label rules format content_type bytes quads error_count "
        "etag last_modified content_hash fetched_at revision offset length first_seen_at "
        "last_seen_at visits changes"
    ).split()
    with engine.begin() as connection:
        names = ", ".join(f'"{name}"' for name in columns)
        values = ", ".join("0" for _ in columns)
        connection.execute(text(f"INSERT INTO document ({names}) VALUES ({values})"))
    assert completeness(connect(url)) == {"0": None}
