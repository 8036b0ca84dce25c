"""One process's part in a crawl: it takes links for its spiders, learns, and acknowledges.

All spiders of a process share a session, so that one budget and one limit on requests in flight
hold for all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from semcrawl.errors import FrontierError
from semcrawl.frontier.contexts import ContextCache
from semcrawl.frontier.contract import Entry, Lease
from semcrawl.frontier.learning import SharedLearning
from semcrawl.frontier.leasebook import LeaseBook
from semcrawl.frontier.payload import LinkMemo
from semcrawl.frontier.redis_frontier import RedisFrontier
from semcrawl.frontier.shares import QueueShares
from semcrawl.links import Link, Page
from semcrawl.relevance import Outcome, Ranked, Relevance
from semcrawl.relevance.contract import Restrained
from semcrawl.relevance.learned.stopping import Patience
from semcrawl.tally import Tally
from semcrawl.urls import netloc_of, pay_level_domain

logger = logging.getLogger(__name__)

#: key of a link that goes to the front of its group
FRONT = -1e300
#: value of the seeds' group: above everything
_SEEDS = "seeds"
_SEEDS_VALUE = 1e9
#: group and value of documents that are visited again
_REVISITS = "revisits"
_REVISITS_VALUE = 1e8
_REVISIT_BATCH = 1000
#: name of the frontier's blob with the pay-level domains of the seeds
_ROOTS = "roots"


@dataclass(frozen=True, slots=True)
class SessionOptions:
    """How a session works."""

    #: requests in flight at a time, over all spiders of the process
    concurrency: int = 8
    #: fetches to learn from per further request in flight, at the start; 0 = all at once
    slow_start: int = 0
    #: URLs that this process remembers to be in the seen set (some 60 bytes each)
    known_urls: int = 500_000
    #: requests that may be sent in this run; ``None`` = no limit
    budget: int | None = None
    #: requests in a row without a target after which the crawl may end; 0 = never
    patience: int = 0
    #: what politeness counts by: ``host``, or ``domain`` (pay-level domain)
    pace_by: str = "host"
    #: seconds between looks at the seed lists
    seed_interval: float = 0.5
    #: seconds between looks at what other workers learned
    event_interval: float = 0.25
    #: seconds between two savings of what the strategy learned
    save_interval: float = 30.0
    #: seconds without work after which a crawl that has seeds ends
    idle_time: float = 0.0
    #: whether other processes may work on the same crawl
    shared: bool = False
    #: spiders of this process that belong to the crawl; it is not over before all have come
    spiders: int = 1


@dataclass(slots=True)
class _Port:
    """A spider's side: where its links go, and the list its seeds come from."""

    deliver: Callable[[Lease], None]
    plant: Callable[[list[str]], None]
    seed_key: str
    #: never end by itself: the spider waits on its list
    waits: bool = False
    #: its own seeds are in
    planted: bool = False


