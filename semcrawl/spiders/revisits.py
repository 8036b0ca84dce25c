"""Finds documents and pages of earlier runs that are due for a re-visit."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from scrapy.settings import BaseSettings
from scrapy.statscollectors import StatsCollector
from sqlalchemy import select

from semcrawl.config.jobdir import ResultOptions, job_folder, job_path
from semcrawl.config.options import ReaderOptions
from semcrawl.config.revisit import Revisit, RevisitOptions
from semcrawl.config.scope import UrlPatterns
from semcrawl.crawl.attempt import Attempt
from semcrawl.crawl.crawllimits import INTERVAL
from semcrawl.crawl.session import CrawlSession
from semcrawl.crawl.shareddates import SharedDates
from semcrawl.frontier.links import GUESS, SITEMAP, LinkState
from semcrawl.houses import houses
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.database import CRAWL_DB, crawl_db_url, opened
from semcrawl.metadata.history import due_revisits, read_sitemaps
from semcrawl.metadata.records import Document, Fetch, in_parts
from semcrawl.pipelines.files import kept_files, lost_files
from semcrawl.pipelines.pagestore import SPOOLS
from semcrawl.pipelines.quadsfile import IS_LOST, set_damaged_aside
from semcrawl.relevance import Label
from semcrawl.settings.reader import fill
from semcrawl.sources.sitemaps import MOST_LIARS, Advice, Lastmods, keyed
from semcrawl.web.hosts import netloc_of
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


#: share of the pages that a sitemap calls unchanged that are fetched nevertheless, among them the
#: first of each host
CHECKED = 0.1
logger = logging.getLogger(__name__)

#: name of the frontier's blob with the hosts whose sitemaps are wrong
_LIARS = "lastmod-liars"
#: outcomes of documents that were read
_READ = (FetchOutcome.FETCHED_RDF, FetchOutcome.OFF_TOPIC, FetchOutcome.FETCHED_HTML)


class SitemapDates:
    """Skips pages that are due again but have not changed according to their sitemap.

    The frontier remembers, for all workers and runs, the hosts whose sitemaps proved wrong.
    """

    def __init__(
        self, settings: BaseSettings, session: CrawlSession, stats: StatsCollector | None
    ) -> None:
        #: this worker adds the pages that are due; all workers fetch them
        self._revisits = fill(RevisitOptions, settings).on
        self._shared = session.options.shared
        self._on = fill(RevisitOptions, settings).by_lastmod and (self._revisits or self._shared)
        self._session = session
        self._stats = stats
        self._dates = Lastmods(CHECKED)
        self._shared_dates = SharedDates(session.frontier.shared)
        #: seconds between reads of other workers' dates, and the time of the last one
        self._interval = INTERVAL
        self._read_at = -math.inf
        self._loaded = False
        #: addresses that are fetched to check whether their sitemap is right
        self._checks: set[str] = set()

    async def note(self, attempt: Attempt, latest: Mapping[str, int]) -> None:
        """Note the dates of a sitemap: the latest times at which addresses may have changed."""
        if not self._on or not (self._revisits or attempt.link_state.revisit):
            return
        await self._load_once()
        self._dates.note(latest)
        if self._shared:
            await self._shared_dates.add(attempt.url, keyed(latest))

    def may_be_behind(self, attempt: Attempt) -> bool:
        """Whether another worker may have shared the date of a link that is due."""
        outdated = time.monotonic() - self._read_at > self._interval
        return self._shared and self._is_due(attempt) and outdated

    async def catch_up(self, attempt: Attempt) -> list[FetchRecord]:
        """Read the dates that other workers have shared; put the link that is due back."""
        self._read_at = time.monotonic()
        await self._load_once()
        self._dates.note_keys(await self._shared_dates.news())
        await self._session.frontier.release([attempt.lease], sent=False)
        await self._session.retry(attempt.lease, attempt.link_state, 0.0)
        return []

    def _is_due(self, attempt: Attempt) -> bool:
        state = attempt.link_state
        return self._on and bool(state.visited) and not (state.redirects or state.retries)

    def leaves_out(self, attempt: Attempt) -> bool:
        """Whether a leased link need not be fetched."""
        if not self._is_due(attempt):
            return False
        visited = attempt.link_state.visited
        advice = self._dates.advise(attempt.url, netloc_of(attempt.url), visited)
        if advice is Advice.CHECK:
            self._checks.add(attempt.link_url)
            self._count("checked")
        return advice is Advice.SKIP

    async def record(self, attempt: Attempt) -> list[FetchRecord]:
        """Record a link that is not fetched."""
        await self._session.frontier.release([attempt.lease], sent=False)
        return [attempt.record(FetchOutcome.SITEMAP_UNCHANGED)]

    async def check(self, attempt: Attempt, items: Sequence[Any]) -> None:
        """Look whether a page that was fetched as a check has changed.

        An RDF document has changed if its content has. A page must have new links besides, as its
        content may differ with every request.
        """
        if attempt.link_url not in self._checks:
            return
        self._checks.discard(attempt.link_url)
        old, new = attempt.link_state.content, attempt.digest
        read = next((i for i in items if isinstance(i, FetchRecord) and i.outcome in _READ), None)
        if read is None or not old or not new or new.startswith(old):
            return
        if read.outcome is FetchOutcome.FETCHED_HTML and not attempt.new_links:
            return
        host = netloc_of(attempt.url)
        if self._dates.disbelieve(host):
            self._count("liars")
            logger.info(
                "The dates in sitemaps of %s are ignored from now on: %s has changed without one",
                host,
                attempt.url,
            )
            await self._save()

    def _count(self, name: str) -> None:
        if self._stats is not None:
            self._stats.inc_value(f"semcrawl/lastmod/{name}")

    async def _load_once(self) -> None:
        if not self._loaded:
            self._loaded = True
            await self._load()

    async def _load(self) -> None:
        saved = await self._session.frontier.shared.get(_LIARS) or b""
        for host in saved.decode(errors="replace").split()[:MOST_LIARS]:
            self._dates.disbelieve(host)

    async def _save(self) -> None:
        """Add the hosts that proved wrong to those that other workers have saved."""
        await self._load()
        await self._session.frontier.shared.put(_LIARS, "\n".join(self._dates.liars).encode())
