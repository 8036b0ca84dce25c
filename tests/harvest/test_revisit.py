"""A second harvest of a site that changed: pages changed, added and gone."""

from __future__ import annotations

import http.server
import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import forks
import pytest


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, with Turtle's media type, and keeps quiet."""

    extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".ttl": "text/turtle"}

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def write(site: Path, documents: dict[str, str]) -> None:
    for old in site.glob("*.ttl"):
        if old.stem not in documents:
            old.unlink()
    for name, text in documents.items():
        path = site / f"{name}.ttl"
        content = f'<#it> <#says> "{text}" .\n'
        if not path.exists() or path.read_text() != content:
            path.write_text(content)
    links = "".join(f'<p><a href="{name}.ttl">{name} in Turtle</a></p>' for name in documents)
    (site / "index.html").write_text(f"<html><body>{links}</body></html>")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    folder = tmp_path / "site"
    folder.mkdir()
    handler = partial(QuietHandler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield folder, f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def harvest(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "semcrawl", "harvest", *arguments, "--fast"]
    return forks.run(command, timeout=60, check=True)


def said(out: Path) -> set[str]:
    return {line.split('"')[1] for line in (out / "quads.nq").read_text().splitlines()}


@pytest.mark.slow
def test_a_revisit_brings_the_results_up_to_date(site: tuple[Path, str], tmp_path: Path) -> None:
    """Changed documents replace their quads, new ones come in, those that are gone go."""
    folder, start = site
    out = tmp_path / "out"
    write(folder, {"a": "first a", "b": "first b", "c": "first c"})
    harvest(start, "--out", str(out))
    assert said(out) == {"first a", "first b", "first c"}

    write(folder, {"a": "first a", "b": "second b", "d": "first d"})
    harvest(str(out), "--revisit")
    assert said(out) == {"first a", "second b", "first d"}
    with sqlite3.connect(out / "crawl.db") as database:
        last = dict(database.execute("select url, outcome from fetch order by id"))
    assert last[start + "a.ttl"] == "not-modified"
    assert last[start + "c.ttl"] == "http-error"


@pytest.mark.slow
def test_running_it_without_revisit_asks_for_nothing(
    site: tuple[Path, str], tmp_path: Path
) -> None:
    """A finished job folder stays as it is unless a re-visit is asked for."""
    folder, start = site
    out = tmp_path / "out"
    write(folder, {"a": "first a"})
    harvest(start, "--out", str(out))
    write(folder, {"a": "second a"})
    harvest(start, "--out", str(out))
    assert said(out) == {"first a"}


@pytest.mark.slow
def test_files_that_are_kept_for_their_type_are_asked_for_again(
    site: tuple[Path, str], tmp_path: Path
) -> None:
    folder, start = site
    out = tmp_path / "out"
    (folder / "index.html").write_text('<a href="a.csv">a</a> <a href="b.csv">b</a>')
    for name in ("a", "b"):
        (folder / f"{name}.csv").write_text(f"first {name}")
    harvest(start, "--out", str(out), "--targets", "text/csv")
    (folder / "b.csv").write_text("second, and last, b")
    harvest(str(out), "--revisit", "--targets", "text/csv")
    index = (out / "files" / "index.jsonl").read_text().splitlines()
    lines = [json.loads(line) for line in index]
    assert sorted((line["url"][len(start) :], line["bytes"]) for line in lines) == [
        ("a.csv", 7),
        ("b.csv", 7),
        ("b.csv", 19),
    ]
    assert len(list((out / "files").glob("*.csv"))) == 3
    with sqlite3.connect(out / "crawl.db") as database:
        last = dict(database.execute("select url, outcome from fetch order by id"))
    assert (last[start + "a.csv"], last[start + "b.csv"]) == ("not-modified", "fetched-other")
