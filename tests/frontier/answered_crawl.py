"""A crawl's session without spiders: the test answers its links."""

from __future__ import annotations

import asyncio

from backends import backend_at

from semcrawl.crawl.channels import SpiderChannel
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier import FrontierOptions
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.links import LinkState
from semcrawl.relevance import Relevance, load_strategy

LIMIT = 10  # seconds until a test counts as hanging


class Crawl:
    """A session whose links are answered by the test."""

    def __init__(
        self,
        address: str,  # of the backend, as ``backend_at`` takes it
        prefix: str,
        strategy: Relevance | None = None,
        penalty_after: int = 0,
        worker: str = "w1",
        lease_time: float = 120.0,
        **options: object,
    ) -> None:
        frontier_options = FrontierOptions(
            lease_time=lease_time, delay=0.0, concurrency=100, penalty_after=penalty_after
        )
        frontier = backend_at(address).frontier(prefix, worker, frontier_options)
        strategy = strategy or load_strategy("breadth-first", {})
        self.session = CrawlSession(
            frontier, strategy, SessionOptions(**{"concurrency": 8, "slow_start": 0, **options})
        )  # type: ignore[arg-type]
        self.leases: asyncio.Queue[Lease] = asyncio.Queue()

    async def begin(self, *urls: str) -> int:
        await self.session.attach(
            "html",
            SpiderChannel(deliver=self.leases.put_nowait, plant=lambda raw: None, seed_key="seeds"),
        )
        new = await self.session.intake.plant([(url, LinkState()) for url in urls], "html")
        self.session.planted("html")
        return new

    async def fetch(self) -> Lease:
        lease = await asyncio.wait_for(self.leases.get(), LIMIT)
        self.session.send(lease)
        await self.session.leaves(lease)
        return lease

    def finish(self, lease: Lease) -> None:
        self.session.downloaded(lease)
        self.session.processed(lease)
        self.session.acknowledge(lease)

    async def ended(self) -> None:
        await asyncio.wait_for(self.session.finished.wait(), LIMIT)
