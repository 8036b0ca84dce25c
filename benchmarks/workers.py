"""``semcrawl harvest --workers N`` beside one process: pages per second, web server counted out.

    python benchmarks/workers.py [--pages 4000] [--rounds 3] [--workers 2] [--only pages demo]

``pages`` are made ones with 30 links each, ``demo`` is the demonstration web, harvested as
``semcrawl demo --harvest --fast`` does. Server and workers share this machine's processors. So what
counts is the CPU time that the workers take for the crawl, by their logs, the loading of the
program left out: with a free processor for each, N workers do *N × CPU of one / CPU of N* as many
pages a second. The time of the whole command by the clock is shown beside it. ``--redis`` puts the
frontier on a Redis, whose own CPU time is not counted; else it is a file. Rounds are interleaved;
medians are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from local_pages import served_pages
from rich.console import Console
from rich.table import Table

from semcrawl.demo import DemoWeb, serve
from semcrawl.frontier.redis.localserver import RedisServer


@dataclass
class Cost:
    """One harvest."""

    seconds: float
    cpu: float
    requests: int


def harvest(start: str, workers: int, proxy: str, redis: bool) -> Cost:
    """Harvest into a folder that is thrown away."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        variables = {"http_proxy": proxy} if proxy else {}
        if redis:
            server = stack.enter_context(RedisServer(folder / "redis"))
            variables["REDIS_URL"] = f"unix://{server.socket}"
        environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
        line = [sys.executable, "-m", "semcrawl", "harvest", start, "--out", str(folder / "out")]
        line += ["--fast", "-q", "--workers", str(workers), "-s", "SEMCRAWL_ENDPOINTS=found"]
        began = time.perf_counter()
        subprocess.run(line, env=environment | variables, check=True)
        seconds = time.perf_counter() - began
        log = (folder / "out" / "crawl.log").read_text()
        cpu = sum(map(float, re.findall(r"The crawl took (\S+) s of processor time", log)))
        summary = json.loads((folder / "out" / "summary.json").read_text())
        return Cost(seconds, cpu, summary["requests"])


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--redis", action="store_true")
    parser.add_argument("--only", nargs="+", choices=["pages", "demo"], default=["pages", "demo"])
    args = parser.parse_args()
    table = Table("web", "workers", "seconds", "CPU ms per request", "× pages/s per core")
    with ExitStack() as stack:
        webs = {}
        if "pages" in args.only:
            webs["pages"] = (served_pages(args.pages)[0] + "/s0/page-0.html", "")
        if "demo" in args.only:
            server = stack.enter_context(serve(DemoWeb()))
            webs["demo"] = (DemoWeb.start, server.proxy_url)
        for name, (start, proxy) in webs.items():
            runs: dict[int, list[Cost]] = {1: [], args.workers: []}
            for _ in range(args.rounds):
                for count, found in runs.items():
                    found.append(harvest(start, count, proxy, args.redis))
                    print(name, count, found[-1], file=sys.stderr, flush=True)
            cost = {n: median(run.cpu / run.requests for run in found) for n, found in runs.items()}
            for count, found in runs.items():
                seconds = median(run.seconds for run in found)
                ratio = count * cost[1] / cost[count]
                table.add_row(
                    name, str(count), f"{seconds:.1f}", f"{1000 * cost[count]:.2f}", f"{ratio:.2f}"
                )
    Console().print(table)


if __name__ == "__main__":
    main()
