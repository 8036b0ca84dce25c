"""``semcrawl crawl html`` as several processes on one frontier."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

from served_redis import ServedRedis
from web import Served

from semcrawl.items import FetchOutcome


class CrawlWorkers:
    """Workers of one crawl, with one job folder for all or one for each start of one.

    Without ``redis`` its frontier is a file of the one job folder.
    """

    def __init__(
        self,
        served: Served,
        redis: ServedRedis | None,
        folder: Path,
        *settings: str,
        together: bool = False,
    ) -> None:
        self._served = served
        self._folder = folder
        self._settings = settings
        self._url = redis.url if redis else ""
        self._together = together or redis is None
        #: pages that every worker is given as seeds
        self.seeds = [0]
        self.folders: list[Path] = []
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> subprocess.Popen[bytes]:
        log = self._folder / f"worker-{len(self.processes)}.log"
        folder = self._folder / ("job" if self._together else f"job-{len(self.processes)}")
        if folder not in self.folders:
            folder.mkdir(exist_ok=True)
            self.folders.append(folder)
        own = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        command = [sys.executable, "-m", "semcrawl", "crawl", "html"]
        seeds = ",".join(map(self._served.web.url, self.seeds))
        for argument in (f"seeds={seeds}", "scope=any", "follow_rdf=1"):
            command += ["-a", argument]
        settings = [f"REDIS_URL={self._url}", f"SEMCRAWL_JOBDIR={folder}", "LOG_LEVEL=INFO"]
        for setting in (*settings, "MAX_IDLE_TIME_BEFORE_CLOSE=1", *self._settings):
            command += ["-s", setting]
        process = subprocess.Popen(
            [*command, "--logfile", str(log)],
            env=own | {"http_proxy": self._served.proxy},
            cwd=self._folder,
        )
        self.processes.append(process)
        return process

    def stop(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()

    def records(self) -> Counter[str]:
        """URLs of pages by their number of records, those of all workers together."""
        urls: Counter[str] = Counter()
        fetched = (FetchOutcome.FETCHED_HTML, FetchOutcome.FETCHED_RDF)
        for path in (folder / "crawl.db" for folder in self.folders):
            if path.exists():
                with sqlite3.connect(path) as database:
                    rows = database.execute("SELECT url, outcome FROM fetch").fetchall()
                urls.update(url for url, outcome in rows if outcome in fetched)
        return urls

    def quads(self) -> Counter[str]:
        """Lines of all workers' quads."""
        lines: Counter[str] = Counter()
        for path in (folder / "quads.nq" for folder in self.folders):
            if path.exists():
                lines.update(path.read_text().splitlines())
        return lines