class CrawlSession:
    """Takes links for the spiders of this process and brings back what became of them."""

    def __init__(
        self, frontier: RedisFrontier, strategy: Relevance, options: SessionOptions
    ) -> None:
        self.frontier = frontier
        self.contexts = ContextCache(frontier)
        self.strategy = strategy
        self.options = options
        #: requests sent in this run
        self.requests = 0
        #: why the crawl cannot go on; empty while it can
        self.failure = ""
        #: digests of bodies that were read
        self.digests: set[bytes] = set()
        #: pay-level domains of the seeds: of this run, of earlier ones, of other workers
        self.roots: set[str] = set()
        self.tally = Tally()
        self.finished = asyncio.Event()
        self._ports: dict[str, _Port] = {}
        self._leases = LeaseBook()
        self._learning = SharedLearning(frontier, strategy, self.host_key)
        self._patience = Patience(options.patience) if options.patience else None
        #: ended before its time, as what is left is not expected to pay
        self.gave_up = False
        #: targets that the strategy expects among what was left at the end, if it can tell
        self.expected_left: float | None = None
        #: links that waited at the end
        self.waiting_left = 0
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._draining = False
        self._last_work = time.monotonic()
        self._opened = False
        self._opening = asyncio.Lock()
        self._heard_at = 0.0
        self._attached = 0
        #: hashes of URLs that are in the seen set; within a process 64 bits are as good as exact
        self._known: set[int] = set()
        self._seeds_at = float("-inf")
        self._shares = QueueShares()

    # -- life
    async def open(self) -> None:
        """Open the frontier and go on with what was learned before."""
        async with self._opening:
            if not self._opened:
                await self._open()
                self._opened = True

    async def _open(self) -> None:
        await self.frontier.open()
        self.roots |= await self._saved_roots()
        await self.frontier.set_values({_SEEDS: _SEEDS_VALUE})
        await self._learning.load()

    async def attach(
        self,
        queue: str,
        *,
        deliver: Callable[[Lease], None],
        plant: Callable[[list[str]], None],
        seed_key: str,
        waits: bool = False,
    ) -> None:
        """Serve a spider: links go to ``deliver``, raw seeds from its list to ``plant``."""
        await self.open()
        self._ports[queue] = _Port(deliver, plant, seed_key, waits)
        self._attached += 1
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._pump()),
                asyncio.create_task(self._keep_leases()),
            ]
        self.wake()

    def planted(self, queue: str) -> None:
        """Note that a spider's own seeds are in: from now on the crawl may be over."""
        if queue in self._ports:
            self._ports[queue].planted = True
        self.wake()

    async def detach(self, queue: str) -> None:
        """Stop serving a spider; with the last one, save what was learned and close."""
        self._ports.pop(queue, None)
        if self._ports:
            return
        self._draining = True
        tasks, self._tasks = set(self._tasks), []
        while tasks:
            # once may not do: a cancellation that comes together with a reply gets lost
            for task in tasks:
                task.cancel()
            _, tasks = await asyncio.wait(tasks, timeout=0.2)
        with contextlib.suppress(FrontierError):
            await self._leases.flush(self.frontier)
            await self._learning.save()
            await self._look_back()
            await self.frontier.close()
        self.finished.set()

    def fail(self, reason: str) -> None:
        """End the crawl: it cannot go on."""
        self.failure = self.failure or reason
        self._draining = True
        self.finished.set()

    def drain(self) -> None:
        """Hand out no more links; what is in flight goes on."""
        self._draining = True
        self.wake()

    def wake(self) -> None:
        """Look again at once whether there is something to do."""
        self._wake.set()

    @property
    def in_flight(self) -> Sequence[Lease]:
        """What is being fetched now."""
        return self._leases.in_flight

    # -- an attempt
    async def starts(self, lease: Lease) -> None:
        """Note that a link's request leaves now."""
        self.requests += 1
        self._leases.send(lease)
        await self.frontier.started([lease])

    def downloaded(self, lease: Lease) -> None:
        """Note that a link's download is over: its host may be asked again."""
        self._leases.release(lease)
        if self._leases.flying < self.options.concurrency:
            self.wake()

    async def discover(
        self,
        page: Page,
        links: Sequence[Link],
        queue: str,
        allowed: Callable[[Ranked], bool],
        barren: int = 0,
    ) -> tuple[Ranked, ...]:
        """Rank the links of a page and put those in that are new; return these."""
        links = [link for link in links if not self.knows(link.url)]
        if not links:
            return ()
        ranked = self.strategy.rank(page, links)
        chosen = [r for r in ranked if r.group is not None and allowed(r)]
        await self._learning.apply_values()
        entries = [
            Entry(
                url=r.link.url,
                host=self.host_key(r.link.url),
                queue=queue,
                group=r.group or _SEEDS,
                key=r.key,
                label=str(r.label),
                payload=LinkMemo(page.url, page.depth + 1, r.label, r.rules).pack(),
                barren=barren,
            )
            for r in chosen
        ]
        new = await self.frontier.add(entries)
        self._remember(entries, new)
        self._learning.found(entries, new)
        return tuple(r for r, is_new in zip(chosen, new, strict=True) if is_new)

    def knows(self, url: str) -> bool:
        """Whether this process knows that a URL is in the seen set."""
        return hash(url) in self._known

    async def plant(self, urls: Sequence[tuple[str, LinkMemo]], queue: str) -> int:
        """Put seeds in, before everything else; return how many were new."""
        entries = []
        for url, memo in urls:
            ranked = self.strategy.rank(Page(url, depth=-1), [Link(url, element="seed")])[0]
            group = ranked.group if ranked.group is not None else _SEEDS
            memo = replace(memo, label=ranked.label, rules=ranked.rules)
            host = self.host_key(url)
            entry = Entry(url, host, queue, group, ranked.key, memo.pack(), str(ranked.label))
            entries.append(entry)
        await self._learning.apply_values()
        new = sum(await self.frontier.add(entries))
        self.wake()
        return new

    async def widen(self, roots: Iterable[str]) -> None:
        """Add pay-level domains to :attr:`roots`, for later runs and other workers as well."""
        if not self.roots.issuperset(roots):
            self.roots.update(roots)
            self.roots |= await self._saved_roots()
            await self.frontier.remember(_ROOTS, "\n".join(sorted(self.roots)).encode())

    async def _saved_roots(self) -> set[str]:
        return set((await self.frontier.recall(_ROOTS) or b"").decode().split())

    async def revisit(self, due: Sequence[tuple[str, float, LinkMemo]], queue: str) -> int:
        """Put documents in that were had before, by priority (larger first); return how many.

        They go after the seeds and before everything else; what waits already is left alone.
        """
        await self.frontier.set_values({_REVISITS: _REVISITS_VALUE})
        entries = [
            Entry(
                url, self.host_key(url), queue, _REVISITS, -priority, memo.pack(), str(memo.label)
            )
            for url, priority, memo in due
        ]
        new = 0
        for start in range(0, len(entries), _REVISIT_BATCH):
            new += sum(await self.frontier.add_again(entries[start : start + _REVISIT_BATCH]))
        self.wake()
        return new

    async def follow_redirect(self, lease: Lease, target: str, memo: LinkMemo) -> bool:
        """Put a redirect's target in front of its group; whether it was new."""
        entry = replace(
            lease.entry,
            url=target,
            host=self.host_key(target),
            key=FRONT,
            label=str(memo.label),
            payload=memo.pack(),
        )
        return (await self.frontier.add([entry]))[0]

    async def learn(self, outcome: Outcome, queue: str) -> None:
        """Tell the strategy, here and in the other workers, what a fetch turned out to be."""
        self._shares.note(queue, target=outcome.target)
        await self._learning.learn(outcome)
        if self._patience is not None and not self.gave_up:
            self._patience.note(target=outcome.target)
            expected = getattr(self.strategy, "expected_next", None)
            left = expected(self.options.patience) if expected is not None else None
            if self._patience.is_over(left):
                self.gave_up = True
                self.drain()

    async def retry(self, lease: Lease, memo: LinkMemo, delay: float) -> None:
        """Put a link back after a failure that may pass."""
        self._leases.drop(lease)
        entry = replace(lease.entry, payload=memo.pack())
        await self.frontier.give_back([replace(lease, entry=entry)], delay=delay)
        self.wake()

    def processed(self, lease: Lease) -> None:
        """Note that an attempt is read and learned from: its place in flight is free."""
        self._leases.land(lease)
        self._last_work = time.monotonic()
        self.wake()

    def acknowledge(self, lease: Lease, *, failed: bool = False) -> None:
        """Note that all results of an attempt are written: the link is finished."""
        self._leases.end(lease, failed=failed)
        self.wake()

    def host_key(self, url: str) -> str:
        """Return what politeness counts a URL by."""
        netloc = netloc_of(url)
        if self.options.pace_by == "domain":
            return pay_level_domain(netloc.partition(":")[0])
        return netloc

    # -- inside
    def _remember(self, entries: Sequence[Entry], new: Sequence[bool]) -> None:
        """Note which URLs are surely in the seen set, so that they need not be asked for again.

        With dynamic depth a link may be refused without being seen.
        """
        if len(self._known) > self.options.known_urls:
            self._known.clear()
        refusing = self.frontier.options.dynamic_depth > 0
        self._known.update(
            hash(entry.url)
            for entry, is_new in zip(entries, new, strict=True)
            if is_new or not refusing
        )

    async def _look_back(self) -> None:
        """Note what is left and what the strategy expects of it."""
        self.waiting_left = (await self.frontier.counts(("html", "rdf"), [])).waiting
        expected = getattr(self.strategy, "expected_remaining", None)
        if expected is not None:
            self.expected_left = float(expected())

    async def _pump(self) -> None:
        """Take links whenever there is room, until everything is done."""
        try:
            while not self.finished.is_set():
                self._wake.clear()
                pause = await self._turn()
                if not self._wake.is_set():
                    with contextlib.suppress(TimeoutError):
                        async with asyncio.timeout(pause):
                            await self._wake.wait()
        except FrontierError as error:
            logger.error("%s", error)
            self.fail(str(error))
        except Exception as error:
            # whatever it is, the crawl must end with a word instead of standing still
            logger.exception("the crawl cannot go on")
            self.fail(f"{type(error).__name__}: {error}")

    async def _turn(self) -> float:
        """Do what can be done now; return after how many seconds to look again."""
        await self._leases.flush(self.frontier)
        if self.options.shared:
            await self._hear_sometimes()
        planted = await self._take_seeds()
        room = self._room()
        if room > 0 and await self._take(room):
            self._last_work = time.monotonic()
            return self.options.seed_interval
        if self._leases or planted:
            return await self._until_ready() if room > 0 else self.options.seed_interval
        if await self._is_over():
            self.finished.set()
            return 0.0
        return await self._until_ready()

    async def _take(self, room: int) -> int:
        """Take up to so many links, from the queue that pays best first; return how many."""
        left = room
        for queue in self._shares.order(self._ports):
            if left > 0:
                leases = await self.frontier.take(left, [queue])
                left -= len(leases)
                for lease in leases:
                    self._hand_out(lease)
        return room - left

    async def _until_ready(self) -> float:
        ready = await self.frontier.next_ready(list(self._ports))
        if ready is None:
            return self.options.seed_interval
        return min(max(ready, 0.001), self.options.seed_interval)

    def _room(self) -> int:
        """Return how many links may be taken now."""
        if self._draining:
            return 0
        flying = self._leases.flying
        room = self._concurrency() - flying
        if self.options.budget is not None:
            room = min(room, self.options.budget - self.requests - self._leases.unsent)
        if isinstance(self.strategy, Restrained):
            room = min(room, self.strategy.room(flying))
        return room

    def _concurrency(self) -> int:
        """Return how many requests may be in flight: few as long as little is learned."""
        if not self.options.slow_start:
            return self.options.concurrency
        return min(self.options.concurrency, 1 + self._learning.outcomes // self.options.slow_start)

    def _hand_out(self, lease: Lease) -> None:
        port = self._ports.get(lease.entry.queue)
        self._leases.hand_out(lease)
        memo = LinkMemo.unpack(lease.entry)
        self.strategy.taken([memo.redirects[0] if memo.redirects else lease.entry.url])
        if port is not None:
            port.deliver(lease)

    async def _is_over(self) -> bool:
        """Whether nothing is left to do, here and, as far as can be told, elsewhere."""
        if self._draining:
            return True
        if self._attached < self.options.spiders or not all(
            port.planted for port in self._ports.values()
        ):
            return False
        if self.options.budget is not None and self.requests >= self.options.budget:
            return True
        if any(port.waits for port in self._ports.values()):
            return self._idle_for(self.options.idle_time) and self.options.idle_time > 0
        seed_keys = [port.seed_key for port in self._ports.values()]
        counts = await self.frontier.counts(list(self._ports), seed_keys)
        if not counts.finished:
            self._last_work = time.monotonic()
            return False
        if self.options.shared:
            others = await self.frontier.counts(("html", "rdf"), [])
            if others.leased:
                return False
        return self._idle_for(self.options.idle_time)

    def _idle_for(self, seconds: float) -> bool:
        return time.monotonic() - self._last_work >= seconds

    async def _take_seeds(self) -> int:
        """Give each spider the raw seeds from its list, from time to time."""
        found = 0
        now = time.monotonic()
        if self._leases and now - self._seeds_at < self.options.seed_interval:
            return 0
        self._seeds_at = now
        for port in list(self._ports.values()):
            raw = await self.frontier.take_seeds(port.seed_key, 1000)
            if raw:
                found += len(raw)
                self._last_work = time.monotonic()
                port.plant(raw)
        return found

    async def _hear_sometimes(self) -> None:
        now = time.monotonic()
        if now - self._heard_at >= self.options.event_interval:
            self._heard_at = now
            if await self._learning.hear():
                await self._learning.apply()

    async def _keep_leases(self) -> None:
        """Prolong what takes long; save what was learned from time to time."""
        pause = min(self.frontier.options.lease_time / 3, self.options.save_interval)
        saved = time.monotonic()
        while True:
            await asyncio.sleep(pause)
            with contextlib.suppress(FrontierError):
                await self.frontier.renew(self._leases.held)
                if time.monotonic() - saved >= self.options.save_interval:
                    saved = time.monotonic()
                    await self._learning.save()
