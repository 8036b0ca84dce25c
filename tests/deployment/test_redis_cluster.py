"""The scripts of the example's Redis Cluster, run on nine real servers of loopback."""

from __future__ import annotations

import pytest

from deployment.pods import NODES, Cluster
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.server]


def test_it_survives_a_primary_and_new_addresses(cluster: Cluster) -> None:
    """Made once; a dead primary's replica takes over and writes go on; all start elsewhere."""
    cluster.make()
    cluster.script("create.sh")  # a second time nothing happens
    until(lambda: cluster.write("{lod.0}:a", "1"))
    primaries = [node for node in range(NODES) if cluster.asks(node, "ROLE")[0] == b"master"]
    assert len(primaries) == 3
    (holder,) = [node for node in primaries if cluster.asks(node, "GET", "{lod.0}:a")]
    # (not before a replica has it)
    with cluster.client(holder) as client:
        client.set("{lod.0}:a", "2")
        assert client.wait(1, 10_000) >= 1
    cluster.kill(holder)
    # by the replica that took over, though only one follows it now
    until(lambda: cluster.write("{lod.0}:b", "3"))
    assert cluster.read("{lod.0}:a") == [b"2"]
    # all are moved at once, so that nobody knows anybody's address
    for node in list(cluster.processes):
        cluster.kill(node)
    cluster.net += 100
    for node in range(NODES):
        cluster.start(node)
    for node in range(NODES):
        cluster.script("meet.sh", node)
    until(cluster.is_whole)
    until(lambda: b"2" in cluster.read("{lod.0}:a"))
    until(lambda: cluster.write("{lod.0}:c", "4"))
    # clients are told the new addresses only
    until(lambda: str(cluster.asks(0, "CLUSTER", "NODES")).count(cluster.prefix) >= NODES)
