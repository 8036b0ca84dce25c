"""``semcrawl images`` as a user calls it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from semcrawl.commands.images import Command
from semcrawl.images.outcomes import TextKind
from tests.imagesearch.made import Made, make_job
from tests.inprocess import exit_status


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = ["red circle", "red \x1b[31msquare", "blue star"]
    job = tmp_path_factory.mktemp("command") / "job"
    return make_job(job, [Made([(TextKind.CAPTION, text)]) for text in texts])


def test_a_table_has_what_was_found_and_where(folder: Path, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert exit_status(Command(), "search", "red", "circel", folder) == 0
    out, err = capsys.readouterr()
    rows = [line for line in out.splitlines() if "pictures.example" in line]
    assert "http://pictures.example/1.png" in rows[0]
    assert "http://pictures.example/page1.html" in rows[0]
    assert "\x1b[31m" not in out
    assert "images for: red circle" in err


def test_json_has_the_whole_answer(folder: Path, capsys) -> None:
    assert exit_status(Command(), "search", "red", folder, "--json", "--top", 1) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["total"], len(found["images"])) == (2, 1)


def test_pictures_are_drawn_where_that_is_wanted(folder: Path, capsys) -> None:
    assert exit_status(Command(), "search", "circle", folder, "--pictures", "always") == 0
    out = capsys.readouterr().out
    assert out.count("▀") > 50
    assert "http://pictures.example/1.png" in out


def test_nothing_found_is_said(folder: Path, capsys) -> None:
    assert exit_status(Command(), "search", "xylophone", folder) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert "no image" in err


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], "give an action"), (["find", "x", "."], "give an action"),
        (["search", "x"], "job folder"), (["serve"], "job folder"), (["serve", "a", "b"], "folder"),
        (["search", " ", "{folder}"], "give a word"),
        (["search", "x" * 301, "{folder}"], "at most 300"),
        (["search", "x", "{folder}/missing"], "missing"),
        (["search", "x", "{folder}/thumbnails"], "--targets images"),
        (["serve", "{folder}", "--port", "99999"], "--port"),
        (["search", "x", "{folder}", "--top", "0"], "--top"),
    ],
)  # fmt: skip
def test_wrong_input_is_told_in_one_line(
    arguments: list[str], word: str, folder: Path, capsys
) -> None:
    status = exit_status(Command(), *(one.format(folder=folder) for one in arguments))
    out, err = capsys.readouterr()
    assert status == 2, err
    assert out == ""
    assert err.count("\n") == 1
    assert word in err


def test_a_port_that_is_taken(folder: Path, capsys) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert exit_status(Command(), "serve", folder, "--port", port) == 2
    err = capsys.readouterr().err
    assert err == f"semcrawl: cannot serve on port {port}: Address already in use\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "arguments"),
    [("PIL", ["search", "red"]), ("jinja2", ["serve"]),
     ("textual_image", ["search", "red", "--pictures", "always"])],
)  # fmt: skip
def test_a_missing_package_is_told_in_one_line(
    package: str, arguments: list[str], folder: Path, tmp_path: Path
) -> None:
    """In a process of its own, where the package cannot be imported."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys; sys.modules[{package!r}] = None")
    done = subprocess.run(
        [sys.executable, "-m", "semcrawl", "images", *arguments, str(folder)],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"semcrawl: {package}")
    assert "is not installed: pip install" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is sent otherwise")
def test_it_serves_until_it_is_interrupted(folder: Path) -> None:
    command = [sys.executable, "-m", "semcrawl", "images", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())
        assert address is not None
        with urllib.request.urlopen(address[0] + "?q=red") as answer:
            assert b"/thumbnail/1" in answer.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
