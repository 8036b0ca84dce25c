"""One crawl has one set of options."""

from __future__ import annotations

import logging

import pytest
from backends import Backend
from frontier_calls import OpenFrontier, Q, link

from semcrawl.frontier import FrontierOptions
from semcrawl.frontier.contract import Frontier


async def test_a_crawl_has_the_options_of_the_worker_that_opened_it_last(
    open_frontier: OpenFrontier, caplog: pytest.LogCaptureFixture
) -> None:
    """Else a host that is free for one and busy for the other would be lost between them."""
    caplog.set_level(logging.INFO)
    first = await open_frontier("w1", concurrency=4)
    await first.add([link(str(n)) for n in range(9)])
    leases = await first.take(9, Q)
    assert len(leases) == 4
    second = await open_frontier("w2", concurrency=2)
    assert "concurrency 4 -> 2" in caplog.text
    await first.end(leases[:2])
    assert await second.take(9, Q) == []
    await second.end(leases[2:3])
    assert len(await first.take(9, Q)) == 1
    await open_frontier("w3", concurrency=4)
    assert len(await first.take(9, Q)) == 2
    assert await first.inspector.audit() == []


async def test_who_only_looks_changes_no_options(
    open_frontier: OpenFrontier, backend: Backend, prefix: str
) -> None:
    worker = await open_frontier("w1", concurrency=4)
    dead = await open_frontier("w2", concurrency=4)
    await worker.add([link(str(n)) for n in range(9)])
    await dead.take(2, Q)
    leases = await worker.take(2, Q)
    async with backend.frontier(prefix, "w2", guest=True):
        pass  # the dead one's links are back
    assert len(await worker.take(9, Q)) == 2
    await worker.end(leases)
    assert len(await worker.take(9, Q)) == 2
    assert await worker.inspector.audit() == []


async def test_who_is_considerate_makes_others_at_work_no_quicker(
    open_frontier: OpenFrontier, backend: Backend, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    first = await open_frontier("w1", delay=5.0, concurrency=1)

    def joining(name: str, **options: float) -> Frontier:
        chosen = FrontierOptions(**options)  # type: ignore[arg-type]
        return backend.frontier(prefix, name, chosen, considerate=True)

    async with joining("w2", delay=0.0, concurrency=8) as second:
        assert (second.options.delay, second.options.concurrency) == (5.0, 1)
        assert "their slower pace holds: delay 0 -> 5 s, concurrency 8 -> 1" in caplog.text
    async with joining("w3", delay=9.0) as third:
        assert third.options.delay == 9.0
    await first.close()
    async with joining("w4", delay=0.5) as alone:
        assert alone.options.delay == 0.5
