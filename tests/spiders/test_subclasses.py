"""Spiders of others that build on ours: whatever they drop, add or raise, the crawl ends whole."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import forks
import pytest
from harvest.runs import TIMEOUT, Run, environment

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Handler, Request, Stream
from spiders.site import handler, page

pytestmark = pytest.mark.slow

HOST = "http://d.example"
TURTLE = "text/turtle"
SITE = {
    "/": page("/a.ttl", "/2/", "/moved"),
    "/2/": page("/b.ttl", "/3/", "http://e.example/c.ttl"),
    "/3/": page("/d.ttl"),
    **{f"/{name}.ttl": (TURTLE, b"<#it> <http://v.example/p> 1 .") for name in "abcd"},
    "/own": ("text/plain", b"asked for with a callback"),
}

#: all spiders of it crawl at once in one process, as scripts do
SCRIPT = Path(__file__).with_name("others_spiders.py")

#: settings that the frontier, the session and the spider read
PROJECT = """
from semcrawl.spiders.html import HtmlSpider

class Mine(HtmlSpider):
    name = "mine"
    start_urls = ["http://d.example/"]
    custom_settings = {
        "SEMCRAWL_CRAWL_NAME": "theirs",
        "SEMCRAWL_JOBDIR": "job",
        "SEMCRAWL_CRAWL_DELAY": 0,
        "SEMCRAWL_MAX_WAITING": 1,
        "SEMCRAWL_SITEMAPS": "never",
        "SEMCRAWL_WELL_KNOWN": [],
        "SEMCRAWL_RELEVANCE": "breadth-first",
        "DEPTH_LIMIT": 1,
    }
