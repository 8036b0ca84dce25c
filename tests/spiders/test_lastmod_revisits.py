"""Re-visits leave out what sitemaps call unchanged, and find out sitemaps that lie."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import handler, page

pytestmark = pytest.mark.slow

D = "http://d.example"
NAMES = [f"x{n:02}" for n in range(30)]
DAY = 86_400
Served = dict[str, tuple[str, bytes]]


def day(days: float) -> str:
    """A moment as many days from now."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + days * DAY))


def turtle(text: str) -> tuple[str, bytes]:
    return "text/turtle", f'<#it> <#says> "{text}" .'.encode()


def sitemap(dates: dict[str, str]) -> tuple[str, bytes]:
    entries = "".join(
        f"<url><loc>{D}{path}</loc><lastmod>{date}</lastmod></url>" for path, date in dates.items()
    )
    return "application/xml", f"<urlset>{entries}</urlset>".encode()


class Site:
    """A page, a sitemap, and thirty documents, of which a crawl has had all."""

    def __init__(
        self, folder: Path, proxy: str, asked: list[str], found: dict[str, tuple[str, bytes]]
    ) -> None:
        self.folder, self._proxy, self.asked, self.resources = folder, proxy, asked, found
        self.dates = {f"/{name}.ttl": day(-9) for name in NAMES}
        self.resources |= {f"/{name}.ttl": turtle(name) for name in NAMES}
        self.resources["/"] = page(*self.dates)
        self.run(f"{D}/")

    def run(self, what: str, *arguments: str) -> Run:
        self.resources["/sitemap.xml"] = sitemap(self.dates)
        self.asked.clear()
        settings = ("SEMCRAWL_CRAWL_DELAY=0", "SEMCRAWL_WELL_KNOWN=")
        options = [part for setting in settings for part in ("-s", setting)]
        run = harvest(
            what, *options, *arguments, folder=self.folder, proxy=self._proxy, guesses=True
        )
        run.is_calm()
        assert run.status == 0
        return run

    def revisit(self, *arguments: str) -> Run:
        """Visit again what was visited a week before."""
        with sqlite3.connect(self.folder / "crawl.db") as database:
            database.execute("UPDATE document SET last_seen_at = last_seen_at - ?", [7 * DAY])
            database.execute("UPDATE fetch SET started_at = started_at - ?", [7 * DAY])
        return self.run(f"{D}/", "--revisit", *arguments)

    def documents(self) -> set[str]:
        return {path for path in self.asked if path.endswith(".ttl")}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Callable[[], Site]]:
    asked: list[str] = []
    resources: Served = {}

    async def answer(request: Request, out: Stream) -> None:
        asked.append(request.path)
        await handler(resources)(request, out)

    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        yield lambda: Site(tmp_path / "out", server.proxy_url, asked, resources)


def said(run: Run) -> set[str]:
    return {line.split('"')[1] for line in run.quads}


def test_unchanged_documents_cost_no_request_and_stay(site: Callable[[], Site]) -> None:
    """What changed, what is new, and one check of the others are asked for, after the sitemap."""
    crawl = site()
    crawl.resources["/x07.ttl"] = turtle("second x07")
    crawl.dates["/x07.ttl"] = day(-1.1)
    crawl.resources["/new.ttl"] = turtle("new")
    crawl.dates["/new.ttl"] = day(-1.1)
    run = crawl.revisit("bound:spiders.revisits:CHECKED=0.01")
    assert crawl.asked[0] in ("/robots.txt", "/sitemap.xml")
    assert crawl.asked.index("/sitemap.xml") < 2
    assert {"/x07.ttl", "/new.ttl"} < crawl.documents()
    assert len(crawl.documents()) == 3
    outcomes = run.outcomes()
    left_out = [url for url, all_of in outcomes.items() if all_of[-1] == "sitemap-unchanged"]
    assert len(left_out) == 28
    assert said(run) == {*NAMES, "new", "second x07"} - {"x07"}
    # what was left out is told as such, and not as a request
    assert run.summary["outcomes"]["sitemap-unchanged"] == 28
    assert run.summary["rdf_documents"] == 31
    # a second time: nothing was looked at meanwhile, so the same are left out
    crawl.run(f"{D}/", "--revisit", "bound:spiders.revisits:CHECKED=0")
    assert crawl.documents() == set()


@pytest.mark.parametrize("count", [1, 2])
def test_workers_go_by_what_sitemaps_told_another(site: Callable[[], Site], count: int) -> None:
    """One alone is asked for no more; of several, some may ask before the sitemap is there."""
    crawl = site()
    run = crawl.revisit(
        *("--workers", str(count), "bound:spiders.revisits:CHECKED=0"),
        *("bound:crawl.crawllimits:INTERVAL=0.1", "-s", "SEMCRAWL_CRAWL_DELAY=0.2"),
    )
    assert len(crawl.documents()) <= (10 if count > 1 else 0)
    unchanged = run.summary["outcomes"]["sitemap-unchanged"]
    assert unchanged == len(NAMES) - len(crawl.documents())
    assert said(run) == set(NAMES)
    # what it said then says nothing in the next re-visit
    crawl.dates = dict.fromkeys(crawl.dates, day(-1.1))
    crawl.revisit("--workers", str(count), "bound:spiders.revisits:CHECKED=0")
    assert crawl.documents() == set(crawl.dates)


def test_a_sitemap_that_lies_is_believed_no_more(site: Callable[[], Site]) -> None:
    """Neither in this run nor in the next ones."""
    crawl = site()
    for name in NAMES:
        crawl.resources[f"/{name}.ttl"] = turtle(f"second {name}")
    run = crawl.revisit("bound:spiders.revisits:CHECKED=0.1")
    assert len(crawl.documents()) >= 25
    assert "The dates in sitemaps of d.example are ignored" in (
        crawl.folder / "crawl.log"
    ).read_text(encoding="utf-8")
    run = crawl.revisit("bound:spiders.revisits:CHECKED=0")
    assert crawl.documents() == {f"/{name}.ttl" for name in NAMES}
    assert said(run) == {f"second {name}" for name in NAMES}


def test_dates_that_are_no_help_cost_what_they_cost_before(site: Callable[[], Site]) -> None:
    """Too new, in the future, or nonsense; and switched off altogether."""
    crawl = site()
    everything = set(crawl.dates)
    dates = [day(0), day(400), "soon", ""]
    crawl.dates = {path: dates[n % 4] for n, path in enumerate(crawl.dates)}
    crawl.revisit()
    assert crawl.documents() == everything
    crawl.dates = dict.fromkeys(crawl.dates, day(-9))
    crawl.revisit("-s", "SEMCRAWL_REVISIT_BY_LASTMOD=0")
    assert crawl.documents() == everything
