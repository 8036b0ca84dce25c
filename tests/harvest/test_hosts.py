"""Hosts that are gone, or that nobody may be sent to."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from harvest.runs import harvest, logged
from semcrawl.demo import DemoWeb, serve
from semcrawl.demo.stream import Request, Stream


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port of loopback that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.slow
def test_a_host_that_is_gone_is_not_asked_for_ever(tmp_path: Path, closed_port: int) -> None:
    """After four network errors in a row the rest of its links end as host-down, unsent."""
    seeds = [f"http://127.0.0.1:{closed_port}/{number}" for number in range(12)]
    run = harvest(*seeds, "--fast", "-s", "RETRY_TIMES=0", folder=tmp_path / "out")
    run.is_calm()
    assert run.status == 1
    outcomes = run.summary["outcomes"]
    assert outcomes["host-down"] >= 6
    assert outcomes["host-down"] + outcomes["network-error"] >= len(seeds)
    assert run.summary["requests"] <= len(seeds) - outcomes["host-down"]
    assert run.err.count("robots.txt") <= 1


@pytest.mark.slow
def test_a_name_that_leads_home_is_refused_unless_a_seed_names_it(tmp_path: Path) -> None:
    """A page that links to numbers which resolve to loopback sends us nowhere."""
    log = tmp_path / "requests.jsonl"
    targets: list[str] = []

    async def page(request: Request, out: Stream) -> None:
        links = "".join(f'<a href="{url}">x</a>' for url in targets)
        await out.whole(200, [("Content-Type", "text/html")], links.encode())

    with serve(DemoWeb(), log=log, handlers={"127.0.0.1": page, "2130706433": page}) as server:
        targets.append(f"http://2130706433:{server.port}/secret")
        seed = f"http://127.0.0.1:{server.port}/"
        run = harvest(
            seed, "--scope", "any", "-s", "SEMCRAWL_CRAWL_DELAY=0", folder=tmp_path / "refused"
        )
        assert run.outcomes()[targets[0]] == ["address-refused"]
        assert {line["host"] for line in logged(log)} == {"127.0.0.1"}
        asked = harvest(
            targets[0], "--scope", "any", "-s", "SEMCRAWL_CRAWL_DELAY=0", folder=tmp_path / "asked"
        )
    assert asked.outcomes()[targets[0]] == ["fetched-html"]
