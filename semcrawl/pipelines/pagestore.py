"""Converts pages of the topic page store to quads and back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pyoxigraph
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from semcrawl.errors import StoreError, UsageError, existing_folder
from semcrawl.items import RdfDocument, TopicPage
from semcrawl.metadata.database import one_line, opened, readable_db_url
from semcrawl.metadata.description import NAMESPACE
from semcrawl.metadata.models import Document
from semcrawl.rdf.terms import RDF, XSD, iri_term, literal_term

#: file in the job folder
PAGES_FILE = "pages.nq"
#: its ledger: the database that lists which lines belong to which document
PAGES_LEDGER = "pages.db"
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


def stored_pages(folder: Path) -> Iterator[TopicPage]:
    """Yield the pages of a job folder, in the order in which they were written.

    Raises ``StoreError`` if they cannot be read, and ``UsageError`` if there are none.
    """
    path, ledger = folder / PAGES_FILE, folder / PAGES_LEDGER
    if not ledger.is_file():
        raise UsageError(
            f"{existing_folder(folder)} keeps no pages: harvest with --targets html, which keeps "
            "those about the topic"
        )
    places = select(Document.offset, Document.length).where(Document.gone_at.is_(None))
    try:
        with (
            opened(readable_db_url(folder, PAGES_LEDGER)) as engine,
            path.open("rb") as file,
            engine.connect() as connection,
        ):
            for offset, length in connection.execute(places.order_by(Document.offset)):
                file.seek(offset)
                yield page_of(file.read(length))
    except (OSError, SQLAlchemyError, SyntaxError) as error:
        raise StoreError(f"cannot read {path}: {' '.join(str(error).split())}") from None


def count_pages(folder: Path) -> int:
    """Return the number of pages of a job folder; raise ``StoreError`` if that cannot be read."""
    if not (folder / PAGES_LEDGER).is_file():
        return 0
    ledger = readable_db_url(folder, PAGES_LEDGER)
    try:
        with opened(ledger) as engine, engine.connect() as connection:
            kept = select(func.count()).where(Document.gone_at.is_(None))
            return connection.scalar(kept) or 0
    except SQLAlchemyError as error:
        raise StoreError(f"cannot read {folder / PAGES_LEDGER}: {one_line(error)}") from None


def page_of(lines: bytes) -> TopicPage:
    """Return the page that the lines of one graph describe; raise ``SyntaxError`` if invalid."""
    page = TopicPage("")
    reasons: list[str] = []
    for quad in pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS):
        page.url = getattr(quad.graph_name, "value", "")
        name, value = quad.predicate.value, getattr(quad.object, "value", "")
        if name in _TEXTS:
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
    if page.about:
        terms.append((_ABOUT, literal_term(page.about)))
    if page.relevance is not None:
        terms.append((_RELEVANCE, literal_term(f"{page.relevance:.6g}", datatype=XSD + "double")))
    terms += [(_REASON, literal_term(reason)) for reason in page.reasons]
    if page.text:
        terms.append((_TEXT, literal_term(page.text, language)))
    about = iri_term(page.url)
    return [f"{about} {iri_term(name)} {term} {about} .\n" for name, term in terms]
