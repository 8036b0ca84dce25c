"""A crawl's keys share one slot, so that a cluster's node can carry it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from redis.crc import key_slot
from served_redis import ServedRedis

from semcrawl.frontier import Entry, FrontierOptions, RedisFrontier
from semcrawl.frontier.transfer import export_lines

Q = ["html", "rdf"]


@pytest.fixture
def node(start_served: Callable[..., ServedRedis]) -> ServedRedis:
    """A cluster of one node, which refuses scripts that reach into other slots."""
    server = start_served("--cluster-enabled", "yes")
    with server.client() as admin:
        admin.execute_command("CLUSTER ADDSLOTS", *range(16384))
        while admin.execute_command("CLUSTER INFO")["cluster_state"] != "ok":
            time.sleep(0.01)
    return server


async def test_everything_works_on_a_node_of_a_cluster(node: ServedRedis) -> None:
    options = FrontierOptions(
        delay=0, concurrency=9, fairness="yield", max_waiting=150, exact_limit=50, seen_capacity=999
    )
    frontier = RedisFrontier(node.url, prefix="crawl", worker_id="w", options=options)
    async with frontier:
        entries = [
            Entry(f"http://h{n % 5}/{n}", f"h{n % 5}", Q[n % 2], f"g{n % 7}") for n in range(200)
        ]
        await frontier.add(entries)
        await frontier.set_values({"g1": 1.0})
        await frontier.rekey([(entry, 1.0) for entry in entries[::9]])
        await frontier.pace.set("h1", delay=0.5, concurrency=2)
        await frontier.pace.reward("h2", target=True)
        leases = await frontier.take(20, Q)
        await frontier.started(leases)
        await frontier.renew(leases)
        await frontier.release(leases)
        await frontier.end(leases[:3], failed=True)
        await frontier.end(leases[3:9])
        await frontier.give_back(leases[9:], delay=1)
        assert await frontier.requeue(Q) == 3
        await frontier.next_ready(Q)
        await frontier.shared.exchange(b"e", limit=0)
        await frontier.shared.save_state("s", b"x")
        seeds = "{crawl}:html:start_urls"  # in a cluster a seed list must have the crawl's tag
        await frontier.shared.push_seeds(seeds, ["s"])
        await frontier.shared.done_seeds(seeds, await frontier.shared.take_seeds(seeds, 5))
        assert (await frontier.counts(Q, [seeds])).waiting == 150 - 6 + 1 - 1
        assert [line async for line in export_lines(frontier)]
        assert await frontier.inspector.audit() == []
        with node.client() as admin:
            assert {key_slot(key) for key in admin.scan_iter()} == {key_slot(b"crawl")}
