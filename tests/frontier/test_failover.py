"""What a server lost when it went back in time is put in again by the workers that live."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from frontier_calls import Q, link, names
from redis.crc import key_slot
from served_cluster import ServedCluster
from served_redis import ServedRedis

from semcrawl.errors import FrontierUnavailable, UsageError
from semcrawl.frontier import FrontierOptions, RedisFrontier, ShardedFrontier
from semcrawl.frontier.sharded.shards import number_of

OPTIONS = FrontierOptions(delay=0, concurrency=9, patience=20, timeout=5)


def host_in(shard: int, shards: int = 3) -> str:
    """A host of a shard."""
    names = (f"h{n}.example" for n in range(1000))
    return next(name for name in names if number_of(name, shards) == shard)


def sharded(urls: list[str], name: str, worker: str = "w", **more: float) -> ShardedFrontier:
    options = replace(OPTIONS, **more)  # type: ignore[arg-type]
    return ShardedFrontier(urls, prefix=name, worker_id=worker, options=options)


class Rewound:
    """A server that can be set back to an earlier time."""

    def __init__(self, server: ServedRedis, folder: Path) -> None:
        self.server = server
        self._kept = folder / "kept"

    def keep(self) -> None:
        shutil.copytree(self.server.folder, self._kept)

    def go_back(self) -> None:
        self.server.kill()
        shutil.rmtree(self.server.folder)
        shutil.move(self._kept, self.server.folder)
        self.server.start()


@pytest.mark.slow
async def test_links_that_a_shard_lost_are_put_in_again(
    start_served: Callable[..., ServedRedis], tmp_path: Path, prefix: str
) -> None:
    """Their page is done in another shard, and would never bring them again."""
    servers = [start_served() for _ in range(3)]
    lossy = Rewound(servers[1], tmp_path)
    async with sharded([server.url for server in servers], prefix) as frontier:
        await frontier.add([link("page", host=host_in(0))])
        (page,) = await frontier.take(1, Q)
        await frontier.set_values({"bad": -1.0})
        lossy.keep()
        found = [link(str(n), host=host_in(1), group="g" if n % 2 else "bad") for n in range(6)]
        assert all(await frontier.add(found))
        await frontier.end([page])
        await frontier.set_values({"bad": 1.0})
        assert frontier.losses == 0
        lossy.go_back()
        assert names(await frontier.take(9, Q)) == ["0", "2", "4", "1", "3", "5"]
        assert frontier.losses == 1
        assert await frontier.inspector.audit() == []


async def test_leases_of_a_lost_time_are_not_given_out_again(
    start_served: Callable[..., ServedRedis], tmp_path: Path, prefix: str
) -> None:
    """A worker that ends one must not end another's link of the same name."""
    server = start_served()
    lossy = Rewound(server, tmp_path)
    first = RedisFrontier(server.url, prefix=prefix, worker_id="w1", options=OPTIONS)
    second = RedisFrontier(server.url, prefix=prefix, worker_id="w2", options=OPTIONS)
    async with first, second:
        await first.add([link(str(n)) for n in range(4)])
        lossy.keep()
        lost = await first.take(1, Q)
        lossy.go_back()
        taken = await second.take(2, Q)
        assert names(lost) == ["0"]
        assert names(taken) == ["0", "1"]
        assert not {lease.id for lease in lost} & {lease.id for lease in taken}
        assert await first.started(lost) in ([True], [False])
        await first.end(lost)
        assert (await first.counts(Q, [])).leased == 2


@pytest.fixture
def own_cluster(tmp_path: Path):
    served = ServedCluster(tmp_path / "nodes")
    yield served
    served.stop()


@pytest.mark.server
@pytest.mark.slow
async def test_a_half_moved_slot_is_waited_for(own_cluster: ServedCluster, prefix: str) -> None:
    """No script runs on half of its keys; with the move over, all is there."""
    slot = key_slot(f"{prefix}.1".encode())
    source = own_cluster.serving(slot)
    target = next(node for node in own_cluster.primaries() if node is not source)
    urls = [own_cluster.url] * 3
    links = [link(str(n), host=host_in(1), group=f"g{n % 5}") for n in range(50)]
    async with sharded(urls, prefix) as frontier:
        await frontier.add(links)
        (lease,) = await frontier.take(1, Q)
        own_cluster.begin_move(slot, source, target)
        async with sharded([own_cluster.url] * 3, f"{prefix}other") as other:
            assert await other.add(links[:1]) == [True]  # its slots are elsewhere
        for most in (0, 5):
            if most:
                own_cluster.move_keys(slot, source, target, most)
            hasty = sharded(urls, prefix, "hasty", patience=0.5)
            with pytest.raises(FrontierUnavailable, match="being moved"):
                await hasty.open()
        own_cluster.move_keys(slot, source, target)
        own_cluster.end_move(slot, source, target)
        await frontier.end([lease])
        assert frontier.losses == 1  # (that nothing was lost it cannot know)
        left = []
        while leases := await frontier.take(9, Q):
            left += names(leases)
            await frontier.end(leases)
        assert sorted([*names([lease]), *left], key=int) == [str(n) for n in range(50)]
        assert await frontier.inspector.audit() == []


@pytest.mark.server
@pytest.mark.slow
async def test_a_cluster_that_is_none_or_not_whole_is_refused(
    own_cluster: ServedCluster, start_served: Callable[..., ServedRedis], prefix: str
) -> None:
    alone = start_served()
    with pytest.raises(UsageError, match="is no node of a cluster"):
        await sharded([alone.url.replace("redis:", "redis+cluster:")] * 2, prefix).open()
    node = own_cluster.nodes[0]
    slots = {n: key_slot(f"{prefix}{n}".encode()) for n in range(50)}
    stranger = next(n for n, slot in slots.items() if own_cluster.serving(slot) is not node)
    with pytest.raises(FrontierUnavailable, match=r"node of a cluster.*redis\+cluster"):
        await RedisFrontier(node.url, prefix=f"{prefix}{stranger}", worker_id="w").open()
    slot = key_slot(f"{prefix}.1".encode())
    for one in own_cluster.nodes:
        with one.client() as client:
            client.execute_command("CLUSTER", "DELSLOTS", slot)
    with pytest.raises(FrontierUnavailable, match=f"not whole.*slot {slot}|CLUSTERDOWN"):
        await sharded([own_cluster.url] * 3, prefix, patience=1).open()
