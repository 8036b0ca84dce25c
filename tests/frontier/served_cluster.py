"""A Redis Cluster on loopback: three primaries, each with a replica."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from pathlib import Path

from redis.exceptions import RedisError
from served_redis import ServedRedis

SLOTS = 16384
PRIMARIES = 3
#: milliseconds after which a node counts as failed
_NODE_TIMEOUT = 1000


class ServedCluster:
    """Six nodes; nodes 0 to 2 begin as primaries, 3 to 5 as the replicas of these."""

    def __init__(self, folder: Path, replicas: int = 1) -> None:
        self.nodes: list[ServedRedis] = []
        for number in range(PRIMARIES * (1 + replicas)):
            place = folder / f"node-{number}"
            place.mkdir(parents=True)
            self.nodes.append(_node(place))
        self._join()

    @property
    def url(self) -> str:
        """Its first node will do, and so would any."""
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def _join(self) -> None:
        first = self.nodes[0]
        share = -(-SLOTS // PRIMARIES)
        bus = {n.port: self._asked(n, "CONFIG", "GET", "cluster-port") for n in self.nodes}
        for number, node in enumerate(self.nodes):
            with node.client() as client:
                if number < PRIMARIES:
                    last = min(SLOTS, (number + 1) * share) - 1
                    client.execute_command("CLUSTER", "ADDSLOTSRANGE", number * share, last)
                if node is not first:
                    port = int(bus[first.port]["cluster-port"])
                    client.execute_command("CLUSTER", "MEET", "127.0.0.1", first.port, port)
        self._wait(lambda: all(len(self._rows(node)) == len(self.nodes) for node in self.nodes))
        for number, node in enumerate(self.nodes[PRIMARIES:]):
            of = self.name(self.nodes[number % PRIMARIES])
            self._until_done(node, "CLUSTER", "REPLICATE", of)
        self.until_whole()

    def until_whole(self) -> None:
        """Wait until all nodes agree that all slots are served, and all replicas follow.

        (A primary that was replaced holds itself for one for a moment after it has started again.)
        """
        self._wait(
            lambda: all(map(self._is_whole, self.nodes)) and len(self.primaries()) == PRIMARIES
        )

    def _is_whole(self, node: ServedRedis) -> bool:
        if self._asked(node, "CLUSTER", "INFO")["cluster_state"] != "ok":
            return False
        with node.client() as client:
            info = client.info("replication")
        rows = self._rows(node)
        if len(rows) != len(self.nodes) or any(
            "fail" in row[2] or "handshake" in row[2] for row in rows
        ):
            return False
        return info["role"] == "master" or info["master_link_status"] == "up"

    def _asked(self, node: ServedRedis, *command: object) -> dict[str, str]:
        with node.client(decode_responses=True) as client:
            reply = client.execute_command(*command)
        if isinstance(reply, dict):
            return reply
        if isinstance(reply, list):
            return dict(zip(reply[::2], reply[1::2], strict=True))
        return dict(line.split(":", 1) for line in str(reply).split() if ":" in line)

    def _rows(self, node: ServedRedis) -> list[list[str]]:
        with node.client(decode_responses=True) as client:
            return [
                line.split() for line in client.execute_command("CLUSTER", "NODES").splitlines()
            ]

    def _wait(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while True:
            with contextlib.suppress(RedisError, OSError, KeyError):
                if condition():
                    return
            assert time.monotonic() < deadline, "the cluster does not come together"
            time.sleep(0.02)

    def _until_done(self, node: ServedRedis, *command: object) -> None:
        def done() -> bool:
            with node.client() as client:
                client.execute_command(*command)
            return True

        self._wait(done)

    def name(self, node: ServedRedis) -> str:
        with node.client(decode_responses=True) as client:
            return str(client.execute_command("CLUSTER", "MYID"))

    def primaries(self) -> list[ServedRedis]:
        """Nodes that are primaries and serve slots."""
        found = []
        for node in self.nodes:
            with contextlib.suppress(RedisError, OSError):
                (own,) = [row for row in self._rows(node) if "myself" in row[2]]
                if "master" in own[2] and len(own) > 8:
                    found.append(node)
        return found

    def serving(self, slot: int) -> ServedRedis:
        """The primary of a slot."""
        with self.nodes[0].client() as client:
            for first, last, node, *_ in client.execute_command("CLUSTER", "SLOTS"):
                if first <= slot <= last:
                    return next(n for n in self.nodes if n.port == node[1])
        raise AssertionError(f"slot {slot} is not served")

    def replica_of(self, node: ServedRedis) -> ServedRedis:
        name, ports = self.name(node), list[int]()

        def found() -> bool:
            for row in self._rows(node):
                if row[3] == name and "fail" not in row[2]:
                    ports.append(int(row[1].partition("@")[0].rpartition(":")[2]))
            return bool(ports)

        self._wait(found)  # (on a busy machine nodes suspect each other for a moment)
        return next(n for n in self.nodes if n.port == ports[0])

    def promote(self, replica: ServedRedis) -> None:
        """Have a replica take over by hand."""
        with replica.client() as client:
            client.execute_command("CLUSTER", "FAILOVER")
        self._wait(lambda: replica.port in [node.port for node in self.primaries()])

    def fail_over(self, node: ServedRedis) -> None:
        """Kill a primary, wait for its replica to take over, and start it again."""
        replica = self.replica_of(node)
        node.kill()
        self._wait(lambda: replica.port in [one.port for one in self.primaries()])
        node.start()

    def begin_move(self, slot: int, source: ServedRedis, target: ServedRedis) -> None:
        """Half-move a slot."""
        with source.client() as one, target.client() as other:
            other.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", self.name(source))
            one.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", self.name(target))

    def move_keys(self, slot: int, source: ServedRedis, target: ServedRedis, most: int = 0) -> None:
        """Move a slot's keys, or some."""
        moved = 0
        with source.client() as one:
            while keys := one.execute_command("CLUSTER", "GETKEYSINSLOT", slot, most or 100):
                one.execute_command(
                    "MIGRATE", "127.0.0.1", target.port, "", 0, 10_000, "KEYS", *keys
                )
                moved += len(keys)
                if most and moved >= most:
                    return

    def end_move(self, slot: int, source: ServedRedis, target: ServedRedis) -> None:
        """Give a slot to the node that has its keys."""
        name = self.name(target)
        for node in (target, source, *self.primaries()):
            with node.client() as client:
                client.execute_command("CLUSTER", "SETSLOT", slot, "NODE", name)

    def move(self, slot: int, target: ServedRedis) -> None:
        source = self.serving(slot)
        self.begin_move(slot, source, target)
        self.move_keys(slot, source, target)
        self.end_move(slot, source, target)

    def restart(self) -> None:
        """Kill all nodes, and start them again."""
        for node in self.nodes:
            node.kill()
        for node in self.nodes:
            node.start()

    def empty(self) -> None:
        for node in self.primaries():
            with node.client() as client:
                client.flushall()

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()


def _node(folder: Path) -> ServedRedis:
    options = ["--cluster-enabled", "yes", "--cluster-node-timeout", str(_NODE_TIMEOUT)]
    options += ["--repl-diskless-sync-delay", "0", "--cluster-allow-replica-migration", "no"]
    while True:
        with contextlib.suppress(RuntimeError):  # the second port was in use
            port = random.randrange(10_000, 20_000)
            return ServedRedis(folder, *options, "--cluster-port", str(port))
