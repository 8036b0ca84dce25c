"""A worker of the cluster's kill test: crawls a made-up graph until it is finished or killed.

    python cluster_worker.py ADDRESS LOG PAGES HOSTS DELAY

Page n links to pages 2n + 1, 2n + 2 and some others, on other hosts. Each fetch is one line in LOG,
written before the link is acknowledged: the page, and the times before and after the frontier was
told that its request leaves.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time

from backends import backend_at

from semcrawl.frontier import Entry, FrontierOptions, worker_name
from semcrawl.frontier.contract import Frontier, Lease

QUEUES = ["html"]
#: links that a worker has at a time
IN_FLIGHT = 8


class Worker:
    """Fetches nothing, and does all else that a worker does."""

    def __init__(self, frontier: Frontier, log: int, pages: int, hosts: int) -> None:
        self.frontier = frontier
        self.log = log
        self.pages = pages
        self.hosts = hosts
        #: links that need not be put in again, as long as no server went back
        self.known: set[str] = set()
        self.losses = 0

    def entry(self, page: int) -> Entry:
        host = f"h{page % self.hosts}.example"
        return Entry(f"http://{host}/{page}", host, "html", f"depth {page.bit_length()}")

    def links(self, page: int) -> list[Entry]:
        rng = random.Random(page)
        targets = [2 * page + 1, 2 * page + 2, *(rng.randrange(self.pages) for _ in range(4))]
        return [self.entry(n) for n in targets if n < self.pages]

    async def fetch(self, lease: Lease) -> None:
        page = int(lease.entry.url.rpartition("/")[2])
        before = time.monotonic()
        (held,) = await self.frontier.started([lease])
        after = time.monotonic()
        if not held:
            return
        if self.losses != self.frontier.losses:
            self.losses = self.frontier.losses
            self.known.clear()
        links = [link for link in self.links(page) if link.url not in self.known]
        await self.frontier.add(links, over=[lease])
        self.known.update(link.url for link in links)
        os.write(self.log, b"%d %.6f %.6f\n" % (page, before, after))
        await self.frontier.end([lease])

    async def crawl(self) -> None:
        await self.frontier.add([self.entry(0)])
        while True:
            leases = await self.frontier.take(IN_FLIGHT, QUEUES)
            await asyncio.gather(*map(self.fetch, leases))
            if not leases:
                if (await self.frontier.counts(QUEUES, [])).finished:
                    return
                await asyncio.sleep(min(await self.frontier.next_ready(QUEUES) or 0.02, 0.1))


async def main(address: str, log: int, pages: int, hosts: int, delay: float) -> None:
    options = FrontierOptions(delay=delay, concurrency=1, lease_time=5, patience=60, timeout=5)
    async with backend_at(address).frontier("kill", worker_name(), options) as frontier:
        await Worker(frontier, log, pages, hosts).crawl()


if __name__ == "__main__":
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    asyncio.run(
        main(
            sys.argv[1],
            os.open(sys.argv[2], flags),
            int(sys.argv[3]),
            int(sys.argv[4]),
            float(sys.argv[5]),
        )
    )
