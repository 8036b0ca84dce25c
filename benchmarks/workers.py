"""``semcrawl harvest --workers N`` beside one process: pages per second, web server counted out.

    python benchmarks/workers.py [--pages 4000] [--rounds 3] [--workers 2] [--only pages demo]

``pages`` are made ones with 30 links each, ``demo`` is the demonstration web, harvested as
``semcrawl demo --harvest --fast`` does, and ``starved`` are pages of four hosts with a crawl delay,
which are too few for several workers. Server and workers share this machine's processors. So what
counts is the CPU time that the workers take for the crawl, by their logs, the loading of the
program left out: with a free processor for each, N workers do *N × CPU of one / CPU of N* as many
pages a second. The time of the whole command by the clock is shown beside it. ``--redis`` puts the
frontier on a Redis, ``--redis 3`` on three, whose own CPU time is shown apart; else it is a file.
"In all" is the CPU time of all processes of the command, their start included. Rounds are
interleaved; medians are shown.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from frontier_crawl import cpu_seconds
from local_pages import served_pages
from rich.console import Console
from rich.table import Table

from semcrawl.frontier.redis.localserver import RedisServer
from semcrawl.lab.demo import DemoWeb, serve

WEBS = ("pages", "demo", "starved")
HOSTS = 4


@dataclass
class Cost:
    """One harvest."""

    seconds: float
    #: CPU time of the workers' crawls; of all processes, their start included; of the Redis
    cpu: float
    whole: float
    redis: float
    requests: int


@dataclass
class Web:
    """What is harvested."""

    starts: list[str]
    #: that of a server which has all hosts
    proxy: str = ""
    #: crawl delay, seconds; 0 = none, and all requests at once
    delay: float = 0.0


def harvest(web: Web, workers: int, redis: int) -> Cost:
    """Harvest into a folder that is thrown away."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        variables = {"http_proxy": web.proxy} if web.proxy else {}
        servers = [
            stack.enter_context(RedisServer(folder / f"redis-{number}")) for number in range(redis)
        ]
        if servers:
            variables["REDIS_URL"] = ",".join(f"unix://{server.socket}" for server in servers)
        environment = {k: v for k, v in os.environ.items() if "proxy" not in k.lower()}
        line = [sys.executable, "-m", "semcrawl", "harvest", *web.starts]
        line += ["--out", str(folder / "out"), "-q", "--workers", str(workers)]
        line += ["-s", f"SEMCRAWL_CRAWL_DELAY={web.delay}"] if web.delay else ["--fast"]
        line += ["-s", "SEMCRAWL_ENDPOINTS=found"]
        began, before = time.perf_counter(), of_children()
        subprocess.run(line, env=environment | variables, check=True)
        seconds, whole = time.perf_counter() - began, of_children() - before
        log = (folder / "out" / "crawl.log").read_text()
        cpu = sum(map(float, re.findall(r"The crawl took (\S+) s of processor time", log)))
        summary = json.loads((folder / "out" / "summary.json").read_text())
        return Cost(
            seconds,
            cpu,
            whole,
            cpu_seconds([server.pid for server in servers]),
            summary["requests"],
        )


def of_children() -> float:
    """CPU time of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--redis", type=int, nargs="?", const=1, default=0, metavar="SERVERS")
    parser.add_argument("--only", nargs="+", choices=WEBS, default=["pages", "demo"])
    parser.add_argument("--delay", type=float, default=0.5, help="of the starved, seconds")
    args = parser.parse_args()
    table = Table("web", "workers", "seconds", "CPU ms per request", "in all", "Redis", "× pages/s")
    with ExitStack() as stack:
        webs: dict[str, Web] = {}
        if "pages" in args.only:
            webs["pages"] = Web([served_pages(args.pages)[0] + "/s0/page-0.html"])
        if "demo" in args.only:
            server = stack.enter_context(serve(DemoWeb()))
            webs["demo"] = Web([DemoWeb.start], server.proxy_url)
        if "starved" in args.only:
            proxy, _ = served_pages(args.pages // HOSTS)
            starts = [f"http://h{number}.example/s0/page-0.html" for number in range(HOSTS)]
            webs["starved"] = Web(starts, proxy, args.delay)
        for name, web in webs.items():
            runs: dict[int, list[Cost]] = {1: [], args.workers: []}
            for _ in range(args.rounds):
                for count, found in runs.items():
                    found.append(harvest(web, count, args.redis))
                    print(name, count, found[-1], file=sys.stderr, flush=True)
            cost = {n: median(run.cpu / run.requests for run in found) for n, found in runs.items()}
            for count, found in runs.items():
                seconds = median(run.seconds for run in found)
                ratio = count * cost[1] / cost[count]
                per_request = (
                    f"{1000 * median(getattr(run, part) / run.requests for run in found):.2f}"
                    for part in ("cpu", "whole", "redis")
                )
                table.add_row(name, str(count), f"{seconds:.1f}", *per_request, f"{ratio:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
