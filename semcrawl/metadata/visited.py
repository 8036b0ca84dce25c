"""Reads the history of documents and pages, for re-visits."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Engine, and_, case, distinct, func, or_, select
from sqlalchemy.orm import aliased

from semcrawl.config.revisit import Revisit, RevisitOptions, Visited, due
from semcrawl.items import FetchOutcome
from semcrawl.metadata.database import opened
from semcrawl.metadata.models import Document, Fetch
from semcrawl.web.vocabulary import FoundBy, Kind


def due_revisits(
    url: str,
    options: RevisitOptions,
    now: float,
    files: Collection[str] = (),
    *,
    images: bool = False,
    broken: Collection[str] = (),
) -> list[Revisit]:
    """Return the re-visits that are due at ``now`` by the database at ``url``, most urgent first.

    ``files``: URLs of kept files that are neither RDF nor pages. ``images``: include images that
    were kept. ``broken``: URLs of broken images, which may work now. Raises ``UsageError`` and
    ``StoreError`` as :func:`semcrawl.metadata.database.connect` does.
    """
    with opened(url) as engine:
        return due(visited_documents(engine, files, images=images, broken=broken), options, now)


def read_sitemaps(url: str) -> list[tuple[str, str | None, int, str]]:
    """Return address, parent, depth and rules of each sitemap that was read, oldest first.

    ``url`` is that of the database. Raises as :func:`due_revisits` does.
    """
    place = case((Fetch.final_url != "", Fetch.final_url), else_=Fetch.url)
    query = (
        select(place, Fetch.parent_url, Fetch.depth, Fetch.rules)
        .where(Fetch.outcome == FetchOutcome.FETCHED_SITEMAP)
        .order_by(Fetch.id)
    )
    with opened(url) as engine, engine.connect() as connection:
        found = {row[0]: tuple(row) for row in connection.execute(query)}
    return list(found.values())


def visited_documents(
    engine: Engine,
    files: Collection[str] = (),
    *,
    images: bool = False,
    broken: Collection[str] = (),
) -> Iterator[Visited]:
    """Yield every RDF document that is not gone, every page that was read, ``files``, images.

    They include addresses that answered 404, and ``broken`` images, as these may come back.
    """
    with engine.execution_options(read_only=True).connect() as connection:
        found: dict[str | None, int] = {}
        was_missing = and_(Fetch.outcome == FetchOutcome.HTTP_ERROR, Fetch.status == 404)
        is_wanted = or_(
            Document.gone_at.is_(None), Document.url.in_(select(Fetch.url).where(was_missing))
        )
        # answers of an endpoint are no documents of their own: a new job reads the endpoint again
        is_wanted = and_(is_wanted, Document.found_by != FoundBy.ENDPOINT)
        for row in connection.execute(select(Document).where(is_wanted)):
            found[row.parent_url] = found.get(row.parent_url, 0) + (row.gone_at is None)
            missing = row.gone_at is not None
            yield _visited(row, Kind.RDF, row.changes, richness=row.quads, missing=missing)
        url = case((Fetch.final_url != "", Fetch.final_url), else_=Fetch.url)
        read = [FetchOutcome.FETCHED_HTML]
        read += [FetchOutcome.FETCHED_OTHER] if files or broken else []
        read += [FetchOutcome.FETCHED_IMAGE] if files or images else []
        is_read = Fetch.outcome.in_(read)
        content = case((and_(is_read, Fetch.content_hash != ""), Fetch.content_hash))
        pages = (
            select(
                url.label("url"),
                func.count().label("visits"),
                func.min(Fetch.id).label("first"),
                func.max(case((is_read, Fetch.id))).label("last_read"),
                func.max(case((was_missing, Fetch.id), else_=0)).label("last_missing"),
                func.count(distinct(content)).label("contents"),
                func.min(Fetch.started_at).label("first_seen_at"),
                func.max(Fetch.started_at).label("last_seen_at"),
            )
            .where(
                or_(
                    Fetch.outcome.in_((*read, FetchOutcome.NOT_MODIFIED)),
                    was_missing,
                )
            )
            .group_by(url)
            .having(func.max(case((is_read, 1), else_=0)) == 1)
            .subquery()
        )
        # an address may have given a document once and a page later: it counts as a document
        documents = select(Document.url).where(is_wanted)
        first, last = aliased(Fetch), aliased(Fetch)
        rows = connection.execute(
            select(
                pages,
                first.parent_url,
                first.depth,
                first.label,
                first.rules,
                first.found_by,
                last.outcome,
                last.etag,
                last.last_modified,
                last.content_hash,
                last.relevance,
            )
            .join(first, first.id == pages.c.first)
            .join(last, last.id == pages.c.last_read)
            .where(pages.c.url.not_in(documents))
        )
        for row in rows:
            is_page = row.outcome == FetchOutcome.FETCHED_HTML
            is_broken = row.url in broken and row.outcome == FetchOutcome.FETCHED_OTHER
            is_image = is_broken or (images and row.outcome == FetchOutcome.FETCHED_IMAGE)
            if not (is_page or is_image or row.url in files):
                continue
            yield _visited(
                row,
                Kind.HTML if is_page else Kind.OTHER,
                max(0, row.contents - 1),
                richness=found.get(row.url, 0),
                missing=is_broken or row.last_missing > row.last_read,
                image=is_image,
                near_text=row.relevance if is_image else None,
            )


def _visited(row: Any, kind: Kind, changes: int, **others: Any) -> Visited:
    """Make the history of a row; ``others``: further fields."""
    return Visited(
        url=row.url,
        kind=kind,
        etag=row.etag,
        last_modified=row.last_modified,
        visits=row.visits,
        changes=changes,
        first_seen_at=row.first_seen_at,
        last_seen_at=row.last_seen_at,
        parent_url=row.parent_url,
        depth=row.depth,
        label=row.label,
        rules=tuple(row.rules.split()),
        found_by=FoundBy.read(row.found_by),
        content=row.content_hash,
        **others,
    )
