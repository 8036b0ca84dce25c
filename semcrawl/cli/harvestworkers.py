"""``semcrawl harvest --workers N``: gives each worker its task, and adds up the results."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl.cli.harvestrun import RunResult
from semcrawl.cli.workerprocesses import Workers
from semcrawl.cli.workerside import settings_to_pass
from semcrawl.config.workercount import worker_count
from semcrawl.crawl.outlook import Outlook
from semcrawl.errors import FrontierError, UsageError
from semcrawl.extensions.progress import progress_interval, progress_mode
from semcrawl.frontier.backends import visited_frontier
from semcrawl.terminal.crawlfigures import Display


def check_workers(settings: BaseSettings) -> int:
    """Return the number of workers of a harvest; raise ``UsageError`` for too many."""
    count = worker_count(settings)
    if (pages := settings.getint("SEMCRAWL_PAGES")) > 0:
        count = min(count, pages)
    if count > 1 and "stdout:" in settings.getdict("FEEDS"):
        raise UsageError("only one worker can write a feed to standard output")
    settings.set("SEMCRAWL_WORKERS", count, "cmdline")
    return count


def harvest_together(
    settings: BaseSettings, folder: Path, count: int, seeds: str | None, opts: argparse.Namespace
) -> tuple[RunResult, Outlook]:
    """Run ``count`` workers on a job folder until the crawl has ended or is interrupted."""
    result = _harvest(settings, folder, count, seeds, opts)
    return result, asyncio.run(_look_back(settings, folder))


def _harvest(
    settings: BaseSettings, folder: Path, count: int, seeds: str | None, opts: argparse.Namespace
) -> RunResult:
    passed = settings_to_pass(settings)
    pages = settings.getint("SEMCRAWL_PAGES")

    def task(number: int, sent: int) -> Mapping[str, Any] | None:
        own = passed | {
            "SEMCRAWL_PROGRESS": "off",
            "LOG_FILE_APPEND": True,
            "LOG_FORMAT": settings.get("LOG_FORMAT").replace(
                "%(asctime)s", f"%(asctime)s [worker {number}]"
            ),
        }
        if pages:
            left = pages // count + (number <= pages % count) - sent
            if left < 1:
                return None
            own["SEMCRAWL_PAGES"] = left
        if number > 1:  # only the first re-visits and receives pings
            own |= {"SEMCRAWL_REVISIT": False, "SEMCRAWL_PING_PORT": 0}
        return {
            "number": number,
            "settings": own,
            "seeds": seeds if number == 1 else None,
            "verbose": opts.verbose,
        }

    mode = progress_mode(settings)
    with Display(live=mode == "live") as display:
        workers = Workers(
            [sys.executable, "-m", "semcrawl", "harvest", "--worker"],
            count,
            task,
            budget=pages or None,
            display=display,
            interval=progress_interval(settings) if mode != "off" else None,
            quiet=opts.quiet,
        )
        asyncio.run(workers.run())
    return summed(workers, pages)


def summed(workers: Workers, pages: int) -> RunResult:
    """Add up the results of the workers, which together may send ``pages`` requests."""
    total = RunResult()
    for worker in workers.ended:
        total.add(RunResult.read(worker.result or {}))
    total.requests += sum(worker.requests for worker in workers.workers)
    total.failed = total.failed or any(worker.given_up for worker in workers.workers)
    restarted = sum(worker.deaths - worker.given_up for worker in workers.workers if worker.deaths)
    lost = sum(worker.given_up for worker in workers.workers)
    total.workers = {"started": len(workers.workers), "restarted": restarted, "lost": lost}
    if total.limit == "pages" and total.requests < pages:
        total.limit = ""  # only some have sent their share
    if not workers.ended and not workers.stopped:
        total.failure = "no worker could finish its work"
    return total


async def _look_back(settings: BaseSettings, folder: Path) -> Outlook:
    """Return what is left in the frontier, if it can be reached."""
    outlook = Outlook(None, 0)
    try:
        async with visited_frontier(settings, folder) as frontier:
            await outlook.look_back(frontier)
    except (FrontierError, UsageError):
        pass  # a worker has reported the problem
    return outlook
