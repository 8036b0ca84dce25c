"""Every robots.txt that a server has is obeyed, as far as it is read, however it comes."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest

from harvest.runs import asked, harvest, logged
from semcrawl.crawl.sharedrobots import LONGEST
from semcrawl.lab.demo import DemoWeb, Request, Stream, serve
from semcrawl.lab.demo.model import Handler

RULES = b"User-agent: *\nDisallow: /private\n"
PAGE = b"<a href=/private>a page</a> <a href=/public>another</a>"


def site(
    status: int, *pieces: bytes, encoding: str = "", announced: bool = True, retry_after: str = ""
) -> Handler:
    """Answer for a robots.txt with these pieces; anything else is a page."""

    async def answer(request: Request, out: Stream) -> None:
        if request.path != "/robots.txt":
            await out.whole(200, [("Content-Type", "text/html")], PAGE)
            return
        headers = [("Content-Type", "text/plain")]
        if encoding:
            headers.append(("Content-Encoding", encoding))
        if retry_after:
            headers.append(("Retry-After", retry_after))
        if announced:
            await out.whole(status, headers, b"".join(pieces))
            return
        out.closing = True
        await out.head(status, [*headers, ("Connection", "close")])
        for piece in pieces:
            await out.body(piece)

    return answer


@pytest.mark.slow
def test_the_beginning_of_a_robots_txt_counts_however_long_it_is(tmp_path: Path) -> None:
    """RFC 9309, section 2.5; a line that the end of what is read cuts says nothing."""
    log = tmp_path / "requests.jsonl"
    comments = (
        b"# %s\n"
        * (4 * LONGEST // 67)
        % tuple(
            hashlib.sha256(b"%d" % number).hexdigest().encode()
            for number in range(4 * LONGEST // 67)
        )
    )
    long = RULES + comments
    cut = b"Disallow: /"
    filled = RULES + b"#" * (LONGEST - len(RULES) - len(cut) - 1) + b"\n" + cut + b"other\n"
    sites = {
        "long.example": site(200, long),
        "unannounced.example": site(200, long, comments, announced=False),
        "packed.example": site(200, gzip.compress(long), encoding="gzip"),
        "cut.example": site(200, filled),
    }
    with serve(DemoWeb(), log=log, handlers=sites) as server:
        run = harvest(
            *(f"http://{host}/" for host in sites),
            *("--fast", "-s", f"DOWNLOAD_MAXSIZE={2 * LONGEST}"),
            *("-s", "SEMCRAWL_MAX_SIZE_IN_MEMORY=100000"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    paths = ("/robots.txt", "/", "/public")
    assert asked(log) == {host + path: 1 for host in sites for path in paths}
    records = [one for one in run.records if one["url"].endswith("/robots.txt")]
    assert [one["outcome"] for one in records] == ["fetched-robots"] * len(sites)
    assert max(one["bytes"] for one in records) < 2 * LONGEST


@pytest.mark.slow
def test_a_host_that_refuses_to_tell_its_rules_is_not_asked_for_more(tmp_path: Path) -> None:
    """Status 429 is no word on whether there is a robots.txt."""
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log, handlers={"busy.example": site(429)}) as server:
        run = harvest(
            *("http://busy.example/", "--fast", "-s", "RETRY_TIMES=1"),
            "bound:middlewares.robots:RobotsRules.retry=0.2",
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert asked(log).keys() == {"busy.example/robots.txt"}
    assert run.outcomes()["http://busy.example/"] == ["robots-denied", "robots-denied"]


@pytest.mark.slow
@pytest.mark.parametrize(("asked_for", "least"), [("3", 3.0), ("100", 4.0)])
def test_rules_are_asked_for_again_when_their_server_says_so(
    tmp_path: Path, asked_for: str, least: float
) -> None:
    """Not before, but no later than Retry-After headers are granted."""
    log = tmp_path / "requests.jsonl"
    busy = site(503, retry_after=asked_for)
    with serve(DemoWeb(), log=log, handlers={"busy.example": busy}) as server:
        run = harvest(
            *("http://busy.example/", "--fast", "-s", "RETRY_TIMES=1"),
            *("bound:middlewares.robots:RobotsRules.retry=0.2", "-s", "SEMCRAWL_MAX_RETRY_AFTER=4"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert run.outcomes()["http://busy.example/"] == ["robots-denied", "robots-denied"]
    first, second = (line["t"] for line in logged(log))
    assert least <= second - first < 60


@pytest.mark.slow
def test_large_rules_are_obeyed_when_they_are_not_at_hand_any_more(tmp_path: Path) -> None:
    """Each robots.txt is asked for once, though memory holds the rules of one host only."""
    log = tmp_path / "requests.jsonl"
    lines = b"".join(b"Disallow: /*/%d$\n" % number for number in range(2000))
    hosts = [f"h{number}.example" for number in range(3)]
    sites = {host: site(200, RULES + lines) for host in hosts}
    with serve(DemoWeb(), log=log, handlers=sites) as server:
        run = harvest(
            *(f"http://{host}/" for host in hosts),
            *("--fast", "bound:crawl.options:SessionOptions.robots_memory=1000000"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    assert asked(log) == {
        host + path: 1 for host in hosts for path in ("/robots.txt", "/", "/public")
    }
    assert [run.outcomes()[f"http://{host}/private"] for host in hosts] == [["robots-denied"]] * 3
