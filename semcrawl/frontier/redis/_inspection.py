"""Reads a whole frontier on Redis, and fills an empty one."""

from __future__ import annotations

import heapq
import re
from collections import defaultdict
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
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
    RowKind,
    WaitingLink,
)
from semcrawl.frontier.links import digest, pack_blob, text
from semcrawl.frontier.redis.connection import Server
from semcrawl.frontier.redis.packing import PLACE_BYTES, Keys, unpack_element, unpack_member

_PAGE = 1000
#: counts links of queues, and seeds on lists
Count = Callable[[Sequence[str], Sequence[str]], Awaitable[Counts]]


class RedisInspector:
    """Reads a frontier's keys, or fills them (:class:`~semcrawl.frontier.contract.Inspector`)."""

    def __init__(self, server: Server, keys: Keys, count: Count) -> None:
        self._server = server
        self._keys = keys
        self._count = count

    @property
    def _redis(self) -> Any:
        """Return the client, whose replies are bytes."""
        return self._server.redis

    async def state(self, top: int = 20, seed_keys: Sequence[str] = ()) -> FrontierState:
        """Return totals, the ``top`` fullest hosts, the ``top`` best groups, and all leases.

        ``seed_keys`` names the lists whose seeds are counted.
        """
        queues = [queue async for queue in self.rows("queue")]
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
            leases=[lease async for lease in self._leases()],
            withheld=await self._number_withheld(),
            left_out=int(totals.get(b"left", 0)),
        )

    def rows(self, kind: RowKind) -> AsyncIterator[Any]:
        """All rows of a kind."""
        match kind:
            case "waiting":
                return self._waiting()
            case "failed":
                return self._failed()
            case "withheld":
                return self._withheld_links()
            case "family":
                return self._families()
            case "seen":
                return self._seen()
            case _:
                return self._few(kind)

    async def _waiting(self) -> AsyncIterator[WaitingLink]:
        async for queue in self.rows("queue"):
            async for group, hosts in self._group_hosts(queue):
                for host in hosts:
                    for chunk in await self._chunks(queue, host, group):
                        for element in await self._redis.lrange(chunk, 0, -1):
                            yield unpack_element(self._keys.root, queue, host, group, element)

    async def _leases(self) -> AsyncIterator[LeaseState]:
        now = await self._now()
        async for queue in self.rows("queue"):
            for name in ("leases", "delayed"):
                for lease, due in await self._redis.zrange(
                    self._keys[f"{name}:{queue}"], 0, -1, withscores=True
                ):
                    record = await self._redis.hget(self._keys["lease"], lease)
                    if record is not None:
                        _, *fields, worker = self._unpack("lease", record, 6)
                        link = self._link(queue, fields)
                        yield LeaseState(text(lease), text(worker), link, due / 1e6 - now)

    async def _failed(self) -> AsyncIterator[WaitingLink]:
        async for queue in self.rows("queue"):
            key = f"failed:{queue}"
            async for _, record in self._redis.hscan_iter(self._keys[key], count=_PAGE):
                yield self._link(queue, self._unpack(key, record, 4))

    async def _withheld_links(self) -> AsyncIterator[WaitingLink]:
        for family in sorted(await self._redis.smembers(self._keys["withholding"])):
            key = f"withheld:{text(family)}"
            async for _, record in self._redis.hscan_iter(self._keys[key], count=_PAGE):
                queue, *fields = self._unpack(key, record, 5)
                yield self._link(text(queue), fields)

    async def _families(self) -> AsyncIterator[tuple[str, dict[str, str]]]:
        start = self._keys["family:"]
        pattern = re.sub(r"([\[\]*?\\])", r"\\\1", start) + "*"
        async for key in self._redis.scan_iter(pattern, count=_PAGE):
            fields = sorted((await self._redis.hgetall(key)).items())
            yield text(key).removeprefix(start), {text(n): text(v) for n, v in fields}

    async def _seen(self) -> AsyncIterator[list[bytes]]:
        buckets = int(await self._redis.hget(self._keys.meta, "buckets") or 1)
        for number in range(buckets):
            yield sorted(await self._redis.hkeys(self._keys[f"seen:{number}"]))

    async def _few(self, kind: RowKind) -> AsyncIterator[Any]:
        read, keys = self._redis.hgetall, self._keys
        found: Iterable[Any]
        match kind:
            case "queue":
                found = sorted(text(queue) for queue in await self._redis.smembers(keys["queues"]))
            case "leased":
                found = [lease.link async for lease in self._leases()]
            case "total":
                values = zip(TOTALS, await self._redis.hmget(keys.meta, TOTALS), strict=True)
                found = ((name, float(value)) for name, value in values if value is not None)
            case "value":
                groups = await read(keys["values"])
                found = ((text(group), float(value)) for group, value in groups.items())
            case "pace":
                paces = ((host, *pace.split()) for host, pace in (await read(keys["pace"])).items())
                found = ((text(host), (int(delay) / 1e6, int(n))) for host, delay, n in paces)
            case "yield":
                found = _yields(await read(keys["turns"]), await read(keys["yield"]))
            case _:
                states = await read(keys["state"])
                found = ((text(n), b) for n, b in states.items() if not n.endswith(b":event"))
        for row in found:
            yield row

    async def load(self, kind: RowKind, rows: Sequence[Any]) -> None:
        """Fill an empty frontier with rows of another."""
        keys = self._keys
        match kind:
            case "waiting" | "failed":
                await self._load_links(rows, failed=kind == "failed")
            case "seen":
                await self._server.run("see", [[name for digests in rows for name in digests]])
            case "total":
                await self._set(keys.meta, {n: f"{v:.17g}" for n, v in rows if n in TOTALS})
            case "family":
                for name, fields in rows:
                    await self._set(keys["family:" + name], dict(fields))
            case "yield":
                for host, one in rows:
                    name = host.encode("utf-8", "surrogatepass")
                    if any(numbers := (one.fetches, one.targets, one.barren)):
                        await self._set(keys["yield"], {name: " ".join(map(str, numbers))})
                    if one.turn:
                        await self._set(keys["turns"], {name: f"{one.turn:.17g}"})
            case _:
                raise ValueError(f"rows of this kind are not loaded: {kind}")

    async def _load_links(self, links: Sequence[WaitingLink], *, failed: bool) -> None:
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

    async def _set(self, key: str, fields: Any) -> None:
        if fields:
            await self._server.ask("hset", key, mapping=fields)

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the structures; return one line per difference."""
        lines = await self._server.run("audit", [])
        return [line.decode("utf-8", "backslashreplace") for line in lines]

    async def _number_withheld(self) -> int:
        families = await self._redis.smembers(self._keys["withholding"])
        keys = [self._keys[f"withheld:{text(family)}"] for family in families]
        return sum([await self._redis.hlen(key) for key in keys])

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


def _yields(
    turns: Mapping[bytes, bytes], found: Mapping[bytes, bytes]
) -> Iterator[tuple[str, HostYield]]:
    for host in turns.keys() | found.keys():
        fetches, targets, barren = map(int, found.get(host, b"0 0 0").split())
        yield text(host), HostYield(fetches, targets, barren, float(turns.get(host, 0)))
