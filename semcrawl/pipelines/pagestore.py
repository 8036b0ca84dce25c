"""Converts pages of the topic page store to quads and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyoxigraph
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError, UsageError, existing_folder
from semcrawl.items import RdfDocument, TopicPage
from semcrawl.metadata.database import CRAWL_DB, opened, readable_db_url
from semcrawl.metadata.description import NAMESPACE
from semcrawl.metadata.records import Document
from semcrawl.pipelines.quadsfile import (
    EMBEDDED_FILE,
    EMBEDDED_LEDGER,
    IS_LOST,
    QUADS_FILE,
    is_sound,
)
from semcrawl.rdf.terms import RDF, XSD, iri_term, literal_term

#: file in the job folder
PAGES_FILE = "pages.nq"
#: its ledger: the database that lists which lines belong to which document
PAGES_LEDGER = "pages.db"
#: the files of quads of a job folder, each with its ledger
SPOOLS = ((QUADS_FILE, CRAWL_DB), (EMBEDDED_FILE, EMBEDDED_LEDGER), (PAGES_FILE, PAGES_LEDGER))
#: value of :attr:`~semcrawl.items.RdfDocument.format`
PAGE = "page"

_SCHEMA = "http://schema.org/"
_DCTERMS = "http://purl.org/dc/terms/"
_TITLE, _LANGUAGE = _DCTERMS + "title", _DCTERMS + "language"
_TEXT, _ABOUT = _SCHEMA + "text", _SCHEMA + "about"
_RELEVANCE, _REASON = NAMESPACE + "relevance", NAMESPACE + "reason"
#: fields that a page has in common with a document
_SHARED = {one.name for one in fields(TopicPage)} & {one.name for one in fields(RdfDocument)}
#: fields of a page by property
_TEXTS = {_TITLE: "title", _TEXT: "text", _LANGUAGE: "language", _ABOUT: "about"}


def document_of_page(page: TopicPage) -> RdfDocument:
    """Return the quads about a page as a document: URL and graph name are the page's address."""
    lines = _lines(page)
    return RdfDocument(
        **{name: getattr(page, name) for name in _SHARED},
        format=PAGE,
        quads=len(lines),
        nquads="".join(lines).encode("utf-8", "replace"),
    )


def stored_pages(folder: Path, damaged: list[str] | None = None) -> Iterator[TopicPage]:
    """Yield the pages of a job folder, in the order in which they were written.

    Pages whose lines are damaged or lost are left out; their addresses are added to ``damaged``.
    Raises ``StoreError`` if they cannot be read, and ``UsageError`` if there are none.
    """
    if not (folder / PAGES_LEDGER).is_file():
        raise UsageError(
            f"{existing_folder(folder)} keeps no pages: harvest with --targets html, which keeps "
            "those about the topic"
        )
    for page, _ in _stored(folder, damaged):
        yield page


def count_pages(folder: Path, about: str) -> tuple[int, int]:
    """Return the numbers of pages that a topic kept, and that only other topics of the job kept.

    Raises ``StoreError`` if that cannot be read.
    """
    if not (folder / PAGES_LEDGER).is_file():
        return 0, 0
    mine, all_pages = _iri(_ABOUT) + b" " + literal_term(about).encode() + b" ", 0
    kept = 0
    for lines in _graphs(folder):
        all_pages += 1
        kept += mine in lines if about else _iri(_ABOUT) not in lines
    return kept, all_pages - kept


def pages_about_else(folder: Path, about: str) -> Iterator[TopicPage]:
    """Yield the pages that only other topics kept, with the facts of their fetch.

    Raises ``StoreError`` if they cannot be read.
    """
    if not (folder / PAGES_LEDGER).is_file():
        return
    for page, row in _stored(folder):
        if about not in (page.about, *page.also_about):
            for name in _SHARED - {"url", "fetched_at", "revisit"}:
                setattr(page, name, getattr(row, name))
            page.fetched_at = row.last_seen_at
            yield page


def _graphs(folder: Path) -> Iterator[bytes]:
    """Yield the lines of each page."""
    for lines, _ in _rows(folder):
        yield lines


def _stored(folder: Path, damaged: list[str] | None = None) -> Iterator[tuple[TopicPage, Any]]:
    """Yield the pages with their rows in the ledger."""
    for lines, row in _rows(folder, damaged):
        yield page_of(lines), row


def _rows(folder: Path, damaged: list[str] | None = None) -> Iterator[tuple[bytes, Any]]:
    """Yield the sound lines of each page, and its row, in the order of the file."""
    path = folder / PAGES_FILE
    kept = (
        select(Document.__table__, IS_LOST.label("lost"))
        .where(Document.gone_at.is_(None))
        .order_by(Document.offset)
    )
    try:
        with (
            opened(readable_db_url(folder, PAGES_LEDGER)) as engine,
            path.open("rb") as file,
            engine.connect() as connection,
        ):
            for row in connection.execute(kept):
                if row.lost or not is_sound(file, row.offset, row.length, row.checksum):
                    if damaged is not None:
                        damaged.append(row.url)
                    continue
                file.seek(row.offset)
                yield file.read(row.length), row
    except (OSError, SQLAlchemyError, SyntaxError) as error:
        raise StoreError(f"cannot read {path}: {' '.join(str(error).split())}") from None


def _iri(name: str) -> bytes:
    return iri_term(name).encode()


def page_of(lines: bytes) -> TopicPage:
    """Return the page that the lines of one graph describe; raise ``SyntaxError`` if invalid."""
    page = TopicPage("")
    reasons: list[str] = []
    for quad in pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS):
        page.url = getattr(quad.graph_name, "value", "")
        name, value = quad.predicate.value, getattr(quad.object, "value", "")
        if name == _ABOUT and page.about:
            page.also_about += (value,)
        elif name in _TEXTS:
            setattr(page, _TEXTS[name], value)
        elif name == _RELEVANCE:
            page.relevance = float(value)
        elif name == _REASON:
            reasons.append(value)
    page.reasons = tuple(reasons)
    return page


def _lines(page: TopicPage) -> list[str]:
    """Return the N-Quads lines about a page."""
    language = page.language
    terms = [(RDF + "type", iri_term(_SCHEMA + "WebPage"))]
    if page.title:
        terms.append((_TITLE, literal_term(page.title, language)))
    if language:
        terms.append((_LANGUAGE, literal_term(language)))
    topics = (page.about, *page.also_about) if page.about else ()
    terms += [(_ABOUT, literal_term(topic)) for topic in topics]
    if page.relevance is not None:
        terms.append((_RELEVANCE, literal_term(f"{page.relevance:.6g}", datatype=XSD + "double")))
    terms += [(_REASON, literal_term(reason)) for reason in page.reasons]
    if page.text:
        terms.append((_TEXT, literal_term(page.text, language)))
    about = iri_term(page.url)
    return [f"{about} {iri_term(name)} {term} {about} .\n" for name, term in terms]
