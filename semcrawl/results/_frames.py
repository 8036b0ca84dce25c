"""Returns tables of a job as pandas data frames (``semcrawl[frames]``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, select

from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError
from semcrawl.metadata.models import Document, Fetch, Term, TermUse
from semcrawl.results.quadsource import QuadSource, store_errors

if TYPE_CHECKING:
    import pandas as pd

    from semcrawl.results.job import Job

#: columns in seconds since the epoch
_TIMES = ("started_at", "fetched_at", "first_seen_at", "last_seen_at", "gone_at")
_TERMS: Any = (
    select(Document.url, Document.format, Term.kind, Term.iri, TermUse.count)
    .join(TermUse, TermUse.document_id == Document.id)
    .join(Term, Term.id == TermUse.term_id)
    .where(Document.gone_at.is_(None))
    .order_by(Document.id)
)
#: name → query, and whether it also reads the ledger of embedded data
FRAMES: dict[str, tuple[Select[Any], bool]] = {
    "records": (select(Fetch.__table__).order_by(Fetch.id), False),
    "documents": (
        select(Document.__table__).where(Document.gone_at.is_(None)).order_by(Document.id),
        True,
    ),
    "terms": (_TERMS, True),
}


def frame_of(job: Job, name: str) -> pd.DataFrame:
    """Return a table of the job, with times in UTC."""
    if name not in FRAMES:
        raise UsageError(f"there is no frame {name}; there are {', '.join(FRAMES)}")
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise UsageError(f"data frames need pandas: {install_hint('frames')}") from None
    if name == "terms":
        job.index()
    query, of_pages = FRAMES[name]
    sources = job.sources if of_pages else job.sources[:1]
    columns = [column.name for column in query.selected_columns]
    frame = pd.DataFrame.from_records(_rows(sources, query), columns=columns)
    for column in _TIMES:
        if column in frame:
            frame[column] = pd.to_datetime(frame[column], unit="s", utc=True)
    return frame


def _rows(sources: list[QuadSource], query: Select[Any]) -> Iterator[tuple[Any, ...]]:
    for source in sources:
        with store_errors(source.ledger), source.engine.connect() as connection:
            for row in connection.execution_options(yield_per=1000).execute(query):
                yield tuple(row)
