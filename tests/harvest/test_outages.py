"""Servers that are away for a time, that block us, and a network that is: nothing is lost."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from harvest.frail import Answer, FrailServer, frail, site
from harvest.runs import Run, harvest, semcrawl
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream

pytestmark = pytest.mark.slow

TURTLE = b"<> a <http://example.org/Thing> ."
QUICK = ("-s", "SEMCRAWL_CRAWL_DELAY=0.02")


def of_one_host(run: Run) -> set[str]:
    return {url.rpartition("/")[2] for url in run.documents()}


@pytest.mark.parametrize("how", [("--fast",), QUICK])
@pytest.mark.parametrize("retries", ["0", "2"])
def test_a_server_that_is_away_for_four_seconds_costs_no_document(
    tmp_path: Path, how: tuple[str, ...], retries: str
) -> None:
    server = FrailServer(site(40), lasts=12, away=4.0)
    with frail(server):
        run = harvest(
            f"{server.url}/", *how, "-s", f"RETRY_TIMES={retries}", folder=tmp_path / "out"
        )
    run.is_calm()
    assert run.status == 0
    lost = 1 if retries == "0" else 0  # what failed first had its only try
    assert len(run.documents()) >= 40 - lost
    assert "host-down" not in run.summary["outcomes"]
    assert run.summary["outcomes"]["network-error"] < 20
    assert "answers again" in run.err
    assert "hosts_given_up" not in run.summary


def test_a_server_that_stays_away_is_waited_for_and_its_links_come_back_by_requeue(
    tmp_path: Path,
) -> None:
    server = FrailServer(site(30), lasts=11, away=1000.0)
    folder = tmp_path / "out"
    waits = ("-s", "SEMCRAWL_HOST_PATIENCE=5", "bound:crawl.healthsigns:HealthOptions.rest=0.5")
    with frail(server):
        began = time.monotonic()
        run = harvest(f"{server.url}/", *QUICK, *waits, folder=folder)
        assert time.monotonic() - began >= 5
        server.away = 0
    run.is_calm()
    had = len(run.documents())
    assert had == 9
    # nothing is sent for what was set aside: the probes are a few
    assert run.summary["outcomes"]["network-error"] < 15
    down = [r for r in run.records if r["outcome"] == "host-down"]
    assert len({r["url"] for r in down}) == len(down) >= 15
    assert all("does not answer" in r["errors"] for r in down)
    [told] = run.summary["hosts_given_up"]
    assert told["host"] == f"127.0.0.1:{server.port}"
    assert told["links"] == 30 - had
    assert f"{30 - had} links of it set aside" in run.out
    assert "--requeue" in run.out
    back = FrailServer(site(30), port=server.port)
    with frail(back):
        again = semcrawl("frontier", str(folder), "--requeue", folder=folder)
        assert "failed links wait again" in again.out
        run = harvest(*QUICK, *waits, folder=folder)
    assert len(run.documents()) == 30
    assert "hosts_given_up" not in run.summary


def blocking(documents: int, after: int, until: float = 10**9) -> tuple[FrailServer, list[str]]:
    """A server that answers 403 to everything after so many requests; when, and what it refused."""
    good, refused = site(documents), list[str]()
    server = FrailServer(good)

    def pages(path: str) -> Answer:
        if len(server.log) <= after or (refused and time.monotonic() - server.gone[0] > until):
            return good(path)
        server.gone = server.gone or [time.monotonic()]
        refused.append(path)
        return 403, "text/html", b"go away"

    server.pages = pages
    return server, refused


def test_a_host_that_blocks_us_is_not_asked_to_the_last_link(tmp_path: Path) -> None:
    server, refused = blocking(100, after=20)
    waits = ("-s", "SEMCRAWL_HOST_PATIENCE=5", "bound:crawl.healthsigns:HealthOptions.rest=0.5")
    with frail(server):
        run = harvest(f"{server.url}/", *QUICK, *waits, folder=tmp_path / "out")
    run.is_calm()
    assert len(refused) < 20
    [told] = run.summary["hosts_given_up"]
    assert told["links"] == 100 - len(run.documents())
    assert "answers 403 to everything" in run.out
    assert "--requeue" in run.out


def test_a_block_that_is_lifted_costs_nothing(tmp_path: Path) -> None:
    """Links refused before the block was recognised are requested again."""
    server, _ = blocking(60, after=20, until=4.0)
    feed = tmp_path / "all.nq"
    with frail(server):
        run = harvest(f"{server.url}/", *QUICK, "-o", str(feed), folder=tmp_path / "out")
    assert len(run.documents()) == 60
    assert "hosts_given_up" not in run.summary
    # what is asked for again, to see whether the host serves us, is not exported again
    assert len(server.asked) > len(set(server.asked))
    lines = feed.read_bytes().splitlines()
    assert len(lines) == len(set(lines))


def test_a_host_that_forbids_some_pages_has_not_blocked_us(tmp_path: Path) -> None:
    """Be they thirty in a row."""
    links = "".join(f"<a href=/private/{n}.rdf>private</a>" for n in range(30))
    good = site(30, links)

    def pages(path: str) -> Answer:
        return (403, "text/html", b"") if path.startswith("/private/") else good(path)

    server = FrailServer(pages)
    with frail(server):
        run = harvest(f"{server.url}/", *QUICK, folder=tmp_path / "out")
    assert len(run.documents()) == 30
    assert 30 <= run.summary["outcomes"]["http-error"] <= 33
    assert "hosts_given_up" not in run.summary
    assert len(server.asked) <= 61 + 4  # what it gave before, to be sure


def linked(servers: list[FrailServer], documents: int) -> None:
    """Have each server link to the documents of all."""
    places = [f"{server.url}/{n}.ttl" for n in range(documents) for server in servers]
    links = "".join(f"<a href={place}>x</a>" for place in places)
    for server in servers:
        server.pages = site(0, links)


def test_of_many_hosts_one_may_be_away(tmp_path: Path) -> None:
    """The others go on meanwhile."""
    servers = [FrailServer(site(0), address=f"127.0.0.{n}") for n in (2, 3, 4, 5)]
    servers[1].lasts, servers[1].away = 6, 5.0
    with frail(*servers):
        linked(servers, 15)
        run = harvest(
            *(f"{server.url}/" for server in servers),
            *("-s", "SEMCRAWL_CRAWL_DELAY=0.3", "-s", "SEMCRAWL_SLOW_START=0"),
            folder=tmp_path / "out",
        )
    assert len(run.documents()) == 60
    gone, back = servers[1].gone
    assert sum(gone < at < back for server in servers for at, _ in server.log) > 10
    assert "the crawl pauses" not in run.err


def test_when_every_host_fails_the_crawl_pauses_and_goes_on(tmp_path: Path) -> None:
    """It says so, and nothing counts as tried for it."""
    servers = [FrailServer(site(0), address=f"127.0.0.{n}", away=6.0) for n in (2, 3, 4, 5)]
    failed = threading.Event()
    with frail(*servers):
        linked(servers, 15)

        def cut(path: str) -> Answer:
            if not failed.is_set() and sum(len(server.log) for server in servers) > 24:
                failed.set()
                for server in servers:
                    server.lasts = 1  # each goes away after its next answer
            return links(path)

        links = servers[0].pages
        for server in servers:
            server.pages = cut
        run = harvest(
            *(f"{server.url}/" for server in servers),
            *("-s", "SEMCRAWL_CRAWL_DELAY=0.1", "-s", "SEMCRAWL_SLOW_START=0"),
            *("-s", "RETRY_TIMES=1"),
            folder=tmp_path / "out",
        )
    assert len(run.documents()) == 60
    assert "the crawl pauses" in run.err
    assert "the network is back" in run.err


def test_sites_without_tls_pause_nothing(tmp_path: Path) -> None:
    """Links to their ``https`` are waited for as those of servers that never answered."""
    secure = "".join(f"<a href=https://HOST/{n}.ttl>x</a>" for n in range(12))

    async def answer(request: Request, out: Stream) -> None:
        if request.path == "/":
            others = "".join(f"<a href=http://c.example/{n}.ttl>x</a>" for n in range(40))
            body = secure.replace("HOST", request.host) + others
            await out.whole(200, [("Content-Type", "text/html")], body.encode())
        elif request.path.endswith(".ttl"):
            await out.whole(200, [("Content-Type", "text/turtle")], TURTLE)
        else:
            await out.whole(404, [], b"")

    sites = ("a.example", "b.example", "c.example")
    with serve(DemoWeb(), handlers=dict.fromkeys(sites, answer)) as server:
        run = harvest(
            *(f"http://{site}/" for site in sites),
            *("-s", "SEMCRAWL_CRAWL_DELAY=0.2", "-s", "SEMCRAWL_UNTRIED_HOST_PATIENCE=5"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    run.is_calm()
    assert "the crawl pauses" not in run.err
    assert len(run.documents()) == 40
    assert "network-error" in run.summary["outcomes"]


def test_a_proxy_that_is_away_is_no_fault_of_the_site(tmp_path: Path) -> None:
    proxy = FrailServer(site(40), lasts=12, away=4.0)
    with frail(proxy):
        run = harvest("http://a.example/", *QUICK, folder=tmp_path / "out", proxy=proxy.url)
    assert len(run.documents()) == 40
    assert "the crawl pauses" in run.err
    assert run.summary["outcomes"]["network-error"] < 8


def test_a_host_that_some_pages_hang_on_is_not_taken_for_gone(tmp_path: Path) -> None:
    """A page that it gave before shows that it is there."""
    links = "".join(f"<a href=/broken/{n}.rdf>x</a>" for n in range(6))
    good = site(10, links)

    def pages(path: str) -> Answer:
        if path.startswith("/broken/"):
            raise OSError("cut off")
        return good(path)

    server = FrailServer(pages)
    with frail(server):
        run = harvest(f"{server.url}/", *QUICK, folder=tmp_path / "out")
    assert len(run.documents()) == 10
    assert "hosts_given_up" not in run.summary
    assert len(server.asked) < 11 + 6 * 4 + 10
    assert "host-down" not in run.summary["outcomes"]


def test_with_rests_by_pagerank_a_page_is_gone_after_four_failed_checks(tmp_path: Path) -> None:
    """However long the host would be waited for."""
    server = FrailServer(site(3), lasts=3, away=1000.0)
    rests = ("SEMCRAWL_HOST_REST_POLICY=pagerank", "RETRY_TIMES=0")
    settings = [part for each in rests for part in ("-s", each)]
    with frail(server):
        run = harvest(
            *(f"{server.url}/", *QUICK, *settings, "--relevance", "pagerank"),
            "bound:crawl.healthsigns:HealthOptions.rest=0.1",
            folder=tmp_path / "out",
        )
    run.is_calm()
    assert "hosts_given_up" not in run.summary
    ends = [r["outcome"] for r in run.records]
    assert ends.count("network-error") > 4
    assert run.summary["outcomes"]["network-error"] == ends.count("network-error")
