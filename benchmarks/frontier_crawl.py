"""Whole crawls side by side: semcrawl, Scrapy, scrapy-redis, crawlee, a bare aiohttp + lxml loop.

And the floor: Scrapy's engine alone, which fetches the same pages and reads nothing.

    python benchmarks/frontier_crawl.py [--pages 4000] [--rounds 3] [--only NAME …]
                                        [--links known new]

All fetch the same local pages of 30 links, over one server process. With ``known`` links the pages
link among themselves, about one new link a page, and a crawl ends when it has them all. With
``new`` links there are ten million pages, nearly all links of a page are new, and a crawl ends
after as many pages: what a crawl with a budget meets on a large site. semcrawl runs as users run
it, with relevance, records and pipelines; the others (``rival_crawlers.py``) do no more than follow
links and yield an item. Time and CPU are taken from the first page to the last, start-up left out;
"per core" is pages per second of the crawler's own CPU time (the web server and Redis counted out,
and shown beside it). ``semcrawl`` learns, as by default; ``semcrawl-rules`` goes by the thesis's
rules and parents. ``-2`` is two workers on one Redis; what two free cores make of them is twice
their pages/s per core, as long as Redis keeps up. With ``--one-folder`` they write to one job
folder, as ``harvest --workers 2`` does. ``-sqlite`` has its frontier in a file of the job folder,
which two workers share. Rounds are interleaved; medians are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from statistics import median

import rival_crawlers
from local_pages import served_pages
from rich.console import Console
from rich.table import Table
from rival_crawlers import CONCURRENCY

from semcrawl.frontier.redis.localserver import RedisServer

TICKS = os.sysconf("SC_CLK_TCK")
#: pages of the web whose links are new
ADDRESSES = 10_000_000


@dataclass
class Result:
    """One crawl."""

    seconds: float
    cpu: float
    redis_cpu: float


def cpu_seconds(pids: list[int]) -> float:
    """CPU time of processes so far."""
    total = 0.0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += (int(fields[11]) + int(fields[12])) / TICKS
    return total


def command(name: str, start: str, redis: str, folder: Path, pages: int) -> list[str]:
    """The command line of a contender."""
    if not name.startswith("semcrawl"):
        script = str(Path(__file__).with_name("rival_crawlers.py"))
        return [sys.executable, script, name, start, "--redis", redis, "--pages", str(pages)]
    settings = {
        "REDIS_URL": redis,
        "SEMCRAWL_CRAWL_NAME": "bench",
        "SEMCRAWL_JOBDIR": folder,
        "SEMCRAWL_CRAWL_DELAY": 0,
        "SEMCRAWL_CONCURRENCY_PER_HOST": 2 * CONCURRENCY,
        "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "MAX_IDLE_TIME_BEFORE_CLOSE": 1,
        "LOG_LEVEL": "WARNING",
    }
    if "-sqlite" in name:
        settings |= {"REDIS_URL": ""}
    if name.startswith("semcrawl-rules"):
        settings["SEMCRAWL_RELEVANCE"] = "rules-parents"
    parts = [sys.executable, "-m", "semcrawl", "crawl", "html", "-a", f"seeds={start}"]
    for key, value in settings.items():
        parts += ["-s", f"{key}={value}"]
    return parts


def run_one(
    name: str, start: str, pages: int, served: Synchronized[int], *, one_folder: bool = False
) -> Result:
    """Run a contender to its last page."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis = stack.enter_context(RedisServer(folder / "redis"))
        address = f"unix://{redis.socket}"
        processes = []
        for number in range(2 if name.endswith("-2") else 1):
            shares = one_folder or "-sqlite" in name
            job = folder / f"job{0 if shares else number}"
            job.mkdir(exist_ok=True)
            line = command(name, start, address, job, pages)
            processes.append(subprocess.Popen(line, cwd=folder))
        pids = [process.pid for process in processes]
        try:
            while served.value < 1 + pages // 100:
                if processes[0].poll() is not None:
                    raise SystemExit(f"{name} ended before its first page")
                time.sleep(0.005)
            first = served.value
            began, cpu = time.perf_counter(), cpu_seconds(pids)
            redis_cpu = cpu_seconds([redis.pid])
            while served.value < pages:
                if all(process.poll() is not None for process in processes):
                    raise SystemExit(f"{name} ended after {served.value} pages")
                time.sleep(0.005)
            share = pages / (pages - first)
            return Result(
                (time.perf_counter() - began) * share,
                (cpu_seconds(pids) - cpu) * share,
                (cpu_seconds([redis.pid]) - redis_cpu) * share,
            )
        finally:
            for process in processes:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    names = ["semcrawl", "semcrawl-2", "semcrawl-rules", "semcrawl-rules-2"]
    names += ["semcrawl-sqlite", "semcrawl-rules-sqlite"]
    names += ["semcrawl-sqlite-2", "semcrawl-rules-sqlite-2"]
    names += rival_crawlers.NAMES
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--links", nargs="+", choices=["known", "new"], default=["known", "new"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--one-folder", action="store_true", help="two workers share a job folder")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    args = parser.parse_args()
    for links in args.links:
        addresses = args.pages if links == "known" else ADDRESSES
        host, served = served_pages(addresses, args.pages)
        results: dict[str, list[Result]] = {name: [] for name in args.only}
        for _ in range(args.rounds):
            for name in args.only:
                urllib.request.urlopen(f"{host}/reset-0.html").read()
                start = f"{host}/s0/page-0.html"
                one = run_one(name, start, args.pages, served, one_folder=args.one_folder)
                results[name].append(one)
                print(links, name, json.dumps(one.__dict__), file=sys.stderr, flush=True)
        Console().print(table(f"links {links}", results, args.pages))


def table(title: str, results: dict[str, list[Result]], pages: int) -> Table:
    """The contenders' medians, and how they stand to ``semcrawl`` and to ``bare``."""
    headings = ["pages/s", "pages/s per core", "CPU ms/page", "Redis CPU/page ms"]
    result = Table("crawler", *headings, "semcrawl's to this", "of bare", title=title)
    cores = {name: pages / median(run.cpu for run in runs) for name, runs in results.items()}
    own = cores.get("semcrawl-sqlite", cores.get("semcrawl", 0))
    for name, runs in results.items():
        rate = pages / median(run.seconds for run in runs)
        redis_cost = median(run.redis_cpu for run in runs) / pages * 1000
        share = cores[name] / cores["bare"] if "bare" in cores else 0
        figures = f"{rate:,.0f}", f"{cores[name]:,.0f}", f"{1000 / cores[name]:.2f}"
        ratios = f"{redis_cost:.2f}", f"{own / cores[name]:.2f}", f"{share:.2f}"
        result.add_row(name, *figures, *ratios)
    return result


if __name__ == "__main__":
    main()
