"""Commands whose streams are closed, full or left, and Ctrl-C: no traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def test_ctrl_c_while_libraries_are_loaded_is_quiet() -> None:
    program = """
import signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # which may be ignored here

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "scrapy":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from semcrawl.__main__ import main
main(["semcrawl", "version"])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.slow
def test_a_reader_of_the_output_may_leave() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "semcrawl", "version", "-v"]
    for buffered in ("", "1"):
        variables = os.environ | {"PYTHONUNBUFFERED": buffered}
        done = subprocess.run(
            command, stdout=write, stderr=subprocess.PIPE, text=True, env=variables
        )
        assert done.stderr == ""
    os.close(write)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a shell of POSIX")
@pytest.mark.parametrize(
    ("closed", "said"), [(">&-", True), ("2>&-", False), ("<&- >&- 2>&-", False)]
)
def test_a_closed_stream_is_as_good_as_none(closed: str, said: bool, tmp_path: Path) -> None:
    """No file of the crawl stands in for it, which would get what is said there."""
    out = tmp_path / "out"
    command = f'"{sys.executable}" -m semcrawl harvest http://x.example/ --out "{out}" '
    options = "-s SEMCRAWL_UNTRIED_HOST_PATIENCE=0 -s DNS_TIMEOUT=1"
    done = subprocess.run(
        ["sh", "-c", f"{command}{options} {closed}"], stderr=subprocess.PIPE, text=True
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert ("nothing could be fetched" in done.stderr) == said
    assert (out / "crawl.db").read_bytes().startswith(b"SQLite format 3\0")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("buffered", ["", "1"])
def test_an_output_without_room_is_told_in_one_line(buffered: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "semcrawl", "version", "-v"],
            stdout=full, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONUNBUFFERED": buffered},
        )  # fmt: skip
    assert done.stderr == "semcrawl: cannot write to standard output: No space left on device\n"
    assert done.returncode == 1
