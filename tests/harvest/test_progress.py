"""The display of a running harvest."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from harvest.runs import environment, harvest
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.metadata.summary import Tally

WEB = DemoWeb()
FACTS = (
    "requests", "errors", "RDF found", "embedded", "harvest rate", "waiting", "hosts", "elapsed",
    "time left", "now",
)  # fmt: skip


def test_the_tally_counts_errors_and_what_is_embedded() -> None:
    tally = Tally()
    for url, outcome, quads in (
        ("http://a.example:8080/1", FetchOutcome.FETCHED_RDF, 5),
        ("http://a.example:8080/2", FetchOutcome.FETCHED_HTML, 7),
        ("http://a.example:8080/3", FetchOutcome.HTTP_ERROR, 0),
        ("http://a.example:8080/4", FetchOutcome.ROBOTS_DENIED, 0),
        ("http://a.example:8080/robots.txt", FetchOutcome.TIMEOUT, 0),
    ):
        tally.add(FetchRecord(url, outcome, quads=quads))
    assert (tally.quads, tally.embedded_quads, tally.errors) == (5, 7, 1)
    assert tally.current_hosts == ["a.example:8080"]


@pytest.mark.slow
def test_without_a_terminal_it_is_a_line_now_and_then(tmp_path: Path) -> None:
    with serve(WEB) as server:
        run = harvest(
            WEB.start, "--fast", "bound:crawl.progress:INTERVAL=0.2",
            folder=tmp_path / "out", proxy=server.proxy_url,
        )  # fmt: skip
    lines = [line for line in run.err.splitlines() if line.startswith("requests ")]
    assert lines
    for line in lines:
        facts = line.split(" | ")
        assert len(facts) == len(FACTS)
        assert all(fact.startswith(name) for fact, name in zip(facts, FACTS, strict=True))
    assert re.search(r"now http://\S+\.example/", run.err)
    assert "\x1b" not in run.out + run.err


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 120])
def test_on_a_terminal_it_is_one_display_of_fixed_height(columns: int, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with serve(WEB) as server:
        process = subprocess.Popen(
            [sys.executable, "-m", "semcrawl", "harvest", WEB.start, "--fast", "--out", "out"],
            stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path,
            env=environment(server.proxy_url, TERM="xterm-256color", COLUMNS="", LINES=""),
        )  # fmt: skip
        os.close(theirs)
        shown = b""
        try:
            while data := os.read(ours, 65536):
                shown += data
        except OSError:  # the terminal is closed at its other end
            pass
        assert process.wait() == 0
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    lines = text.replace("\r", "\n").splitlines()
    for name in FACTS:
        assert any(line.startswith(name) for line in lines), name
    assert [line for line in lines if line.startswith(FACTS) and len(line) > columns] == []
    assert "Links not harvested:" in text
