"""The strategy `learned`'s share of a crawl's processor time.

    learned_share.py [--pages 5000] [--rounds 3] [--command harvest|crawl]

Crawls local pages of 30 links as users do (`semcrawl harvest`, or the spider `html` alone), with
every call of the strategy timed (what timing takes is left out). A row per crawl: microseconds of
the strategy per page, by call; CPU time of the crawler's process and of its Redis server; the
strategy's share of the former, and of both. Start-up counts as the crawl's.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from frontier_crawl import cpu_seconds
from local_pages import served_pages
from rich.console import Console
from rich.table import Table

from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Outcome, Ranked
from semcrawl.relevance.learned import Learned

_CALLS = ("rank", "learn", "taken", "rekeyed", "values", "room")
#: where the crawler's process writes its figures
_FIGURES = "LEARNED_SHARE_FIGURES"
_TRIES = 10_000


class Timed(Learned):
    """`learned`, with the CPU time of every call added up."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._spent: defaultdict[str, float] = defaultdict(float)
        self._learned = 0
        #: what timing adds to a call
        self._clock = 0.0
        for _ in range(_TRIES):
            with self._timed("nothing"):
                pass
        self._clock = self._spent.pop("nothing") / _TRIES
        atexit.register(self._write)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        began = time.thread_time()
        try:
            yield
        finally:
            self._spent[name] += time.thread_time() - began - self._clock

    def _write(self) -> None:
        if self._learned:
            figures = {"cpu": time.process_time(), "pages": self._learned, "calls": self._spent}
            Path(os.environ[_FIGURES]).write_text(json.dumps(figures))

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Judge links, timed."""
        with self._timed("rank"):
            return super().rank(page, links)

    def learn(self, outcome: Outcome) -> None:
        """Learn, timed."""
        self._learned += 1
        with self._timed("learn"):
            super().learn(outcome)

    def taken(self, urls: Sequence[str]) -> None:
        """Hear of takes, timed."""
        with self._timed("taken"):
            super().taken(urls)

    def rekeyed(self) -> Mapping[str, float]:
        """Tell new keys, timed."""
        with self._timed("rekeyed"):
            return super().rekeyed()

    def values(self) -> Mapping[str, float]:
        """Tell new values, timed."""
        with self._timed("values"):
            return super().values()

    def room(self, in_flight: int) -> int:
        """Say how much may be asked for, timed."""
        with self._timed("room"):
            return super().room(in_flight)


def crawl(command: str, start: str, pages: int) -> dict[str, Any]:
    """Crawl once; return the figures."""
    settings = {
        "SEMCRAWL_RELEVANCE": f"{Path(__file__).stem}.{Timed.__name__}",
        "SEMCRAWL_CONCURRENCY_PER_HOST": 32,
        "CONCURRENT_REQUESTS": 16,
        "LOG_LEVEL": "WARNING",
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with RedisServer(folder / "redis") as redis:
            settings["REDIS_URL"] = f"unix://{redis.socket}"
            settings["SEMCRAWL_CRAWL_NAME"] = "share"
            line = [sys.executable, "-m", "semcrawl"]
            if command == "harvest":
                line += ["harvest", start, "--fast", "--pages", str(2 * pages), "--out", "job"]
            else:
                line += ["crawl", "html", "-a", f"seeds={start}"]
                settings |= {
                    "SEMCRAWL_CRAWL_DELAY": 0,
                    "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
                    "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
                }
            for key, value in settings.items():
                line += ["-s", f"{key}={value}"]
            path = os.pathsep.join(filter(None, (str(Path(__file__).parent), *sys.path)))
            figures = folder / "figures.json"
            environment = os.environ | {"PYTHONPATH": path, _FIGURES: str(figures)}
            before = cpu_seconds([redis.pid or 0])
            subprocess.run(line, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
            found: dict[str, Any] = json.loads(figures.read_text())
            found["redis"] = cpu_seconds([redis.pid or 0]) - before
            return found


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--command", choices=["harvest", "crawl"], default="harvest")
    args = parser.parse_args()
    host, _ = served_pages(args.pages)
    start = f"{host}/s0/page-0.html"
    table = Table(*_CALLS, "all", "process", "Redis", "share", "of both")
    table.title = "µs per page by call, CPU seconds, the strategy's share"
    for _ in range(args.rounds):
        found = crawl(args.command, start, args.pages)
        spent, pages = sum(found["calls"].values()), found["pages"]
        row = [f"{found['calls'].get(name, 0) / pages * 1e6:.1f}" for name in _CALLS]
        row += [f"{spent / pages * 1e6:.1f}", f"{found['cpu']:.2f}", f"{found['redis']:.2f}"]
        row += [f"{spent / found['cpu']:.1%}", f"{spent / (found['cpu'] + found['redis']):.1%}"]
        table.add_row(*row)
    Console().print(table)


if __name__ == "__main__":
    main()
