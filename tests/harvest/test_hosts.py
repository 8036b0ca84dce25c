"""Hosts that are gone, or that nobody may be sent to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.runs import harvest, logged, semcrawl
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of loopback that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.slow
def test_a_host_that_is_gone_is_not_asked_for_ever(tmp_path: Path, closed_port: int) -> None:
    """It is asked by single links for a time; then the rest end as host-down, unsent."""
    seeds = [f"http://127.0.0.1:{closed_port}/{number}" for number in range(12)]
    waits = ("-s", "RETRY_TIMES=0", "-s", "SEMCRAWL_UNTRIED_HOST_PATIENCE=3")
    run = harvest(*seeds, "--fast", *waits, folder=tmp_path / "out")
    run.is_calm()
    assert run.status == 1
    outcomes = run.summary["outcomes"]
    assert outcomes["host-down"] >= 6
    assert outcomes["host-down"] + outcomes["network-error"] >= len(seeds)
    assert run.summary["requests"] <= len(seeds) - outcomes["host-down"]
    # three seeds are named
    assert run.err.count("robots.txt") <= 4
    again = semcrawl("frontier", str(run.folder), "--requeue", folder=run.folder)
    assert f"{len(seeds)} failed links wait again" in again.out


@pytest.mark.slow
def test_a_name_that_leads_home_is_refused_unless_a_seed_names_it(tmp_path: Path) -> None:
    """A page that links to numbers which resolve to loopback sends us nowhere.

    Neither for pages nor for a robots.txt, and the host does not pass for one that is down.
    """
    log = tmp_path / "requests.jsonl"
    targets: list[str] = []

    async def page(request: Request, out: Stream) -> None:
        links = "".join(f'<a href="{url}">x</a>' for url in targets)
        await out.whole(200, [("Content-Type", "text/html")], links.encode())

    with serve(DemoWeb(), log=log, handlers={"127.0.0.1": page, "0x7f000001": page}) as server:
        targets += [f"http://0x7f000001:{server.port}/{number}" for number in range(8)]
        seed = f"http://127.0.0.1:{server.port}/"
        run = harvest(
            seed, "--scope", "any", "-s", "SEMCRAWL_CRAWL_DELAY=0", folder=tmp_path / "refused"
        )
        refused = {url: set(how) for url, how in run.outcomes().items() if "0x7f000001" in url}
        assert refused.keys() == set(targets)
        assert set.union(*refused.values()) == {"address-refused"}
        assert {line["host"] for line in logged(log)} == {"127.0.0.1"}
        asked = harvest(
            targets[0], "--scope", "any", "-s", "SEMCRAWL_CRAWL_DELAY=0", folder=tmp_path / "asked"
        )
    assert asked.outcomes()[targets[0]] == ["fetched-html"]


@pytest.mark.slow
def test_the_name_of_the_proxy_is_resolved_whatever_its_address(tmp_path: Path) -> None:
    """A page that links to it is refused that link, and does not cut the crawl off."""

    async def pages(request: Request, out: Stream) -> None:
        body = b'<a href="http://0x7f000001/x">x</a><a href="http://a.example/later">y</a>'
        await out.whole(200, [("Content-Type", "text/html"), ("Connection", "close")], body)

    with serve(DemoWeb(), handlers={"a.example": pages, "0x7f000001": pages}) as server:
        run = harvest(
            "http://a.example/",
            *("--scope", "any", "-s", "SEMCRAWL_CRAWL_DELAY=0"),
            folder=tmp_path / "out",
            proxy=f"http://0x7f000001:{server.port}",
        )
    assert run.outcomes()["http://0x7f000001/x"] == ["address-refused"]
    assert run.outcomes()["http://a.example/later"] == ["fetched-html"]
