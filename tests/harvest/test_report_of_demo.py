"""The report of the demonstration web finds the faults that are planted there, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from harvest.runs import harvest
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.results.job import Job
from semcrawl.results.reporting.making import report_of

WEB = DemoWeb(crawl_delay=0)

pytestmark = pytest.mark.slow


def test_every_planted_fault_is_found_with_the_pages_that_lead_there(tmp_path: Path) -> None:
    with serve(WEB) as server:
        done = harvest(
            WEB.start, "-s", "SEMCRAWL_RECORD_LINKS=1", "-s", "SEMCRAWL_CRAWL_DELAY=0",
            folder=tmp_path / "job", proxy=server.proxy_url,
        )  # fmt: skip
    assert done.status == 0
    with Job(done.folder) as job:
        report = report_of(job)
    found: dict[str, set[str]] = {}
    for one in report.findings:
        found.setdefault(one.check, set()).add(one.subject)
    manifest = WEB.manifest()
    dead = manifest.dead
    assert found["not-found"] == {url for url, status in dead.items() if status in (404, 410)}
    assert found["closed"] == {url for url, status in dead.items() if status == 403}
    assert found["server-error"] == {url for url, status in dead.items() if status >= 500}
    assert found["redirect-chain"] == {"http://www.demo.example/old"}
    types = {r.url: r.variants[0][1].header("Content-Type") for r in WEB if r.quads}
    wrong = {url for url, media in types.items() if media == "text/plain"}
    vague = {
        url for url, media in types.items() if media in ("application/xml", "application/json")
    }
    assert found["wrong-type"] == wrong
    assert found["vague-type"] == vague
    assert not found.keys() & {"unreadable", "partly-read", "broken-in-page", "charset"}
    # every page that links to what answers with an error, by the bytes that the demo serves
    pages = [r for r in WEB if r.url in manifest.pages]
    for one in report.findings:
        if one.subject in dead:
            path = "/" + one.subject.split("/", 3)[3]
            name = path.rsplit("/", 1)[1]
            bodies = {page.url: page.variants[0][1].body.decode() for page in pages}
            links = (f'href="{one.subject}"', f'href="{path}"')
            naming = {url for url, body in bodies.items() if any(link in body for link in links)}
            own = {url for url, body in bodies.items() if name and f'href="{name}"' in body
                   and url.rpartition("/")[0] == one.subject.rpartition("/")[0]}  # fmt: skip
            assert set(one.pages) == naming | own, one.subject
