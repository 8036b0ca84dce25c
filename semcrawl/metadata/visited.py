"""What re-visits start from: documents and pages with their history."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Engine, and_, case, distinct, func, select
from sqlalchemy.orm import aliased

from semcrawl.items import FetchOutcome
from semcrawl.metadata.database import connect
from semcrawl.metadata.models import Document, Fetch
from semcrawl.revisit import Revisit, RevisitOptions, Visited, due
from semcrawl.vocabulary import Kind


def due_revisits(url: str, options: RevisitOptions, now: float) -> list[Revisit]:
    """Return what of the database at ``url`` is to be re-visited at ``now``, most urgent first.

    Raises ``UsageError`` and ``StoreError`` as :func:`semcrawl.metadata.database.connect` does.
    """
    engine = connect(url)
    try:
        return due(visited_documents(engine), options, now)
    finally:
        engine.dispose()


def visited_documents(engine: Engine) -> Iterator[Visited]:
    """Yield every RDF document that is not gone, and every HTML page that was read."""
    with engine.execution_options(read_only=True).connect() as connection:
        found: dict[str | None, int] = {}
        for row in connection.execute(select(Document).where(Document.gone_at.is_(None))):
            found[row.parent_url] = found.get(row.parent_url, 0) + 1
            yield Visited(
                url=row.url,
                kind=Kind.RDF,
                etag=row.etag,
                last_modified=row.last_modified,
                visits=row.visits,
                changes=row.changes,
                first_seen_at=row.first_seen_at,
                last_seen_at=row.last_seen_at,
                richness=row.quads,
                parent_url=row.parent_url,
                depth=row.depth,
                label=row.label,
                rules=tuple(row.rules.split()),
            )
        url = case((Fetch.final_url != "", Fetch.final_url), else_=Fetch.url)
        is_read = Fetch.outcome == FetchOutcome.FETCHED_HTML
        content = case((and_(is_read, Fetch.content_hash != ""), Fetch.content_hash))
        pages = (
            select(
                url.label("url"),
                func.count().label("visits"),
                func.min(Fetch.id).label("first"),
                func.max(case((is_read, Fetch.id))).label("last_read"),
                func.count(distinct(content)).label("contents"),
                func.min(Fetch.started_at).label("first_seen_at"),
                func.max(Fetch.started_at).label("last_seen_at"),
            )
            .where(Fetch.outcome.in_((FetchOutcome.FETCHED_HTML, FetchOutcome.NOT_MODIFIED)))
            .group_by(url)
            .having(func.max(case((is_read, 1), else_=0)) == 1)
            .subquery()
        )
        first, last = aliased(Fetch), aliased(Fetch)
        rows = connection.execute(
            select(
                pages,
                first.parent_url,
                first.depth,
                first.label,
                first.rules,
                last.etag,
                last.last_modified,
            )
            .join(first, first.id == pages.c.first)
            .join(last, last.id == pages.c.last_read)
            .where(~select(Document.id).where(Document.url == pages.c.url).exists())
        )
        for row in rows:
            yield Visited(
                url=row.url,
                kind=Kind.HTML,
                etag=row.etag,
                last_modified=row.last_modified,
                visits=row.visits,
                changes=max(0, row.contents - 1),
                first_seen_at=row.first_seen_at,
                last_seen_at=row.last_seen_at,
                richness=found.get(row.url, 0),
                parent_url=row.parent_url,
                depth=row.depth,
                label=row.label,
                rules=tuple(row.rules.split()),
            )
