"""The demonstration server speaks HTTP as a proxy and by Host header, and logs each request."""

from __future__ import annotations

import gzip
import http.client
import json
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from semcrawl.lab.demo import DemoServer, DemoWeb, Request, Stream, serve
from tests.faults import FAULTS, FAULTY, GOOD_DOCUMENTS, TURTLE


@pytest.fixture(scope="module")
def web() -> DemoWeb:
    return DemoWeb()


@pytest.fixture
def server(web: DemoWeb) -> Iterator[DemoServer]:
    with serve(web, handlers=FAULTY) as running:
        yield running


def connect(server: DemoServer) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)


def get(server: DemoServer, url: str) -> http.client.HTTPResponse:
    connection = connect(server)
    connection.request("GET", url)
    return connection.getresponse()


def test_it_answers_as_a_proxy_and_by_host_header(server: DemoServer, web: DemoWeb) -> None:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": server.proxy_url}))
    by_proxy = opener.open(web.start, timeout=10).read()
    connection = connect(server)
    connection.request("GET", "/", headers={"Host": "www.demo.example:80"})
    assert (
        connection.getresponse().read() == by_proxy == web.answer("www.demo.example", "/", {}).body
    )


def test_a_connection_carries_many_requests(server: DemoServer) -> None:
    connection = connect(server)
    for path in ("/", "/about/", "/nowhere"):
        connection.request("GET", f"http://www.demo.example{path}")
        connection.getresponse().read()
    sock = connection.sock
    assert sock is not None, "kept alive"


def test_head_has_the_length_but_not_the_body(server: DemoServer, web: DemoWeb) -> None:
    connection = connect(server)
    connection.request("HEAD", web.start)
    answer = connection.getresponse()
    assert int(answer.headers["Content-Length"]) > 0
    assert answer.read() == b""


def test_tls_through_the_proxy_is_refused(server: DemoServer) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(b"CONNECT www.demo.example:443 HTTP/1.1\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 502 ")


def test_nonsense_ends_the_connection_and_not_the_server(server: DemoServer, web: DemoWeb) -> None:
    for nonsense in (b"\x00\x01\r\n\r\n", b"GET\r\n\r\n", b"GET http://[x HTTP/1.1\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.sendall(nonsense)
            assert connection.recv(100) == b""
    assert get(server, web.start).status == 200


def test_every_request_is_logged_once(web: DemoWeb, tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with serve(web, log=log) as server:
        for url in (web.start, "http://www.demo.example/old", "http://www.demo.example/nowhere"):
            get(server, url).read()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["path"], line["status"], line["kind"]) for line in lines] == [
        ("/", 200, "html"),
        ("/old", 301, "redirect"),
        ("/nowhere", 404, "missing"),
    ]
    assert " ".join(lines[0]) == "t m host path status kind file bytes ua accept cut"
    assert lines[0]["bytes"] == len(web.answer("www.demo.example", "/", {}).body)


def test_a_host_can_be_given_a_handler_of_its_own(web: DemoWeb) -> None:
    async def teapot(request: Request, out: Stream) -> None:
        await out.whole(418, [], request.path.encode())

    with serve(web, handlers={"tea.example": teapot}) as server:
        answer = get(server, "http://tea.example/pot?x=1")
        assert (answer.status, answer.read()) == (418, b"/pot?x=1")


def test_faults_are_not_linked_from_the_demonstration(web: DemoWeb) -> None:
    assert not [r.url for r in web if any(b"faults.example" in v.body for _, v in r.variants)]


ENDING = sorted(set(FAULTS) - {"slow-drip", "hang", "hang-in-body"})


@pytest.mark.parametrize("name", [n for n in ENDING if "huge" not in n and "bomb" not in n])
def test_each_fault_ends_and_leaves_the_server_well(
    name: str, server: DemoServer, web: DemoWeb
) -> None:
    with suppress(http.client.HTTPException, ConnectionError):
        get(server, f"http://faults.example/{name}").read()
    assert get(server, web.start).status == 200


def test_sound_documents_stand_beside_the_faults(server: DemoServer) -> None:
    page = get(server, "http://faults.example/").read().decode()
    for number in range(GOOD_DOCUMENTS):
        assert f"/good/{number}.ttl" in page
        assert get(server, f"http://faults.example/good/{number}.ttl").status == 200


def test_a_hanging_answer_does_not_keep_the_server_from_stopping(web: DemoWeb) -> None:
    with serve(web, handlers=FAULTY) as server:
        connection = connect(server)
        connection.request("GET", "http://faults.example/hang")
        drip = get(server, "http://faults.example/slow-drip")
        assert drip.read(1) == TURTLE[:1]
    assert connection.sock is not None


def test_the_bomb_unpacks_to_what_it_says() -> None:
    from tests.faults.content import gzip_of_spaces

    assert gzip.decompress(gzip_of_spaces(3 << 20)) == b" " * (3 << 20)


def start_demo(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "semcrawl", "demo", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.slow
def test_the_command_serves_tells_its_address_and_stops_on_ctrl_c(tmp_path: Path) -> None:
    process = start_demo("--log", str(tmp_path / "log.jsonl"))
    assert process.stdout is not None
    told = "".join(process.stdout.readline() for _ in range(4))
    proxy = told.split()[9]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": proxy}))
    assert opener.open(DemoWeb.start, timeout=10).status == 200
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert f"http_proxy={proxy} semcrawl harvest http://www.demo.example/" in told
    assert (process.returncode, errors) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments", [("--port", "99999"), ("--log", "/nowhere/log"), ("--out", "x")]
)
def test_wrong_options_get_one_clear_line(arguments: tuple[str, ...]) -> None:
    process = start_demo(*arguments)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Traceback" not in errors
    assert len(errors.strip().splitlines()) == 1


def start_harvest(place: Path) -> subprocess.Popen[str]:
    return start_demo("--harvest", "--out", str(place / "out"), "--log", str(place / "log"))


@pytest.mark.slow
def test_the_command_harvests_the_demonstration_politely_and_ends(tmp_path: Path) -> None:
    process = start_demo(
        "--harvest", "--out", str(tmp_path / "out"), "--log", str(tmp_path / "log")
    )
    output, _ = process.communicate(timeout=180)
    assert process.returncode == 0
    assert "Found in" in output
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["rdf_documents"] == len(DemoWeb().manifest().documents)


@pytest.mark.slow
def test_ctrl_c_stops_the_harvest_and_then_the_server(tmp_path: Path) -> None:
    process = start_demo(
        "--harvest", "--out", str(tmp_path / "out"), "--log", str(tmp_path / "log")
    )
    while not (tmp_path / "log").exists() or not (tmp_path / "log").read_bytes():
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert (tmp_path / "out" / "summary.json").exists()
