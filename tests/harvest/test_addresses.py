"""Many names of one server do not make it busier than it may be."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from harvest.runs import harvest, logged
from semcrawl.lab.demo import DemoWeb, Request, Stream, serve

pytestmark = pytest.mark.slow

GAP = 0.3
#: what the clocks of sender and receiver, and the way between them, may differ in (seconds)
JITTER = 0.05


async def answer(request: Request, out: Stream) -> None:
    if request.path == "/robots.txt":
        await out.whole(404, [], b"")
        return
    links = "".join(f"<a href=/{number}>x</a>" for number in range(2))
    await out.whole(200, [("Content-Type", "text/html")], links.encode())


@pytest.mark.parametrize("paced", [True, False])
def test_an_address_is_asked_at_its_pace_under_all_names(tmp_path: Path, paced: bool) -> None:
    """SpiderChannels stand for names. Private addresses have a pace only where one is asked for."""
    logs = [tmp_path / f"requests-{number}.jsonl" for number in range(3)]
    handlers = {"127.0.0.1": answer}
    with (
        serve(DemoWeb(), log=logs[0], handlers=handlers) as one,
        serve(DemoWeb(), log=logs[1], handlers=handlers) as two,
        serve(DemoWeb(), log=logs[2], handlers=handlers) as three,
    ):
        run = harvest(
            *(f"http://127.0.0.1:{server.port}/" for server in (one, two, three)),
            *("-s", "SEMCRAWL_CRAWL_DELAY=0.05", "-s", f"SEMCRAWL_ADDRESS_DELAY={GAP}"),
            *("-s", "SEMCRAWL_SLOW_START=0", "-s", f"SEMCRAWL_PACE_PRIVATE_ADDRESSES={paced}"),
            folder=tmp_path / "out",
        )
    times = sorted(line["t"] for log in logs for line in logged(log))
    assert len(times) == 3 * (1 + 1 + 2)
    assert run.summary["outcomes"]["fetched-html"] == run.summary["requests"] == 3 * 3
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert (min(gaps) > GAP - JITTER) is paced
