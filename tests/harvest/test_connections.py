"""A refused body and its connection affect no other request."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from harvest.runs import asked, harvest
from semcrawl.lab.demo import DemoWeb, Request, Stream, serve

TABLES = 200
#: headers and body, to be written at once
TABLE = b"HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nContent-Length: 8\r\n\r\na,b\n1,2\n"


async def tables(request: Request, out: Stream) -> None:
    """A page with links to many small tables, each of which comes in one packet."""
    if request.path == "/":
        links = "".join(f'<a href="/{n}.csv">table {n}</a> ' for n in range(TABLES))
        await out.whole(200, [("Content-Type", "text/html")], links.encode())
    elif request.path == "/robots.txt":
        await out.whole(404, [], b"")
    else:
        out.status = 200
        await out.body(TABLE)


ROWS = b"2\r\na,\r\n0\r\n\r\n"


async def unmeasured(request: Request, out: Stream) -> None:
    """A page with links to tables whose length no header tells."""
    if request.path == "/":
        links = '<a href="/chunked.csv">table</a> <a href="/closed.csv">table</a>'
        await out.whole(200, [("Content-Type", "text/html")], links.encode())
    elif request.path == "/chunked.csv":
        await out.head(200, [("Content-Type", "text/csv"), ("Transfer-Encoding", "chunked")])
        await out.body(ROWS)
    elif request.path == "/closed.csv":
        await out.head(200, [("Content-Type", "text/csv"), ("Connection", "close")])
        await out.body(b"a,")
        out.closing = True
    else:
        await out.whole(404, [], b"")


@pytest.mark.slow
def test_bodies_of_unknown_length_are_refused_like_others(tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers={"tables.example": unmeasured}) as server:
        run = harvest(
            "http://tables.example/", "--fast", folder=tmp_path / "out", proxy=server.proxy_url
        )
    outcomes = run.outcomes()
    assert outcomes["http://tables.example/chunked.csv"] == ["filtered-type"]
    assert outcomes["http://tables.example/closed.csv"] == ["filtered-type"]


class Answering:
    """Answers one request of each connection, unless it is told that they are kept."""

    def __init__(self, first_line: str, connection: str, *, kept: bool = False) -> None:
        self.head = f"{first_line}\r\nContent-Type: text/html\r\n{connection}"
        self.kept = kept
        self.answered: list[object] = []

    async def __call__(self, request: Request, out: Stream) -> None:
        if out._writer in self.answered and not self.kept:
            out.closing = True  # (what a server does whose closing crosses a request)
            return
        self.answered.append(out._writer)
        body = "".join(f'<a href="/{n}.html">page {n}</a> ' for n in range(9))
        await out.body(f"{self.head}Content-Length: {len(body)}\r\n\r\n{body}".encode())


@pytest.mark.parametrize(
    ("first_line", "connection"),
    [("HTTP/1.0 200 OK", ""), ("HTTP/1.1 200 OK", "Connection: Close\r\n")],
)
@pytest.mark.slow
def test_no_request_goes_down_with_a_connection_that_the_server_closes(
    first_line: str, connection: str, tmp_path: Path
) -> None:
    handler = Answering(first_line, connection)
    with serve(DemoWeb(), handlers={"old.example": handler}) as server:
        run = harvest(
            "http://old.example/", "--fast", folder=tmp_path / "out", proxy=server.proxy_url
        )
    outcomes = Counter(record["outcome"] for record in run.records)
    assert outcomes == {"fetched-html": 10, "fetched-robots": 1}


@pytest.mark.slow
def test_a_connection_that_an_old_server_keeps_is_used_again(tmp_path: Path) -> None:
    handler = Answering("HTTP/1.0 200 OK", "Connection: Keep-Alive\r\n", kept=True)
    with serve(DemoWeb(), handlers={"old.example": handler}) as server:
        harvest("http://old.example/", "--fast", folder=tmp_path / "out", proxy=server.proxy_url)
    assert len(handler.answered) == 11
    assert len(set(handler.answered)) < 11


PAGE = b'<a href="/next.html">next</a>'
CHUNKED = b"Transfer-Encoding: chunked"
#: by name: what stands between the first line and the body, and the body
ODD: dict[str, tuple[list[bytes], bytes]] = {
    "longer-than-announced": ([b"Content-Length: %d" % len(PAGE)], PAGE + b"\n<!-- more -->\n"),
    "lengths": ([b"Content-Length: %d" % len(PAGE)] * 2, PAGE),
    "length-and-chunks": (
        [b"Content-Length: 7", CHUNKED],
        b"%x\r\n%b\r\n0\r\n\r\n" % (len(PAGE), PAGE),
    ),
    "no-header": ([b"no header at all", b"Content-Length: %d" % len(PAGE)], PAGE),
    "no-chunk": ([CHUNKED], b"zz\r\n" + PAGE),
    "contradiction": ([b"Content-Length: 3", b"Content-Length: 4"], PAGE),
    "no-length": ([b"Content-Length: many"], PAGE),
}


async def oddly(request: Request, out: Stream) -> None:
    """A page with links to answers that are not written as they should be; none is closed."""
    name = request.path[1:]
    if name == "":
        links = "".join(f'<a href="/{name}">{name}</a> ' for name in ODD)
        await out.whole(200, [("Content-Type", "text/html")], links.encode())
    elif name in ODD:
        lines, body = ODD[name]
        first = [b"HTTP/1.1 200 OK", b"Content-Type: text/html"]
        await out.body(b"\r\n".join([*first, *lines, b"", body]))
    else:
        await out.whole(404, [], b"")


@pytest.mark.slow
def test_odd_answers_are_read_as_browsers_do_or_end_at_once(tmp_path: Path) -> None:
    """Their connections stay open: none is waited for until its time is up."""
    with serve(DemoWeb(), handlers={"odd.example": oddly}) as server:
        run = harvest(
            *("http://odd.example/", "--fast", "-s", "RETRY_TIMES=0"),
            *("-s", "SEMCRAWL_HOST_FAILURES=0", "-s", "DOWNLOAD_TIMEOUT=20"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    outcomes = run.outcomes()
    found = {name: outcomes[f"http://odd.example/{name}"] for name in ODD}
    refused = ("no-chunk", "contradiction", "no-length")
    assert found == {name: ["network-error" if name in refused else "fetched-html"] for name in ODD}
    reasons = [r["errors"] for r in run.records if r["outcome"] == "network-error"]
    assert sorted(reason.partition(":")[0] for reason in reasons) == [
        "DownloadFailedError",
        "DownloadFailedError",
        "ResponseDataLossError",
    ]


RESETS = 40


async def breaking_off(request: Request, out: Stream) -> None:
    """A page with links to documents that end in a reset of their connection."""
    if request.path == "/":
        links = "".join(f'<a href="/cut-{n}.nt">data</a> ' for n in range(RESETS))
        await out.whole(200, [("Content-Type", "text/html")], links.encode())
    elif request.path == "/robots.txt":
        await out.whole(404, [], b"")
    else:
        body = b"<http://a.example/b> <http://a.example/p> <http://a.example/c> .\n" * 2000
        headers = [("Content-Type", "application/n-triples"), ("Content-Length", str(len(body)))]
        await out.head(200, headers)
        await out.body(body[: len(body) // 2])
        out.reset()


@pytest.mark.slow
def test_a_connection_that_is_reset_is_over_at_once(tmp_path: Path) -> None:
    """And none is waited for until its time is up."""
    with serve(DemoWeb(), handlers={"cut.example": breaking_off}) as server:
        run = harvest(
            *("http://cut.example/", "--fast", "-s", "RETRY_TIMES=0"),
            *("-s", "SEMCRAWL_HOST_FAILURES=0", "-s", "DOWNLOAD_TIMEOUT=20"),
            folder=tmp_path / "out",
            proxy=server.proxy_url,
        )
    outcomes = Counter(record["outcome"] for record in run.records)
    assert outcomes == {"fetched-html": 1, "network-error": RESETS, "fetched-robots": 1}


@pytest.mark.slow
def test_refused_bodies_cost_no_other_request(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(DemoWeb(), log=log, handlers={"tables.example": tables}) as server:
        run = harvest(
            "http://tables.example/", "--fast", folder=tmp_path / "out", proxy=server.proxy_url
        )
    outcomes = Counter(record["outcome"] for record in run.records)
    assert outcomes == {"fetched-html": 1, "filtered-type": TABLES, "fetched-robots": 1}
    assert run.sent() == asked(log)
