"""Reads a whole frontier on Redis, and fills an empty one."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgpack

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import (
    TOTALS,
    Counts,
    FrontierState,
    GroupState,
    HostState,
    HostYield,
    LeaseState,
    WaitingLink,
)
from semcrawl.frontier.links import digest, pack_blob, text
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.leftout import RedisAside
from semcrawl.frontier.redis.packing import PLACE_BYTES, Keys, unpack_element, unpack_member

_PAGE = 1000
#: counts links of queues, and seeds on lists
Count = Callable[[Sequence[str], Sequence[str]], Awaitable[Counts]]


class RedisInspector:
    """Reads a frontier's keys (:class:`~semcrawl.frontier.contract.Inspector`)."""

    def __init__(self, server: Server, keys: Keys, count: Count) -> None:
        self._server = server
        self._keys = keys
        self._count = count
        self._withheld = RedisAside(server, keys)

    @property
    def _redis(self) -> Any:
        """Return the client, whose replies are bytes."""
        return self._server.redis

    async def queues(self) -> list[str]:
        """Names of all queues that ever held links."""
        return sorted(text(queue) for queue in await self._redis.smembers(self._keys["queues"]))

    async def state(self, top: int = 20, seed_keys: Sequence[str] = ()) -> FrontierState:
        """Return totals, the ``top`` fullest hosts, the ``top`` best groups, and all leases.

        ``seed_keys`` names the lists whose seeds are counted.
        """
        queues = await self.queues()
        totals = await self._redis.hgetall(self._keys.meta)
        now = await self._now()
        return FrontierState(
            counts=await self._count(queues, seed_keys),
            done=int(totals.get(b"done", 0)),
            failed=int(totals.get(b"failed", 0)),
            expired=int(totals.get(b"expired", 0)),
            created=float(totals.get(b"created", now)),
            now=now,
            hosts=[h for queue in queues for h in await self._hosts(queue, top, now)],
            groups=[g for queue in queues for g in await self._groups(queue, top)],
            leases=[lease async for lease in self.leases()],
            withheld=sum(family.links for family in await self._withheld.withheld()),
            left_out=int(totals.get(b"left", 0)),
        )

    async def done(self) -> int:
        """Links finished so far."""
        return int(await self._redis.hget(self._keys.meta, "done") or 0)

    async def waiting(self) -> AsyncIterator[WaitingLink]:
        """All waiting links, group by group, in their order."""
        for queue in await self.queues():
            async for group, hosts in self._group_hosts(queue):
                for host in hosts:
                    for chunk in await self._chunks(queue, host, group):
                        for element in await self._redis.lrange(chunk, 0, -1):
                            yield unpack_element(self._keys.root, queue, host, group, element)

    async def leases(self) -> AsyncIterator[LeaseState]:
        """All leases, and links given back with a delay, whose worker is empty."""
        now = await self._now()
        for queue in await self.queues():
            for name in ("leases", "delayed"):
                for lease, due in await self._redis.zrange(
                    self._keys[f"{name}:{queue}"], 0, -1, withscores=True
                ):
                    record = await self._redis.hget(self._keys["lease"], lease)
                    if record is not None:
                        _, *fields, worker = self._unpack("lease", record, 6)
                        link = self._link(queue, fields)
                        yield LeaseState(text(lease), text(worker), link, due / 1e6 - now)

    async def failed(self) -> AsyncIterator[WaitingLink]:
        """The failed links kept for a requeue."""
        for queue in await self.queues():
            key = f"failed:{queue}"
            async for _, record in self._redis.hscan_iter(self._keys[key], count=_PAGE):
                yield self._link(queue, self._unpack(key, record, 4))

    async def withheld(self) -> AsyncIterator[WaitingLink]:
        """The withheld links."""
        for family in sorted(await self._redis.smembers(self._keys["withholding"])):
            key = f"withheld:{text(family)}"
            async for _, record in self._redis.hscan_iter(self._keys[key], count=_PAGE):
                queue, *fields = self._unpack(key, record, 5)
                yield self._link(text(queue), fields)

    async def families(self) -> list[tuple[str, dict[str, str]]]:
        """The families of links with their stored fields, sorted by name."""
        start = self._keys["family:"]
        pattern = re.sub(r"([\[\]*?\\])", r"\\\1", start) + "*"
        found = {}
        async for key in self._redis.scan_iter(pattern, count=_PAGE):
            fields = sorted((await self._redis.hgetall(key)).items())
            found[text(key).removeprefix(start)] = {text(n): text(v) for n, v in fields}
        return sorted(found.items())

    async def seen(self) -> AsyncIterator[list[bytes]]:
        """Digests of all URLs ever added, in sorted portions."""
        buckets = int(await self._redis.hget(self._keys.meta, "buckets") or 1)
        for number in range(buckets):
            yield sorted(await self._redis.hkeys(self._keys[f"seen:{number}"]))

    async def values(self) -> dict[str, float]:
        """Values of all groups."""
        values = await self._redis.hgetall(self._keys["values"])
        return {text(group): float(value) for group, value in values.items()}

    async def paces(self) -> dict[str, tuple[float, int]]:
        """Crawl delay (seconds) and concurrency of hosts that have their own."""
        paces = {}
        for host, pace in (await self._redis.hgetall(self._keys["pace"])).items():
            delay, concurrency = pace.split()
            paces[text(host)] = int(delay) / 1e6, int(concurrency)
        return paces

    async def yields(self) -> dict[str, HostYield]:
        """The counts of each host, where fairness keeps them."""
        yields = {}
        turns = await self._redis.hgetall(self._keys["turns"])
        found = await self._redis.hgetall(self._keys["yield"])
        for host in sorted(turns.keys() | found.keys()):
            fetches, targets, barren = map(int, found.get(host, b"0 0 0").split())
            turn = float(turns.get(host, 0))
            yields[text(host)] = HostYield(fetches, targets, barren, turn)
        return yields

    async def totals(self) -> dict[str, float]:
        """Totals since the crawl began, and the virtual time of hosts' turns."""
        names = TOTALS
        values = await self._redis.hmget(self._keys.meta, names)
        return {n: float(v) for n, v in zip(names, values, strict=True) if v is not None}

    async def states(self) -> dict[str, bytes]:
        """The crawl's blobs by name, learned states of strategies among them."""
        states = await self._redis.hgetall(self._keys["state"])
        return {text(n): blob for n, blob in states.items() if not n.endswith(b":event")}

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the structures; return one line per difference."""
        lines = await self._server.run("audit", [])
        return [line.decode("utf-8", "backslashreplace") for line in lines]

    async def _now(self) -> float:
        seconds, micros = await self._redis.time()
        return float(seconds) + float(micros) / 1e6

    async def _hosts(self, queue: str, top: int, now: float) -> list[HostState]:
        fullest: list[tuple[int, bytes]] = []
        async for host, waiting in self._redis.hscan_iter(
            self._keys[f"hosts:{queue}"], count=_PAGE
        ):
            heapq.heappush(fullest, (int(waiting), host))
            if len(fullest) > top:
                heapq.heappop(fullest)
        states = []
        for waiting, host in sorted(fullest, reverse=True):
            busy = await self._redis.hlen(self._keys["busy:" + text(host)])
            till = await self._redis.zscore(self._keys["cooling"], host)
            cooling = max(float(till) / 1e6 - now, 0.0) if till else 0.0
            states.append(HostState(text(host), queue, waiting, busy, cooling))
        return states

    async def _groups(self, queue: str, top: int) -> list[GroupState]:
        states = []
        best = await self._redis.zrange(
            self._keys[f"order:{queue}"], 0, top - 1, desc=True, withscores=True
        )
        for name, value in best:
            group = text(name)
            info = await self._redis.hget(self._keys[f"groups:{queue}"], name)
            hosts = await self._hosts_of(queue, group, info or b"G")
            pipe = self._redis.pipeline(transaction=False)
            for host in hosts:
                for chunk in await self._chunks(queue, host, group):
                    pipe.llen(chunk)
            waiting = sum(await pipe.execute())
            states.append(GroupState(group, queue, float(value), waiting, len(hosts)))
        return states

    async def _chunks(self, queue: str, host: str, group: str) -> list[str]:
        """Return the keys of the chunks of a host's group, in order."""
        part = f"{queue}:{host}/{group}"
        entries = await self._redis.zrange(self._keys[f"more:{part}"], 0, -1)
        numbers = (entry[PLACE_BYTES:].decode() for entry in entries)
        return [*(self._keys[f"chunk:{number}"] for number in numbers), self._keys[f"wait:{part}"]]

    async def _group_hosts(self, queue: str) -> AsyncIterator[tuple[str, list[str]]]:
        done: set[bytes] = set()
        async for name, info in self._redis.hscan_iter(self._keys[f"groups:{queue}"], count=_PAGE):
            if name not in done:
                done.add(name)
                yield text(name), await self._hosts_of(queue, text(name), info)

    async def _hosts_of(self, queue: str, group: str, info: bytes) -> list[str]:
        if info.startswith(b"L"):
            return [text(info[1 + PLACE_BYTES :])]
        return [text(h) for h in await self._redis.hkeys(self._keys[f"place:{queue}:{group}"])]

    def _unpack(self, key: str, record: bytes, length: int) -> list[bytes]:
        try:
            fields = msgpack.unpackb(record, raw=True)
        except (ValueError, msgpack.UnpackException):
            fields = None
        if not isinstance(fields, list) or len(fields) != length:
            raise FrontierCorrupt(f"the frontier's key {self._keys[key]!r} holds a wrong record")
        return fields

    def _link(self, queue: str, fields: Sequence[bytes]) -> WaitingLink:
        host, group, key, member = fields
        root = self._keys.root
        return unpack_member(root, queue, text(host), text(group), float(key), member)


