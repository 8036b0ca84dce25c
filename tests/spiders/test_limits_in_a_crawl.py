"""Budgets, patterns of hosts and types, and priorities of seeds in a crawl."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from harvest.runs import harvest, semcrawl, start_harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import handler, page
from tests.waiting import until

pytestmark = pytest.mark.slow

D = "http://d.example"
NAMES = [f"n{i}" for i in range(20)]
SITE = {"/": page(*(f"/{name}.ttl" for name in NAMES))} | {
    f"/{name}.ttl": ("text/turtle", f"<urn:{name}> a <urn:x> .".encode()) for name in NAMES
}


def test_a_budget_of_a_host_ends_its_part_and_can_be_raised(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = (
        "--fast",
        "-s",
        "CONCURRENT_REQUESTS=1",
        "--sitemaps",
        "never",
        "-s",
        "SEMCRAWL_WELL_KNOWN=",
    )
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        run = harvest(
            f"{D}/", *arguments, "--host-budget", "requests=8", folder=out, proxy=server.proxy_url
        )
        run.is_calm()
        assert run.summary["requests"] == 8
        assert run.summary["outcomes"]["over-budget"] == 13
        assert run.summary["not_harvested"]["over-budget"]["links"] == 13
        assert "13 over the budget of their host or domain: d.example" in run.out
        changed = semcrawl("limits", str(out), "--host-budget", "requests=100", folder=out)
        assert "SEMCRAWL_HOST_BUDGET = requests=100" in changed.out
        assert semcrawl("frontier", str(out), "--requeue", folder=out).status == 0
        run = harvest(f"{D}/", *arguments, folder=out, proxy=server.proxy_url)
    assert len(run.documents()) == len(NAMES)


def test_types_and_hosts_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "patterns"
    file.write_text("# what is not wanted\ntype:text/turtle\nhost:other.*\n")
    site = SITE | {"/": page("/n1.ttl", "/n2.nt", "http://other.d.example/")}
    site |= {"/n2.nt": ("application/n-triples", b"<urn:a> <urn:b> <urn:c> .\n")}
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        run = harvest(
            f"{D}/", "--fast", "--exclude", f"@{file}", folder=tmp_path / "out",
            proxy=server.proxy_url,
        )  # fmt: skip
    assert run.outcomes()[f"{D}/n1.ttl"] == ["filtered-type"]
    assert set(run.documents()) == {f"{D}/n2.nt"}
    assert run.summary["not_harvested"]["excluded"]["hosts"] == {"other.d.example": 1}


def test_seeds_go_by_their_numbers(tmp_path: Path) -> None:
    asked: list[str] = []

    async def note(request: Request, out: Stream) -> None:
        asked.append(request.path)
        await handler(SITE)(request, out)

    seeds = tmp_path / "seeds"
    seeds.write_text(f"{D}/n1.ttl\n{D}/n2.ttl 7\n")
    with serve(DemoWeb(), handlers={"d.example": note}) as server:
        run = harvest(
            f"@{seeds}", f"{D}/n3.ttl", "9", f"{D}/n4.ttl", "0.5", "--fast",
            *("-s", "CONCURRENT_REQUESTS=1", "--sitemaps", "never", "-s", "SEMCRAWL_WELL_KNOWN="),
            folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    assert run.status == 0, run.err
    assert asked[1:] == ["/n3.ttl", "/n2.ttl", "/n4.ttl", "/n1.ttl"]


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("--exclude", "re:(", "is not a regular expression"),
        ("--exclude", "@/nowhere/file", "cannot read the patterns"),
        ("--exclude", "type:", "names no type"),
        ("--host-budget", "requests=x", "requests=x"),
    ],
)
def test_wrong_limits_are_refused_in_one_line(
    tmp_path: Path, option: str, value: str, words: str
) -> None:
    harvest(f"{D}/", option, value, folder=tmp_path / "out").says_in_one_line(words)


def test_limits_that_are_set_while_a_crawl_runs_hold_at_once_for_all_its_spiders(
    tmp_path: Path,
) -> None:
    """One excludes a folder, one a media type; both were asked for before."""
    out, asked, may_go_on = tmp_path / "out", list[str](), threading.Event()
    kinds = {"a": "text/turtle", "b": "text/turtle", "c": "text/n3"}
    site = {"/": page(*(f"/{folder}/{n}" for n in range(60) for folder in kinds))}
    site |= {
        f"/{folder}/{n}": (kind, f"<urn:{folder}{n}> a <urn:x> .".encode())
        for n in range(60)
        for folder, kind in kinds.items()
    }

    async def answer(request: Request, response: Stream) -> None:
        asked.append(request.path)
        if len(asked) > 6:
            await asyncio.to_thread(may_go_on.wait)
        await handler(site)(request, response)

    options = ("bound:crawl.crawllimits:INTERVAL=0.1", "-s", "SEMCRAWL_CRAWL_DELAY=0.05")
    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        run = start_harvest(f"{D}/", *options, "-q", folder=out, proxy=server.proxy_url)
        until(lambda: len(asked) > 6 or run.process.poll() is not None)
        limits = ("--exclude", "/b/*", "--exclude", "type:text/n3")
        changed = semcrawl("limits", str(out), *limits, folder=out)
        may_go_on.set()
        done = run.wait()
    assert changed.status == 0, changed.err
    done.is_calm()
    found = {name: sum(f"/{name}/" in url for url in done.documents()) for name in kinds}
    assert found["a"] == 60
    assert found["b"] < 60
    assert found["c"] < 60
    left_out = [row["outcome"] for row in done.records if "/c/" in row["url"]]
    assert "filtered-type" in left_out


PLAIN = (
    *("--fast", "--sitemaps", "never"),
    *("-s", "CONCURRENT_REQUESTS=1", "-s", "SEMCRAWL_WELL_KNOWN="),
)


def test_what_was_blocked_for_a_time_comes_back(tmp_path: Path) -> None:
    """Waiting links of a blocked host are set aside, new ones are found again, none is lost."""
    out = tmp_path / "out"
    late = {f"/late{i}.ttl": ("text/turtle", b"<urn:l> a <urn:x> .") for i in range(5)}
    site = SITE | late | {"/": page("/more.html", *(f"/{name}.ttl" for name in NAMES))}
    site["/more.html"] = page(*late)
    with serve(DemoWeb(), handlers={"d.example": handler(site)}) as server:
        proxy = server.proxy_url
        harvest(f"{D}/", *PLAIN, "--pages", "3", folder=out, proxy=proxy)
        blocked = semcrawl("limits", str(out), "--exclude", "host:d.example", folder=out)
        assert blocked.status == 0, blocked.err
        run = harvest(*PLAIN, folder=out, proxy=proxy)
        run.is_calm()
        assert run.summary["requests"] <= 4
        assert run.summary["outcomes"]["excluded"] >= 15
        assert "excluded: d.example" in run.out
        assert semcrawl("limits", str(out), "--reset", folder=out).status == 0
        run = harvest(*PLAIN, folder=out, proxy=proxy)
        run.is_calm()
    assert len(run.documents()) == len(NAMES) + len(late)


def test_exclusions_add_up(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        harvest(f"{D}/", *PLAIN, "--pages", "2", folder=out, proxy=server.proxy_url)
        semcrawl("limits", str(out), "--exclude", "*/n1*", folder=out)
        second = semcrawl("limits", str(out), "--exclude", "*/n2.ttl", folder=out)
        assert "SEMCRAWL_EXCLUDE = */n1*, */n2.ttl" in second.out
        run = harvest(*PLAIN, "--exclude", "*/n3.ttl", folder=out, proxy=server.proxy_url)
    left = {f"{D}/{name}.ttl" for name in NAMES if not name.startswith("n1")}
    assert set(run.documents()) >= left - {f"{D}/n2.ttl", f"{D}/n3.ttl"}
    assert run.summary["outcomes"]["excluded"] >= 10


def test_a_pattern_that_can_match_nothing_gets_a_line(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serve(DemoWeb(), handlers={"d.example": handler(SITE)}) as server:
        harvest(f"{D}/", *PLAIN, "--pages", "1", folder=out, proxy=server.proxy_url)
    done = semcrawl("limits", str(out), "--exclude", "www.w3.org", folder=out)
    assert "'www.w3.org' can match no address" in done.err
    assert "give host:www.w3.org" in done.err
