"""The crawl asks as its hosts want to be asked."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from harvest.runs import asked, harvest, logged, pages
from semcrawl.lab.demo import DemoWeb, Request, Stream, serve


@pytest.mark.slow
def test_links_that_wait_for_robots_txt_at_the_same_time_all_obey_it(tmp_path: Path) -> None:
    """Many links of a host that nothing is known about yet, all of them forbidden."""
    seeds = [f"http://blog.demo.example/wp-admin/{number}" for number in range(8)]
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log) as server:
        run = harvest(*seeds, "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    assert set(asked(log)) == {"blog.demo.example/robots.txt"}
    assert [run.outcomes()[seed] for seed in seeds] == [["robots-denied"]] * len(seeds)


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_domain_is_asked_as_slowly_as_its_slowest_host_wants(tmp_path: Path) -> None:
    """With ``SEMCRAWL_PACE_BY=domain``, whichever robots.txt was read last."""
    log = tmp_path / "requests.jsonl"
    delays = {"slow.d.example": 0.5, "quick.d.example": 0.05}

    async def answer(request: Request, out: Stream) -> None:
        if request.path == "/robots.txt":
            rules = f"User-agent: *\nCrawl-delay: {delays[request.host]}"
            await out.whole(200, [("Content-Type", "text/plain")], rules.encode())
            return
        links = "".join(f"<a href=http://{host}/{n}>x</a>" for n in range(3) for host in delays)
        await out.whole(200, [("Content-Type", "text/html")], links.encode())

    with serve(DemoWeb(), log=log, handlers=dict.fromkeys(delays, answer)) as server:
        harvest(
            *("http://slow.d.example/", "http://quick.d.example/", "--pages", "8"),
            *("-s", "SEMCRAWL_PACE_BY=domain", "-s", "SEMCRAWL_CRAWL_DELAY=0.05"),
            *("--relevance", "breadth-first"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    times = [line["t"] for line in logged(log) if line["path"] != "/robots.txt"]
    assert len(times) == 8
    assert min(later - earlier for earlier, later in pairwise(times)) > 0.45


@pytest.mark.slow
@pytest.mark.parametrize("earlier", [False, True])
def test_a_crawl_keeps_the_unit_that_it_began_with(tmp_path: Path, *, earlier: bool) -> None:
    """A crawl of an earlier version, which noted none, began with hosts."""
    log, folder = tmp_path / "requests.jsonl", tmp_path / "out"
    hosts = ["a.d.example", "b.d.example"]

    async def answer(request: Request, out: Stream) -> None:
        links = "".join(f"<a href=http://{host}/{n}>x</a>" for n in range(9) for host in hosts)
        await out.whole(200, [("Content-Type", "text/html")], links.encode())

    with serve(DemoWeb(), log=log, handlers=dict.fromkeys(hosts, answer)) as server:
        options = ("-s", "SEMCRAWL_CRAWL_DELAY=0.3", "--relevance", "breadth-first")
        start = [f"http://{host}/" for host in hosts]
        first = ("--pages", "3", "-s", "SEMCRAWL_PACE_BY=host")
        harvest(*start, *first, *options, folder=folder, proxy=server.proxy_url)
        if earlier:
            with closing(sqlite3.connect(folder / "frontier.db")) as frontier, frontier:
                sql = "DELETE FROM state WHERE CAST(name AS TEXT) = 'pace-by'"
                assert frontier.execute(sql).rowcount == 1
        more = ("--pages", "16", *options)
        run = harvest(*start, *more, folder=folder, proxy=server.proxy_url)
    assert "began with SEMCRAWL_PACE_BY=host" in (run.folder / "crawl.log").read_text()
    times = [(line["t"], line["host"]) for line in logged(log) if line["path"] != "/robots.txt"][
        -10:
    ]
    gaps = [(b[0] - a[0], a[1] != b[1]) for a, b in pairwise(times)]
    # two hosts in turn
    assert min(gap for gap, between in gaps if between) < 0.25


@pytest.mark.slow
def test_robots_txt_is_read_once_by_both_spiders_and_by_the_next_run(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    web = DemoWeb()
    with serve(web, log=log) as server:
        for pages in ("40", "60"):
            options = ("--fast", "--pages", pages)
            harvest(web.start, *options, folder=tmp_path / "out", proxy=server.proxy_url)
    requests = asked(log)
    hosts = {url.split("/")[0] for url in requests}
    assert len(hosts) > 1
    assert {host: requests[f"{host}/robots.txt"] for host in hosts} == dict.fromkeys(hosts, 1)


@pytest.mark.slow
def test_a_host_that_is_asked_too_much_is_left_alone_for_as_long_as_it_says(
    tmp_path: Path,
) -> None:
    """After a 429 nothing is sent before its time is over, and nothing is lost."""
    log = tmp_path / "requests.jsonl"
    refusals: list[float] = []
    documents = 20

    async def answer(request: Request, out: Stream) -> None:
        if request.path == "/":
            links = "".join(f"<a href=/{number}.nt>x</a>" for number in range(documents))
            await out.whole(200, [("Content-Type", "text/html")], links.encode())
        elif request.path == "/7.nt" and not refusals:
            refusals.append(time.time())
            await out.whole(429, [("Retry-After", "3")], b"")
        else:
            await out.whole(200, [("Content-Type", "text/plain")], b"<a:b> <a:b> <a:b> .\n")

    with serve(DemoWeb(), log=log, handlers={"busy.example": answer}) as server:
        run = harvest(
            *("http://busy.example/", "--fast", "-s", "CONCURRENT_REQUESTS=1"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert len(run.documents()) == documents
    assert run.outcomes()["http://busy.example/7.nt"] == ["http-error", "fetched-rdf"]
    later = [line["t"] for line in logged(log) if line["t"] > refusals[0] + 0.1]
    assert len(later) > 1
    assert min(later) >= refusals[0] + 2.9


@pytest.mark.slow
def test_a_host_that_refuses_everything_is_given_up(tmp_path: Path) -> None:
    """Its links are not tried one after the other, each with its own rest."""
    log = tmp_path / "requests.jsonl"

    async def answer(request: Request, out: Stream) -> None:
        status = 404 if request.path == "/robots.txt" else 429
        await out.whole(status, [], b"")

    with serve(DemoWeb(), log=log, handlers={"busy.example": answer}) as server:
        run = harvest(
            *(f"http://busy.example/{number}" for number in range(40)),
            *("--fast", "-s", "SEMCRAWL_HOST_FAILURES=2", "-s", "CONCURRENT_REQUESTS=2"),
            *("-s", "SEMCRAWL_UNTRIED_HOST_PATIENCE=5"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert run.summary["outcomes"]["host-down"] >= 30
    assert pages(log) <= 10


@pytest.mark.slow
def test_a_host_whose_robots_txt_fails_is_left_alone(tmp_path: Path) -> None:
    """Until it is there: then what waited is fetched."""
    log = tmp_path / "requests.jsonl"
    fails = {"down.example": 1000, "busy.example": 1}

    async def answer(request: Request, out: Stream) -> None:
        host = request.host
        if request.path != "/robots.txt":
            await out.whole(200, [("Content-Type", "text/html")], b"<p>a page</p>")
        elif fails[host] > 0:
            fails[host] -= 1
            await out.whole(503, [], b"")
        else:
            await out.whole(404, [], b"")

    with serve(DemoWeb(), log=log, handlers=dict.fromkeys(fails, answer)) as server:
        run = harvest(
            *(f"http://{host}/page" for host in fails),
            *("--fast", "bound:middlewares.robots:RobotsRules.retry=0.5", "-s", "RETRY_TIMES=1"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    outcomes = run.outcomes()
    assert outcomes["http://busy.example/page"] == ["robots-denied", "fetched-html"]
    assert outcomes["http://down.example/page"] == ["robots-denied", "robots-denied"]
    pages = {"busy.example/page", "busy.example/"}  # the folder that the page is in
    assert asked(log).keys() == pages | {f"{host}/robots.txt" for host in fails}


@pytest.mark.slow
def test_each_request_for_a_robots_txt_that_redirects_has_its_record(tmp_path: Path) -> None:
    """One that leads elsewhere is read there; one that leads nowhere is left after five times."""
    log = tmp_path / "requests.jsonl"
    targets = {"moved.example": "/rules", "round.example": "/robots.txt"}

    async def answer(request: Request, out: Stream) -> None:
        if request.path == "/robots.txt":
            await out.whole(302, [("Location", targets[request.host])], b"")
        elif request.path == "/rules":
            rules = b"User-agent: *\nDisallow: /private"
            await out.whole(200, [("Content-Type", "text/plain")], rules)
        else:
            await out.whole(200, [("Content-Type", "text/html")], b"<a href=/private>a page</a>")

    with serve(DemoWeb(), log=log, handlers=dict.fromkeys(targets, answer)) as server:
        seeds = [f"http://{host}/" for host in targets]
        run = harvest(*seeds, "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    assert run.sent() == asked(log)
    assert asked(log)["round.example/robots.txt"] == 1 + 5
    outcomes = run.outcomes()
    assert outcomes["http://moved.example/private"] == ["robots-denied"]
    assert outcomes["http://round.example/private"] == ["fetched-html"]
