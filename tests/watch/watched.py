"""A made crawl that is watched, and the server of its page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from scrapy.settings import Settings
from sqlalchemy.orm import Session

from semcrawl.frontier.backends import job_backend
from semcrawl.frontier.contract import Entry, FrontierOptions
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.metadata.records import Fetch, fetch_row
from semcrawl.watch import CrawlView
from semcrawl.watch.watchpages import serve_watch

#: an address and a reason that would be elements of the page, if it were careless
HOSTILE = "http://a.example/<img src=x onerror=alert(1)>"
REASON = "</script><script>document.title='taken'</script>"


def record(folder: Path, *records: FetchRecord) -> None:
    """Write records as a crawl does."""
    engine = connect(crawl_db_url(folder))
    with Session(engine) as session:
        session.add_all(Fetch(**fetch_row(each)) for each in records)
        session.commit()
    engine.dispose()


def attempt(url: str, outcome: FetchOutcome, **more: object) -> FetchRecord:
    return FetchRecord(url, outcome, started_at=10.0, elapsed=1.0, **more)  # type: ignore[arg-type]


async def make_crawl(folder: Path) -> None:
    """Make a crawl with three attempts on two hosts, and two links that wait."""
    settings = Settings({"SEMCRAWL_JOBDIR": str(folder)})
    async with job_backend(settings, folder, FrontierOptions()) as frontier:
        await frontier.add(
            [
                Entry(f"http://b.example/{n}", "b.example", "html", "g", label=label)
                for n, label in enumerate(("H", "N"))
            ]
        )
    record(
        folder,
        attempt("http://a.example/", FetchOutcome.FETCHED_HTML, bytes=10),
        attempt("http://b.example/x.ttl", FetchOutcome.FETCHED_RDF, quads=7, bytes=20),
        attempt(HOSTILE, FetchOutcome.HTTP_ERROR, status=500, errors=REASON),
    )


@asynccontextmanager
async def served(folder: Path, **settings: object) -> AsyncIterator[str]:
    """Serve the page of a crawl; yield its address without the token."""
    async with steered(folder, **settings) as (url, _):
        yield url


@asynccontextmanager
async def steered(folder: Path, **settings: object) -> AsyncIterator[tuple[str, str]]:
    """Serve the page of a crawl; yield its address and the token."""
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    stopped = asyncio.Event()
    view = CrawlView(Settings(settings), folder)
    task = asyncio.create_task(serve_watch(view, 0, address.set_result, stopped))
    try:
        url, _, token = (await address).partition("#token=")
        yield url, token
    finally:
        stopped.set()
        await task
