"""A harvest tells its end to a command and to an address."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from harvest.runs import harvest
from semcrawl.commands._ending import tell_of_end
from semcrawl.config.logins import Logins
from semcrawl.lab.demo import DemoWeb, serve


class Hook(BaseHTTPRequestHandler):
    """Notes what it is sent; its path is the status of its answer."""

    told: list[tuple[str, bytes]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.told.append((self.path, body))
        self.send_response(int(self.path.strip("/")))
        self.send_header("Location", "/200")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hook():
    Hook.told.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_both_get_the_same(hook: str, tmp_path: Path) -> None:
    command = f"cat > '{tmp_path}/told'"
    assert tell_of_end({"status": 0, "folder": "ö"}, command, f"{hook}/204", Logins())
    assert json.loads((tmp_path / "told").read_text()) == {"status": 0, "folder": "ö"}
    assert Hook.told == [("/204", (tmp_path / "told").read_bytes())]


@pytest.mark.parametrize(
    ("command", "path", "words"),
    [
        ("exit 3", "", "ended with status 3"),
        ("", "/500", "the webhook at 127.0.0.1 answered with status 500"),
        ("", "/302", "answered with status 302"),
    ],
)
def test_what_fails_is_told(
    command: str, path: str, words: str, hook: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not tell_of_end({}, command, path and hook + path, Logins())
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not path or len(Hook.told) == 1  # the redirect is not followed
    assert not path or path not in error


def test_a_hook_that_is_away_is_told_without_its_address(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert not tell_of_end({}, "", "http://127.0.0.1:9/secret-path", Logins())
    error = capsys.readouterr().err
    assert "127.0.0.1 cannot be told: ConnectionError" in error
    assert "secret-path" not in error


@pytest.mark.slow
def test_ends_of_harvests(hook: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hooks = ("--on-end", f"cat > '{tmp_path}/told'", "--webhook", f"{hook}/200")
    with serve(DemoWeb()) as server:
        run = harvest(
            DemoWeb.start, "--pages", "5", "--fast", *hooks, folder=out, proxy=server.proxy_url
        )
    assert run.status == 0, run.err
    told = json.loads((tmp_path / "told").read_text())
    assert told == {"folder": str(out), "status": 0, "summary": run.summary}
    assert json.loads(Hook.told[0][1]) == told
    assert hook not in (out / "job.toml").read_text() + (out / "crawl.log").read_text()
    run = harvest("http://127.0.0.1:9/", "--fast", *hooks, folder=tmp_path / "away")
    assert run.status == 1
    assert json.loads((tmp_path / "told").read_text())["status"] == 1
    wrong = harvest("http://x.example/", "--webhook", "ftp://x/secret", folder=tmp_path / "w")
    wrong.says_in_one_line("--webhook must be an http or https address")
    assert "secret" not in wrong.err
