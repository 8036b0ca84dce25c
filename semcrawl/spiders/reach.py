"""A crawl's reach compared with that of its earlier runs: a wider one finds more."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Self

from scrapy.settings import BaseSettings
from sqlalchemy import select

from semcrawl.config.jobdir import job_path
from semcrawl.config.urlpatterns import UrlPatterns
from semcrawl.frontier.linkstate import LinkState
from semcrawl.items import FetchOutcome
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url
from semcrawl.metadata.models import Fetch
from semcrawl.relevance import Label

#: scopes of which each holds those before it
_ORDER = ("site", "parent", "any")


@dataclass(frozen=True, slots=True)
class Reach:
    """Scope and patterns of a run."""

    scope: str = "site"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    @classmethod
    def of(cls, scope: str, patterns: UrlPatterns) -> Self:
        """Describe a run."""
        include, exclude = (
            tuple(sorted({pattern.text for pattern in each}))
            for each in (patterns.include, patterns.exclude)
        )
        return cls(scope.strip(), include, exclude)

    @classmethod
    def load(cls, data: bytes | None) -> Self:
        """Read what an earlier run left; one that left nothing had the default."""
        try:
            found = json.loads(data or b"{}")
            lists = (tuple(map(str, found.get(name, ()))) for name in ("include", "exclude"))
            return cls(str(found.get("scope", "site")), *lists)
        except (ValueError, AttributeError, TypeError):
            return cls()

    def dump(self) -> bytes:
        """Write it for later runs."""
        return json.dumps(asdict(self)).encode()

    def exceeds(self, before: Reach) -> bool:
        """Whether a link that was left out before may be followed now."""
        if self.scope != before.scope:
            known = self.scope in _ORDER and before.scope in _ORDER
            if not known or _ORDER.index(self.scope) > _ORDER.index(before.scope):
                return True
        if before.include and (not self.include or set(self.include) - set(before.include)):
            return True
        return bool(set(before.exclude) - set(self.exclude))


def fetched_pages(settings: BaseSettings) -> list[tuple[str, float, LinkState]]:
    """Return the pages of the job folder, those near the seeds first, to be read once more.

    Without validators: it is their links that are wanted, changed or not.
    """
    folder = job_path(settings)
    own = settings.get("SEMCRAWL_METADATA_URL")
    if not own and not (folder / CRAWL_DB).is_file():
        return []
    engine = connect(own or crawl_db_url(folder))
    query = select(Fetch.final_url, Fetch.parent_url, Fetch.depth, Fetch.label).where(
        Fetch.outcome == FetchOutcome.FETCHED_HTML
    )
    try:
        with engine.connect() as connection:
            found = {row.final_url: row for row in connection.execute(query)}
    finally:
        engine.dispose()
    return [(url, -float(row.depth), _memo(row)) for url, row in found.items()]


def _memo(row: Any) -> LinkState:
    return LinkState(row.parent_url, row.depth, Label.read(row.label), revisit=True)