class RedisImporter:
    """Fills an empty frontier (:class:`~semcrawl.frontier.contract.Importer`)."""

    def __init__(self, server: Server, keys: Keys) -> None:
        self._server = server
        self._keys = keys

    async def links(self, links: Sequence[WaitingLink], *, failed: bool = False) -> None:
        """Add links at their former places, or as failed links."""
        parts: defaultdict[tuple[str, str, str], list[Any]] = defaultdict(list)
        aside: list[list[Any]] = []
        places = [[link.sequence, link.tries] for link in links]
        for index, link in enumerate(links):
            entry = link.entry
            entry.check()
            what = [entry.key, entry.label, digest(entry.url), pack_blob(entry)]
            where = (entry.queue, entry.host, entry.group)
            parts[where] += [index, *what]
            aside.append([*where, *what, *places[index]])
        if failed:
            await self._server.run("restore_failed", [aside])
        else:
            args = [[[*part, links] for part, links in parts.items()], False, places]
            await self._server.run("add", args)

    async def totals(self, totals: Mapping[str, float]) -> None:
        """Set the totals of the former frontier."""
        await self._set(self._keys.meta, {n: f"{value:.17g}" for n, value in totals.items()})

    async def host_yield(self, host: str, numbers: Sequence[int], turn: float) -> None:
        """Set a host's counts and its turn."""
        name = host.encode("utf-8", "surrogatepass")
        if any(numbers):
            await self._set(self._keys["yield"], {name: " ".join(map(str, numbers))})
        if turn:
            await self._set(self._keys["turns"], {name: f"{turn:.17g}"})

    async def family(self, name: str, fields: Mapping[str, str]) -> None:
        """Set the state of a family of links."""
        await self._set(self._keys["family:" + name], dict(fields))

    async def seen(self, digests: Sequence[bytes]) -> None:
        """Add digests of URLs to the seen set."""
        await self._server.run("see", [list(digests)])

    async def all_seen(self, number: int) -> None:
        """Do nothing: the number of seen URLs is that of the digests."""

    async def _set(self, key: str, fields: Any) -> None:
        if fields:
            await self._server.ask("hset", key, mapping=fields)
