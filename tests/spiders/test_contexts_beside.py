"""Contexts are fetched beside the crawl: nobody waits for them but documents that name them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from harvest.runs import asked, harvest, start_harvest

from semcrawl.lab.demo import DemoWeb, Request, Stream, serve
from spiders.site import JSON_LD, page

pytestmark = pytest.mark.slow

CONTEXT = b'{"@context": {"label": "http://v.example/label"}}'


def document(*contexts: str) -> bytes:
    return json.dumps({"@context": list(contexts), "@id": "#it", "label": "x"}).encode()


def context_url(number: int) -> str:
    return f"http://c{number}.example/context"


class Site:
    """Documents and pages on one host, contexts on hosts of their own that answer when told to."""

    def __init__(self, documents: dict[str, bytes], pages: int, contexts: int) -> None:
        self.documents = documents
        self.pages = {f"/page{number}" for number in range(pages)}
        self.left = set(self.pages)
        self.all_contexts = contexts
        self.asked: set[str] = set()
        self.answered = asyncio.Event()
        self.answer_when = self.pages_are_read
        self.handlers = {f"c{number}.example": self.context for number in range(contexts)}
        self.handlers["d.example"] = self.answer

    def pages_are_read(self) -> bool:
        return not self.left

    def all_are_asked(self) -> bool:
        return len(self.asked) == self.all_contexts

    async def answer(self, request: Request, out: Stream) -> None:
        if request.path == "/":
            kind, body = page(*self.documents, *sorted(self.pages))
        elif request.path in self.documents:
            kind, body = JSON_LD, self.documents[request.path]
        elif request.path in self.pages:
            self.left.discard(request.path)
            self.look()
            kind, body = page()
        else:
            await out.whole(404, [], b"")
            return
        await out.whole(200, [("Content-Type", kind)], body)

    async def context(self, request: Request, out: Stream) -> None:
        if request.path == "/robots.txt":
            await out.whole(404, [], b"")
            return
        self.asked.add(request.host)
        self.look()
        await self.answered.wait()
        await out.whole(200, [("Content-Type", JSON_LD)], CONTEXT)

    def look(self) -> None:
        if self.answer_when():
            self.answered.set()


def test_documents_that_wait_for_contexts_take_no_place(tmp_path: Path) -> None:
    """The contexts are sent only when all pages have been asked for, with two places in all."""
    count = 8
    documents = {f"/a{n}.jsonld": document(context_url(n)) for n in range(count)}
    site = Site(documents, pages=30, contexts=count)
    with serve(DemoWeb(), handlers=site.handlers) as server:
        run = harvest(
            *("http://d.example/", "--fast", "-s", "CONCURRENT_REQUESTS=2"),
            *("-s", "SEMCRAWL_CONCURRENCY_PER_HOST=2", "--relevance", "breadth-first"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert set(run.documents()) == {f"http://d.example{path}" for path in documents}
    assert run.summary["outcomes"]["fetched-html"] == 31
    assert [outcomes for url, outcomes in run.outcomes().items() if url.endswith("jsonld")] == [
        ["fetched-rdf"]
    ] * count


def test_contexts_of_several_hosts_are_fetched_at_a_time(tmp_path: Path) -> None:
    """Each is sent only when all are asked for."""
    site = Site({"/a.jsonld": document(*map(context_url, range(5)))}, pages=0, contexts=5)
    site.answer_when = site.all_are_asked
    with serve(DemoWeb(), handlers=site.handlers) as server:
        run = harvest(
            "http://d.example/", "--fast", folder=tmp_path / "out", proxy=server.proxy_url
        )
    assert run.documents() == {"http://d.example/a.jsonld": 1}


def test_a_document_waits_no_longer_than_it_may(tmp_path: Path) -> None:
    site = Site({"/a.jsonld": document(context_url(0))}, pages=1, contexts=1)
    site.left.add("/never")
    with serve(DemoWeb(), handlers=site.handlers) as server:
        run = harvest(
            *("http://d.example/", "--fast", "bound:spiders.contexts:ContextRules.patience=0.5"),
            "bound:spiders.contexts:ContextRules.timeout=3",
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert run.outcomes()["http://d.example/a.jsonld"] == ["parse-error"]


def test_no_host_has_more_contexts_fetched_than_it_may(tmp_path: Path) -> None:
    documents = {f"/a{n}.jsonld": document(f"{context_url(0)}/{n}") for n in range(6)}
    documents["/b.jsonld"] = document(context_url(1))
    site = Site(documents, pages=0, contexts=2)
    site.answered.set()
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log, handlers=site.handlers) as server:
        run = harvest(
            *("http://d.example/", "--fast", "bound:spiders.contexts:ContextRules.max_of_host=2"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert sum(1 for url in asked(log) if url.startswith("c0.example/context")) == 2
    assert len(run.documents()) == 2 + 1


def test_a_document_that_waits_when_the_crawl_is_killed_is_read_by_the_next_run(
    tmp_path: Path,
) -> None:
    documents = {f"/a{n}.jsonld": document(context_url(n)) for n in range(3)}
    site = Site(documents, pages=4, contexts=3)
    site.left.add("/never")
    options = ("http://d.example/", "--fast", "bound:spiders.contexts:ContextRules.timeout=60")
    with serve(DemoWeb(), handlers=site.handlers) as server:
        first = start_harvest(*options, folder=tmp_path / "out", proxy=server.proxy_url)
        # the page, four more, three documents, four times robots.txt
        assert server.wait_until_answered(1 + 4 + 3 + 4, 60)
        first.kill()
        first.wait()
    site = Site(documents, pages=4, contexts=3)
    site.answered.set()
    with serve(DemoWeb(), handlers=site.handlers) as server:
        run = harvest(*options, folder=tmp_path / "out", proxy=server.proxy_url)
    assert run.documents() == {f"http://d.example{path}": 1 for path in documents}
