"""Links to documents that were had before and are due again."""

from __future__ import annotations

import time

from scrapy.settings import BaseSettings

from semcrawl.config.jobdir import job_folder
from semcrawl.config.revisit import Revisit, RevisitOptions
from semcrawl.config.targets import Targets
from semcrawl.frontier.linkstate import LinkState
from semcrawl.metadata.database import crawl_db_url
from semcrawl.metadata.visited import due_revisits
from semcrawl.pipelines.files import kept_files
from semcrawl.relevance import Label


def due_links(settings: BaseSettings) -> list[tuple[str, float, LinkState]]:
    """Return URL, priority and state of every document, page and file that is due.

    Reads the crawl metadata; raises ``UsageError`` and ``StoreError`` when it cannot.
    """
    options = RevisitOptions.parse(
        settings.get("SEMCRAWL_REVISIT_POLICY"), settings.getfloat("SEMCRAWL_REVISIT_INTERVAL")
    )
    url = settings.get("SEMCRAWL_METADATA_URL") or crawl_db_url(job_folder(settings))
    # files are kept, and so wanted again, for their media types only
    typed = Targets.parse(settings.getlist("SEMCRAWL_TARGETS")).media_types
    files = kept_files(job_folder(settings)) if typed else {}
    due = due_revisits(url, options, time.time(), files)
    return [(one.url, one.priority, _memo(one)) for one in due]


def _memo(due: Revisit) -> LinkState:
    known = due.visited
    return LinkState(
        parent=known.parent_url,
        depth=known.depth,
        label=Label.read(known.label),
        rules=known.rules,
        etag=due.headers.get("If-None-Match", ""),
        last_modified=due.headers.get("If-Modified-Since", ""),
        revisit=True,
    )
