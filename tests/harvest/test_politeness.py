"""The crawl asks as its hosts want to be asked."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from harvest.runs import asked, harvest, logged
from semcrawl.demo import DemoWeb, serve


def test_links_that_wait_for_robots_txt_at_the_same_time_all_obey_it(tmp_path: Path) -> None:
    """Many links of a host that nothing is known about yet, all of them forbidden."""
    seeds = [f"http://blog.demo.example/wp-admin/{number}" for number in range(8)]
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log) as server:
        run = harvest(*seeds, "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    assert set(asked(log)) == {"blog.demo.example/robots.txt"}
    assert [run.outcomes()[seed] for seed in seeds] == [["robots-denied"]] * len(seeds)


def test_requests_to_a_host_start_as_far_apart_as_robots_txt_asks(tmp_path: Path) -> None:
    delay = 0.3
    log = tmp_path / "requests.jsonl"
    web = DemoWeb(crawl_delay=delay)
    with serve(web, log=log) as server:
        harvest(web.start, "--pages", "12", folder=tmp_path / "out", proxy=server.proxy_url)
    times: dict[str, list[float]] = {}
    for line in logged(log):
        times.setdefault(line["host"], []).append(line["t"])
    gaps = [later - earlier for starts in times.values() for earlier, later in pairwise(starts)]
    assert gaps
    # what the network and the server take may differ between two requests
    assert min(gaps) > delay - 0.05