"""


def late(site: Handler) -> Handler:
    """Take longer for one page than a crawl needs to see that nothing waits."""

    async def answer(request: Request, out: Stream) -> None:
        if request.path.startswith("/late"):
            await asyncio.sleep(1.5)
            await out.whole(200, [("Content-Type", "text/plain")], b"late")
        elif request.path.startswith("/elsewhere"):
            await out.whole(302, [("Location", "/late?3")], b"")
        else:
            await site(request, out)

    return answer


class Crawls:
    """The results of the script's crawls."""

    def __init__(self, folder: Path, stats: dict[str, dict[str, object]]) -> None:
        self._folder = folder
        self.stats = stats
        self.log = (folder / "log").read_text()

    def documents(self, spider: str) -> Counter[str]:
        """The graphs in a spider's quads, with the numbers of their quads."""
        file = self._folder / spider / "quads.nq"
        lines = file.read_text().splitlines() if file.exists() else []
        return Counter(line.split()[-2].strip("<>").removeprefix(HOST) for line in lines)

    def outcomes(self, spider: str) -> dict[str, list[str]]:
        outcomes = Run(0, "", "", self._folder / spider).outcomes()
        return {url.removeprefix(HOST): found for url, found in outcomes.items()}

    def failed(self, spider: str) -> int:
        """How many links wait among the failed ones for another try."""
        done = forks.run(
            [sys.executable, "-m", "semcrawl", "frontier", spider],
            cwd=self._folder, timeout=TIMEOUT,
        )  # fmt: skip
        counts = dict(line.split()[:2] for line in done.stdout.splitlines()[:5])
        assert counts["leased"] == "0"
        return int(counts.get("failed", 0))


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Crawls:
    folder = tmp_path_factory.mktemp("subclasses")
    hosts = {"d.example": late(handler(SITE)), "e.example": handler(SITE)}
    (folder / "script.py").write_text(SCRIPT.read_text())
    with serve(DemoWeb(), handlers=hosts) as server:
        done = subprocess.run(
            [sys.executable, "script.py"],
            cwd=folder, env=environment(server.proxy_url), capture_output=True, text=True,
            timeout=TIMEOUT,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Crawls(folder, json.loads(done.stdout))


ALL = {"/a.ttl", "/b.ttl", "/d.ttl", "http://e.example/c.ttl"}


def test_every_crawl_ends(crawls: Crawls) -> None:
    reasons = {name: stats["finish_reason"] for name, stats in crawls.stats.items()}
    early = {
        "closes": "enough",
        "bought": "semcrawl_pages",
        "impatient": "semcrawl_patience",
        "seedless": "usage",
    }
    assert reasons == {name: early.get(name, "finished") for name in reasons}


def test_seeds_that_are_none_are_refused_instead_of_waited_for(crawls: Crawls) -> None:
    assert "[seedless] ERROR: not an http or https URL: ''" in crawls.log


@pytest.mark.parametrize("spider", ["filters", "returns", "middleware", "adds"])
def test_what_is_dropped_or_added_on_the_way_keeps_nothing_back(
    crawls: Crawls, spider: str
) -> None:
    assert set(crawls.documents(spider)) == ALL


def test_a_callback_that_fails_has_a_record_and_its_link_another_try(crawls: Crawls) -> None:
    assert crawls.outcomes("raises")["/a.ttl"] == ["parse-error"]
    assert crawls.outcomes("raises")["/3/"] == ["fetched-html"]
    assert crawls.failed("raises") == 4


def test_a_callback_without_ours_is_told(crawls: Crawls) -> None:
    assert crawls.outcomes("replaces")["/"] == ["parse-error"]
    assert "[replaces] ERROR: http://d.example/: the spider's callback left super() out" in (
        crawls.log
    )


def test_a_middleware_that_fails(crawls: Crawls) -> None:
    """Its links were put in before: all of them get a record and another try."""
    outcomes = crawls.outcomes("broken")
    outcomes = {url: found for url, found in outcomes.items() if not url.endswith("robots.txt")}
    assert set(map(tuple, outcomes.values())) == {("parse-error",)}
    assert crawls.failed("broken") == len(outcomes) == 8


def test_requests_with_callbacks_are_asked_for_once(crawls: Crawls) -> None:
    """Those without are links."""
    assert crawls.stats["adds"]["scheduler/enqueued"] == 1
    assert crawls.stats["starts"]["scheduler/enqueued"] == 1
    assert crawls.outcomes("adds")["/b.ttl"] == ["fetched-rdf"]
    assert crawls.documents("starts") == {"/a.ttl": 1}


def test_a_crawl_waits_for_requests_of_the_spiders_own(crawls: Crawls) -> None:
    assert crawls.documents("own-only") == {"/a.ttl": 1}


def test_requests_of_callbacks_name_the_page_that_they_come_from(crawls: Crawls) -> None:
    """As those of other spiders do, after redirects too."""
    assert crawls.stats["own-only"]["referers"] == [HOST + "/late", HOST + "/elsewhere"]


def test_start_may_give_items(crawls: Crawls) -> None:
    """Beside those of its requests: the start's own, the answer's, a document and its record."""
    assert crawls.stats["starts"]["item_scraped_count"] == 5  # and the record of robots.txt


def test_answers_tell_their_depth_as_those_of_other_spiders_do(crawls: Crawls) -> None:
    assert crawls.stats["measures"]["deepest"] == 3


def test_depth_limit_and_allowed_domains_hold(crawls: Crawls) -> None:
    assert set(crawls.documents("shallow")) == {"/a.ttl"}
    assert set(crawls.documents("bounded")) == ALL - {"http://e.example/c.ttl"}
    assert set(crawls.documents("ported")) == {f":8080/{name}.ttl" for name in "abd"}


def test_what_a_middleware_of_theirs_ignores_was_not_sent(crawls: Crawls) -> None:
    assert crawls.outcomes("ignoring")["/a.ttl"] == ["ignored"]


def test_their_pipeline_may_drop_documents_and_fail(crawls: Crawls) -> None:
    """A dropped item ends its link; one at which a pipeline fails keeps its link for later."""
    assert crawls.documents("drops") == {}
    assert crawls.stats["drops"]["item_dropped_count"] == 3
    assert crawls.failed("drops") == 1


def test_a_spider_that_closes_has_what_it_was_at_go_back(crawls: Crawls) -> None:
    assert "/a.ttl" not in crawls.outcomes("closes")
    assert crawls.failed("closes") == 0


@pytest.mark.parametrize("commands", ["", 'COMMANDS_MODULE = ""\n'], ids=["ours", "scrapy's"])
def test_the_settings_of_a_spider_hold_for_its_frontier_too(commands: str, tmp_path: Path) -> None:
    """Our ``crawl`` makes ready for a session before it knows the spider; Scrapy's does not."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mine.settings\n")
    (tmp_path / "mine" / "settings.py").write_text(
        f'from semcrawl.settings import *\nSPIDER_MODULES = ["mine.spiders"]\n{commands}'
    )
    (tmp_path / "mine" / "spiders.py").write_text(PROJECT)
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        done = subprocess.run(
            [sys.executable, "-m", "semcrawl", "crawl", "mine"],
            cwd=tmp_path, env=environment(server.proxy_url), capture_output=True, text=True,
            timeout=TIMEOUT,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    outcomes = Run(0, "", "", tmp_path / "job").outcomes()
    del outcomes[f"{HOST}/robots.txt"]
    assert len(outcomes) == 2  # of the start page's three links two were too many to wait
    shown = subprocess.run(
        [sys.executable, "-m", "semcrawl", "frontier", "job", "-s", "SEMCRAWL_CRAWL_NAME=theirs"],
        cwd=tmp_path, capture_output=True, text=True, timeout=TIMEOUT,
    )  # fmt: skip
    counts = dict(line.split()[:2] for line in shown.stdout.splitlines())
    assert (counts["done"], counts["dropped"]) == ("2", "2"), shown.stderr
