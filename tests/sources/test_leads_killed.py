"""What waits for the answers of other pages, and what was counted, outlives a crawl."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from harvest.runs import asked, harvest, start_harvest
from spiders.site import HTML, page

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from tests.waiting import until

D = "http://d.example"
PEOPLE = 40

pytestmark = pytest.mark.slow


class People:
    """A site whose people are there as pages and as RDF; the RDF comes when it may."""

    def __init__(self) -> None:
        self.may = False
        self.asked_in_vain = 0

    async def answer(self, request: Request, out: Stream) -> None:
        path = request.path.partition("?")[0]
        if path == "/":
            kind, body = page(*(f"/people/{number}" for number in range(PEOPLE)))
            await out.whole(200, [("Content-Type", kind)], body)
        elif not path.startswith("/people/") or path.endswith("/"):
            await out.whole(404, [("Content-Type", "text/plain")], b"nothing\n")
        elif request.headers.get("accept", "").startswith("text/html"):
            await out.whole(200, [("Content-Type", HTML), ("Vary", "Accept")], page(path)[1])
        else:
            while not self.may:
                self.asked_in_vain += 1
                await asyncio.sleep(3600)
            body = f'<#it> <http://v.example/label> "{path}" .'.encode()
            await out.whole(200, [("Content-Type", "text/turtle"), ("Vary", "Accept")], body)


def test_pages_that_wait_for_others_are_asked_for_by_the_run_after_a_kill(tmp_path: Path) -> None:
    """The crawl is killed when all pages are read, and the first two are asked for as RDF."""
    folder, log, people = tmp_path / "out", tmp_path / "log", People()
    options = ("--fast", "-q", "-s", "SEMCRAWL_CONCURRENCY_PER_HOST=8")
    with serve(DemoWeb(), log=log, handlers={"d.example": people.answer}) as server:
        run = start_harvest(f"{D}/", *options, folder=folder, proxy=server.proxy_url)

        def all_are_read() -> bool:
            read = (
                log.is_file()
                and sum("/people/" in url and not url.endswith("/") for url in asked(log)) >= PEOPLE
            )
            return (read and people.asked_in_vain == 2) or run.process.poll() is not None

        until(all_are_read)
        assert run.process.poll() is None
        run.kill()
        run.process.communicate()
        people.may = True
        done = harvest("--fast", "-q", folder=folder, proxy=server.proxy_url)
    done.is_calm()
    assert set(done.documents()) == {f"{D}/people/{number}#as-rdf" for number in range(PEOPLE)}


def test_the_pages_of_a_catalogue_are_counted_over_runs(tmp_path: Path) -> None:
    folder, log = tmp_path / "out", tmp_path / "log"

    async def endless(request: Request, out: Stream) -> None:
        number = int(request.path.partition("=")[2] or 0)
        text = f"<> <http://www.w3.org/ns/hydra/core#next> <{D}/endless?page={number + 1}> ."
        found = request.path.startswith("/endless")
        kind = [("Content-Type", "text/turtle")]
        await out.whole(200 if found else 404, kind, text.encode() if found else b"")

    options = ("--fast", "-q", "-s", "SEMCRAWL_MAX_CATALOGUE_PAGES=6")
    with serve(DemoWeb(), log=log, handlers={"d.example": endless}) as server:
        proxy = server.proxy_url
        harvest(f"{D}/endless?page=0", *options, "--pages", "4", folder=folder, proxy=proxy)
        done = harvest(*options, folder=folder, proxy=proxy)
    assert done.status == 0, done.err
    assert sum(n for path, n in asked(log).items() if "/endless" in path) == 1 + 6
