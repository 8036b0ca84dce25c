"""A harvest that is repeated every night: what changed is told, and nothing piles up."""

from __future__ import annotations

import sqlite3
import sys
from pathlib import Path

import forks
import pytest

from .test_revisit import harvest, said, site, write  # noqa: F401 - site is a fixture

pytest.importorskip("warcio")

from warcio.archiveiterator import ArchiveIterator

NIGHTLY = ("--revisit", "--history", "--record")


def semcrawl(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "semcrawl", *map(str, arguments)]
    return forks.run(command, timeout=60, check=True).stdout


def rows(patch: str) -> list[str]:
    return [
        f"{line[0]} {line.split(chr(34))[1]}"
        for line in patch.splitlines()
        if line[1] == " " and line[0] in "AD"
    ]


@pytest.mark.slow
def test_three_nights_of_a_site_that_changes(site: tuple[Path, str], tmp_path: Path) -> None:  # noqa: F811
    folder, start = site
    out = tmp_path / "out"
    days = ("-s", "SEMCRAWL_KEEP_ATTEMPTS=90", "-s", "SEMCRAWL_REVISIT_INTERVAL=0.001")
    nights = [
        ({"a": "1", "b": "1", "c": "1"}, ["A 1", "A 1", "A 1"]),
        ({"a": "1", "b": "2", "d": "1"}, ["D 1", "A 2", "D 1", "A 1"]),
        ({"a": "1", "b": "3", "c": "2", "d": "1"}, ["D 2", "A 3", "A 2"]),
        ({"a": "1", "b": "3", "c": "2", "d": "1"}, []),
    ]
    for number, (documents, changes) in enumerate(nights):
        write(folder, documents)
        first = (start, "--out", str(out)) if not number else (str(out),)
        harvest(*first, *(NIGHTLY if number else NIGHTLY[1:]), *days)
        assert said(out) == set(documents.values())
        assert sorted(rows(semcrawl("diff", out))) == sorted(changes)
        if number == 1:  # as if the first nights had been long ago
            with sqlite3.connect(out / "crawl.db") as database:
                database.execute("UPDATE fetch SET started_at = started_at - 100 * 86400")
    with sqlite3.connect(out / "crawl.db") as database:
        attempts = dict(
            database.execute("SELECT url || outcome, count(*) FROM fetch GROUP BY url, outcome")
        )
    assert max(attempts.values()) <= 3
    kinds = []
    for path in sorted(out.glob("*.warc.gz")):
        with path.open("rb") as file:
            kinds += [
                (one.rec_headers.get_header("WARC-Target-URI"), one.rec_type)
                for one in ArchiveIterator(file, check_digests="raise")
                if one.rec_type in ("response", "revisit")
            ]
    assert kinds.count((f"{start}a.ttl", "response")) == 1
    assert kinds.count((f"{start}a.ttl", "revisit")) == 3
    again = tmp_path / "again"
    semcrawl("reread", out, "--out", again)
    assert said(again) == said(out)
    assert semcrawl("check", out).startswith(f"{out} is sound")
