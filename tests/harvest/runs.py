"""Runs ``semcrawl`` as users do, as a process of its own, and reads what it left behind."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from forks import Fork

TIMEOUT = 120  # seconds until a run counts as hanging

#: variables of the environment that the program reads while it is loaded
_AT_LOADING = ("REDIS_", "SEMCRAWL_", "SCRAPY_")
_BOUND = "bound:"
_BOUNDS = Path(__file__).parents[1] / "bounds"

#: outcomes of links that nothing was sent for
UNSENT = {"robots-denied", "address-refused", "host-down", "ignored"}


@dataclass
class Run:
    """A run that is over (or was killed): exit status, output, and the folder of its results."""

    status: int
    out: str
    err: str
    folder: Path
    peak_bytes: int = 0

    @property
    def summary(self) -> dict[str, Any]:
        return json.loads((self.folder / "summary.json").read_text())

    @property
    def records(self) -> list[dict[str, Any]]:
        with sqlite3.connect(self.folder / "crawl.db") as database:
            database.row_factory = sqlite3.Row
            return [dict(row) for row in database.execute("SELECT * FROM fetch")]

    @property
    def quads(self) -> list[str]:
        """The lines of quads.nq; fails when one is torn."""
        text = (self.folder / "quads.nq").read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        assert all(line.endswith(" .\n") for line in lines), "a torn line"
        return lines

    def outcomes(self) -> dict[str, list[str]]:
        """Outcomes by URL, in the order of the records."""
        result: dict[str, list[str]] = {}
        for record in self.records:
            result.setdefault(record["url"], []).append(record["outcome"])
        return result

    def documents(self) -> Counter[str]:
        """Final URLs of the documents that were read, with their numbers of quads."""
        return Counter(
            {
                record["final_url"] or record["url"]: record["quads"]
                for record in self.records
                if record["outcome"] == "fetched-rdf"
            }
        )

    def sent(self) -> Counter[str]:
        """The addresses requested, by the records."""
        return Counter(
            address(record["url"])
            for record in self.records
            if record["outcome"] not in UNSENT and not record["errors"].startswith("robots.txt: ")
        )

    def says_in_one_line(self, *words: str) -> None:
        """Assert that it failed as usage errors do: status 2, and one line that holds ``words``."""
        lines = self.err.strip().splitlines()
        assert self.status == 2, self.err
        assert len(lines) == 1, self.err
        assert lines[0].startswith("semcrawl: "), self.err
        for word in words:
            assert word in lines[0]

    def is_calm(self) -> None:
        """Assert that no traceback was shown."""
        assert "Traceback" not in self.err + self.out, self.err


def address(url: str) -> str:
    """The URL without its scheme, as both records and logs can tell it."""
    parts = urlsplit(url)
    return parts.netloc + (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def logged(log: Path) -> list[dict[str, Any]]:
    """The server's log."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def asked(log: Path) -> Counter[str]:
    """The addresses requested, by the server's log."""
    return Counter(line["host"] + line["path"] for line in logged(log))


def pages(log: Path) -> int:
    """How many requests the server's log holds, those for robots.txt left out."""
    return sum(count for url, count in asked(log).items() if not url.endswith("/robots.txt"))


@dataclass
class Started:
    """A run under way."""

    process: subprocess.Popen[str] | Fork
    folder: Path
    signals: list[int] = field(default_factory=list)

    def interrupt(self) -> None:
        """Do as Ctrl-C in a terminal does."""
        self.process.send_signal(signal.SIGINT)

    def kill(self) -> None:
        self.process.kill()

    def wait(self) -> Run:
        try:
            out, err = self.process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"hangs:\n{out}\n{err}") from None
        return Run(self.process.returncode, out, err, self.folder)


def environment(proxy: str | None = None, **more: str) -> dict[str, str]:
    """This process's environment with one proxy only, and no Redis server but a given one."""
    away = {"http_proxy", "https_proxy", "all_proxy", "no_proxy", "redis_url"}
    result = {name: value for name, value in os.environ.items() if name.lower() not in away}
    if proxy:
        result["http_proxy"] = proxy
    return {**result, **more}


def start(*arguments: str, folder: Path, proxy: str | None = None, **variables: str) -> Started:
    """Start ``semcrawl ARGUMENTS`` in a folder above ``folder``.

    An argument ``bound:…`` gives an option another bound (see ``bounds/sitecustomize.py``). It is a
    fork of a process that has loaded the program, unless a variable counts while it is loaded.
    """
    bounds = [each.removeprefix(_BOUND) for each in arguments if each.startswith(_BOUND)]
    if bounds:
        variables |= {"PYTHONPATH": str(_BOUNDS), "SEMCRAWL_TEST_BOUNDS": " ".join(bounds)}
    given = [each for each in arguments if not each.startswith(_BOUND)]
    cwd = next(place for place in folder.parents if place.is_dir())
    env = environment(proxy, **variables)
    early = [name for name in variables if name.startswith("PYTHON")]
    early += [name for name in env if name.startswith(_AT_LOADING)]
    if not early:
        return Started(Fork(given, cwd, env), folder)
    process = subprocess.Popen(
        [sys.executable, "-m", "semcrawl", *given],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=env,
    )
    return Started(process, folder)


#: switches off requests for what a host may have though nothing names it: tests that compare what
#: was asked for are about something else
NO_GUESSES = ("-s", "SEMCRAWL_SITEMAPS=never", "-s", "SEMCRAWL_WELL_KNOWN=")


#: switches them on again, behind the other
GUESSES = ("-s", "SEMCRAWL_SITEMAPS=auto", "-s", "SEMCRAWL_WELL_KNOWN=void")


def start_harvest(
    *arguments: str,
    folder: Path,
    proxy: str | None = None,
    guesses: bool = False,
    **variables: str,
) -> Started:
    more = () if guesses else NO_GUESSES
    return start(
        *("harvest", *more, *arguments, "--out", str(folder)),
        folder=folder, proxy=proxy, **variables,
    )  # fmt: skip


def semcrawl(*arguments: str, folder: Path) -> Run:
    """Run ``semcrawl ARGUMENTS`` to its end."""
    return start(*arguments, folder=folder).wait()


def harvest(
    *arguments: str,
    folder: Path,
    proxy: str | None = None,
    guesses: bool = False,
    **variables: str,
) -> Run:
    """Run ``semcrawl harvest ARGUMENTS --out FOLDER`` to its end."""
    return start_harvest(
        *arguments, folder=folder, proxy=proxy, guesses=guesses, **variables
    ).wait()


def duplicates(lines: Iterable[str]) -> list[str]:
    """The lines that occur more than once."""
    return [line for line, count in Counter(lines).items() if count > 1]
