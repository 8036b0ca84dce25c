"""Finds documents and pages of earlier runs that are due for a re-visit."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from scrapy.settings import BaseSettings
from sqlalchemy import select

from semcrawl.config.jobdir import ResultOptions, job_folder, job_path
from semcrawl.config.readoptions import ReaderOptions
from semcrawl.config.revisit import Revisit, RevisitOptions
from semcrawl.config.urlpatterns import UrlPatterns
from semcrawl.frontier.links import GUESS, SITEMAP, LinkState
from semcrawl.houses import houses
from semcrawl.items import FetchOutcome
from semcrawl.metadata.database import CRAWL_DB, crawl_db_url, opened
from semcrawl.metadata.models import Document, Fetch
from semcrawl.metadata.rows import in_parts
from semcrawl.metadata.visited import due_revisits, read_sitemaps
from semcrawl.pipelines.files import kept_files, lost_files
from semcrawl.pipelines.pagestore import SPOOLS
from semcrawl.pipelines.quadsfile import set_damaged_aside
from semcrawl.pipelines.soundness import IS_LOST
from semcrawl.relevance import Label
from semcrawl.settings.reader import fill
from semcrawl.web.vocabulary import FoundBy

#: scopes, each of which includes the one before
_ORDER = ("site", "parent", "any")
#: a priority above that of any document
_FIRST = 1e15
#: characters of a digest that are compared
_DIGEST = 16


@dataclass(frozen=True, slots=True)
class Reach:
    """Scope and patterns of a run."""

    scope: str = "site"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, scope: str, patterns: UrlPatterns) -> Self:
        """Make the reach of a run."""
        include, exclude = (
            tuple(sorted({pattern.text for pattern in each}))
            for each in (patterns.include, patterns.exclude)
        )
        return cls(scope.strip(), include, exclude)

    @classmethod
    def load(cls, data: bytes | None) -> Self:
        """Read the reach of an earlier run; the default if it left none."""
        try:
            found = json.loads(data or b"{}")
            lists = (tuple(map(str, found.get(name, ()))) for name in ("include", "exclude"))
            return cls(str(found.get("scope", "site")), *lists)
        except (ValueError, AttributeError, TypeError):
            return cls()

    def dump(self) -> bytes:
        """Return the bytes that :meth:`load` reads."""
        return json.dumps(asdict(self)).encode()

    def exceeds(self, before: Reach) -> bool:
        """Whether this run may follow links that an earlier one left out."""
        if self.scope != before.scope:
            known = self.scope in _ORDER and before.scope in _ORDER
            if not known or _ORDER.index(self.scope) > _ORDER.index(before.scope):
                return True
        if before.include and (not self.include or set(self.include) - set(before.include)):
            return True
        return bool(set(before.exclude) - set(self.exclude))


def fetched_pages(settings: BaseSettings) -> list[tuple[str, float, LinkState]]:
    """Return the pages of the job folder, to be read again, those near the seeds first.

    They have no validators, as their links are needed even if they have not changed.
    """
    folder = job_path(settings)
    own = fill(ResultOptions, settings).metadata_url
    if not own and not (folder / CRAWL_DB).is_file():
        return []
    query = select(Fetch.final_url, Fetch.parent_url, Fetch.depth, Fetch.label).where(
        Fetch.outcome == FetchOutcome.FETCHED_HTML
    )
    with opened(own or crawl_db_url(folder)) as engine, engine.connect() as connection:
        found = {row.final_url: row for row in connection.execute(query)}
    return [(url, -float(row.depth), _state_of_page(row)) for url, row in found.items()]


def _state_of_page(row: Any) -> LinkState:
    return LinkState(row.parent_url, row.depth, Label.read(row.label), revisit=True)


def due_links(settings: BaseSettings) -> list[tuple[str, float, LinkState]]:
    """Return URL, priority and state of every document, page and file that is due.

    Reads the crawl metadata; raises ``UsageError`` and ``StoreError`` when it cannot.
    """
    options = fill(RevisitOptions, settings)
    url = fill(ResultOptions, settings).metadata_url or crawl_db_url(job_folder(settings))
    # files are targets, and due again, only by their media types
    targets = fill(ReaderOptions, settings).targets
    files = kept_files(job_folder(settings)) if targets.media_types else {}
    images = targets.images
    broken = [url for house in houses() if images for url in house.due(job_folder(settings))]
    due = due_revisits(url, options, time.time(), files, images=images, broken=broken)
    return [(one.url, one.priority, _state_of_visit(one)) for one in due]


def lost_documents(settings: BaseSettings) -> list[tuple[str, float, LinkState]]:
    """Return the documents, pages with data and kept pages whose lines the job folder has lost.

    With re-visits, all lines are compared with their checksums first. Raises ``StoreError``.
    """
    folder = job_path(settings)
    found: dict[str, LinkState] = {}
    for name, ledger in SPOOLS:
        if (folder / ledger).is_file():
            if fill(RevisitOptions, settings).on:
                set_damaged_aside(folder, name, ledger)
            with opened(crawl_db_url(folder, ledger)) as engine, engine.connect() as connection:
                for row in connection.execute(select(Document).where(IS_LOST)):
                    found.setdefault(row.url, _state_of_lost(row))
    if files := lost_files(folder):

        def query_of(urls: Sequence[str]) -> Any:
            return select(Fetch.url, Fetch.label, Fetch.outcome).where(Fetch.url.in_(urls))

        rows = {url: LinkState(revisit=True) for url in files}
        with opened(crawl_db_url(folder)) as engine, engine.connect() as connection:
            for part in in_parts(files):
                for row in connection.execute(query_of(part)):
                    rows[row.url] = LinkState(
                        label=Label.read(row.label),
                        revisit=True,
                        image=row.outcome == FetchOutcome.FETCHED_IMAGE,
                    )
        found = {**rows, **found}
    return [(url, _FIRST, state) for url, state in found.items()]


def _state_of_lost(row: Any) -> LinkState:
    return LinkState(
        parent=row.parent_url,
        depth=row.depth,
        label=Label.read(row.label),
        rules=tuple(row.rules.split()),
        revisit=True,
        found_by=FoundBy.read(row.found_by),
    )


def known_sitemaps(settings: BaseSettings) -> list[tuple[str, float, LinkState]]:
    """Return the sitemaps of earlier runs, to be read again before all documents.

    They have no validators, as their dates are needed even if they have not changed. Raises as
    :func:`due_links` does.
    """
    url = fill(ResultOptions, settings).metadata_url or crawl_db_url(job_folder(settings))
    return [
        (
            address,
            _FIRST,
            LinkState(parent, depth, rules=_rules(rules), revisit=True, found_by=FoundBy.SITEMAP),
        )
        for address, parent, depth, rules in read_sitemaps(url)
    ]


def _rules(text: str) -> tuple[str, ...]:
    """Return the rules of a sitemap, which is no longer a guess."""
    return (SITEMAP, *(word for word in text.split() if word not in (SITEMAP, GUESS)))


def _state_of_visit(due: Revisit) -> LinkState:
    known = due.visited
    return LinkState(
        parent=known.parent_url,
        depth=known.depth,
        label=Label.read(known.label),
        rules=known.rules,
        etag=due.headers.get("If-None-Match", ""),
        last_modified=due.headers.get("If-Modified-Since", ""),
        revisit=True,
        visited=0 if known.missing else int(known.last_seen_at),
        content="" if known.missing else known.content[:_DIGEST],
        found_by=known.found_by,
        near_text=known.near_text,
        image=known.image,
    )
