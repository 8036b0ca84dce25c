"""A crawl obeys the robots tags of pages, as the setting says."""

from __future__ import annotations

from pathlib import Path

import pytest
from harvest.runs import Run, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import page, script

pytestmark = pytest.mark.slow

D = "http://d.example"
DATA = "text/turtle", b"<#it> <http://v.example/p> <http://d.example/of-data.ttl> ."
SAYS = '<meta name="robots" content="{}">'
#: address → type and body, and what its X-Robots-Tag says
SITE: dict[str, tuple[tuple[str, bytes], str]] = {
    "/": (page("/stop/", "/header/", "/other/", "/copy/", "/kept.ttl", "/secret.ttl"), "noindex"),
    "/stop/": (page("/from-stop.ttl", head=SAYS.format("noindex, nofollow")), ""),
    "/header/": (page("/from-header.ttl"), "none"),
    "/other/": (page("/from-other.ttl"), "googlebot: noindex, nofollow"),
    "/copy/": (
        page("/from-copy.ttl", head=SAYS.format("noarchive") + script({"http://v.example/p": 1})),
        "",
    ),
    "/kept.ttl": (DATA, "noindex, nofollow"),
    "/secret.ttl": (DATA, "noarchive"),
    **{f"/from-{name}.ttl": (DATA, "nofollow") for name in ("stop", "header", "other", "copy")},
    "/of-data.ttl": (DATA, ""),
}


async def answer(request: Request, out: Stream) -> None:
    if request.path not in SITE:
        await out.whole(404, [], b"")
        return
    (kind, body), says = SITE[request.path]
    headers = [("Content-Type", kind), *([("X-Robots-Tag", says)] if says else [])]
    await out.whole(200, headers, body)


def crawl(folder: Path, *arguments: str) -> Run:
    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        return harvest(f"{D}/", "--fast", *arguments, folder=folder, proxy=server.proxy_url)


def test_by_default_links_are_left_and_copies_are_not_kept(tmp_path: Path) -> None:
    run = crawl(tmp_path / "out", "--record")
    assert run.status == 0, run.err
    # (of-data is linked in what may not be kept, and its links may be followed)
    documents = {f"{D}/{name}.ttl" for name in ("kept", "from-other", "from-copy", "of-data")}
    assert set(run.documents()) == documents
    outcomes = run.outcomes()
    assert outcomes[f"{D}/secret.ttl"] == ["not-kept"]
    assert outcomes[f"{D}/copy/"] == ["fetched-html"]
    assert not any("secret" in line for line in run.quads)
    assert not (run.folder / "embedded.nq").exists()
    log = (run.folder / "crawl.log").read_text()
    assert log.count("'semcrawl/warc/left_out': ") >= 1


def test_nothing_may_be_obeyed(tmp_path: Path) -> None:
    run = crawl(tmp_path / "out", "-s", "SEMCRAWL_ROBOTS_TAGS=")
    assert set(run.documents()) == {D + path for path in SITE if path.endswith(".ttl")}
    assert (run.folder / "embedded.nq").exists()


def test_what_cannot_be_obeyed_is_refused(tmp_path: Path) -> None:
    run = crawl(tmp_path / "out", "-s", "SEMCRAWL_ROBOTS_TAGS=nofollow,noodp")
    run.says_in_one_line("noodp", "rel-nofollow")
