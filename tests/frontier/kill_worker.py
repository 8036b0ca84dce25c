"""A worker of the kill test: crawls a made-up graph until it is finished or killed.

    python kill_worker.py REDIS_URL LOG PAGES

Page n links to pages 2n + 1, 2n + 2 and some others. Each fetch is one line in LOG, written before
the link is acknowledged.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys

from backends import backend_at

from semcrawl.frontier import Entry, FrontierOptions, worker_name

QUEUES = ["html"]


def entry(page: int) -> Entry:
    host = f"h{page % 7}.example"
    return Entry(f"http://{host}/{page}", host, "html", f"depth {page.bit_length()}")


def links(page: int, pages: int) -> list[Entry]:
    rng = random.Random(page)
    targets = [2 * page + 1, 2 * page + 2, *(rng.randrange(pages) for _ in range(4))]
    return [entry(n) for n in targets if n < pages]


async def crawl(address: str, log: int, pages: int) -> None:
    options = FrontierOptions(delay=0, concurrency=2, lease_time=3)
    frontier = backend_at(address).frontier("kill", worker_name(), options)
    async with frontier:
        await frontier.add([entry(0)])
        while True:
            leases = await frontier.take(4, QUEUES)
            for lease in leases:
                page = int(lease.entry.url.rpartition("/")[2])
                await frontier.add(links(page, pages))
                os.write(log, b"%d\n" % page)
                await frontier.release([lease])
                await frontier.end([lease])
            if not leases:
                if (await frontier.counts(QUEUES, [])).finished:
                    return
                await asyncio.sleep(0.02)


if __name__ == "__main__":
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    asyncio.run(crawl(sys.argv[1], os.open(sys.argv[2], flags), int(sys.argv[3])))
