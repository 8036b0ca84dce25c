"""Puts links of pages, seeds, re-visits and targets of redirects into the frontier."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from semcrawl.crawl.crawllimits import CrawlLimits
from semcrawl.crawl.learning import SharedLearning
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.withholding import FamilyBook, LeftOutBook
from semcrawl.errors import FrontierError
from semcrawl.frontier.contract import FRONT, Entry, Frontier, Lease
from semcrawl.frontier.links import LinkState
from semcrawl.links import Link, Page, Reason
from semcrawl.reading.pool import ReadingLost
from semcrawl.relevance import Label, Ranked, Relevance
from semcrawl.relevance.contract import Ascending, Citing, Restrained
from semcrawl.relevance.rules import is_non_semantic
from semcrawl.sources.endpoints import QUERIES, QUERIES_VALUE
from semcrawl.sources.listing import FIRST, LAST, LISTS, SEEDS
from semcrawl.web.hosts import domain_key, host_of, netloc_of, pay_level_domain

T = TypeVar("T")

#: links that one call adds at most, unless a single page has more: the server does nothing else
#: during the call
_TOGETHER = 1000
#: links that are worth a call of their own
_WORTH = 32

#: links of a page, and the future that tells which of them were new
_Part = tuple[Sequence[Entry], "asyncio.Future[list[bool]]"]


class BatchedAdds:
    """Collects the links that arrive during one call, and adds them with the next.

    Each shard of the frontier has calls of its own. While the crawl ``is_busy``, a page's few links
    to hosts of another shard wait for those of other pages, for a glance's time at most.

    ``released`` returns the leases whose downloads ended since its last call: the same call to the
    frontier releases their hosts.
    """

    def __init__(
        self,
        frontier: Frontier,
        released: Callable[[], Sequence[Lease]] = lambda: (),
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._frontier = frontier
        self._is_busy = is_busy
        # in the exact order over all shards, links of one page are numbered together
        self._is_exact = not frontier.options.ahead
        self._lanes: defaultdict[int, _Lane] = defaultdict(lambda: _Lane(frontier, released))

    async def add(self, entries: Sequence[Entry], host: str = "") -> list[bool]:
        """Add the links of a page on ``host``; return for each whether it was new.

        Without a host, no link waits for others. Raises as :meth:`Frontier.add` does.
        """
        if not entries:
            return []
        frontier = self._frontier
        parts: defaultdict[int, list[int]] = defaultdict(list)
        for index, entry in enumerate(entries):
            parts[0 if self._is_exact else frontier.shard_of(entry.host)].append(index)
        waits = host and not self._is_exact and self._is_busy()
        own = frontier.shard_of(host) if waits else None
        patience = frontier.options.glance if waits else 0.0

        def put(shard: int, links: Sequence[Entry]) -> asyncio.Future[list[bool]]:
            return self._lanes[shard].add(links, 0.0 if shard == own else patience)

        if len(parts) == 1:
            return await put(next(iter(parts)), entries)
        answers = [put(shard, [entries[n] for n in part]) for shard, part in parts.items()]
        new = [False] * len(entries)
        found = await asyncio.gather(*answers, return_exceptions=True)
        for part, answer in zip(parts.values(), found, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            for index, is_new in zip(part, answer, strict=True):
                new[index] = is_new
        return new


class _Lane:
    """The additions to one shard: one call at a time."""

    def __init__(self, frontier: Frontier, released: Callable[[], Sequence[Lease]]) -> None:
        self._frontier = frontier
        self._released = released
        self._waiting: list[_Part] = []
        #: when the next call must go (``time.monotonic``), and the event that it must go sooner
        self._due = 0.0
        self._sooner = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def add(self, entries: Sequence[Entry], patience: float) -> asyncio.Future[list[bool]]:
        """Add links within ``patience`` seconds; return the future answer."""
        answer: asyncio.Future[list[bool]] = asyncio.get_running_loop().create_future()
        due = time.monotonic() + patience
        if not self._waiting or due < self._due:
            self._due = due
        self._waiting.append((entries, answer))
        if patience == 0 or sum(len(links) for links, _ in self._waiting) >= _WORTH:
            self._due = 0.0
            self._sooner.set()
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return answer

    async def _run(self) -> None:
        while self._waiting:
            await self._until_due()
            parts, links = [self._waiting.pop(0)], 0
            while self._waiting:
                links += len(parts[-1][0])
                if links + len(self._waiting[0][0]) > _TOGETHER:
                    break
                parts.append(self._waiting.pop(0))
            over = self._released()
            try:
                await self._add(parts, over)
            except FrontierError as error:
                _refuse(parts, error)
            except Exception:
                # one page's links are at fault: add page by page, so that only these fail
                for part in parts:
                    try:
                        await self._add([part], over)
                    except Exception as error:
                        _refuse([part], error)

    async def _until_due(self) -> None:
        while (left := self._due - time.monotonic()) > 0:
            self._sooner.clear()
            try:
                async with asyncio.timeout(left):
                    await self._sooner.wait()
            except TimeoutError:
                return

    async def _add(self, parts: Sequence[_Part], over: Sequence[Lease]) -> None:
        links = [entry for entries, _ in parts for entry in entries]
        new = await self._frontier.add(links, over=over)
        begin = 0
        for entries, answer in parts:
            if not answer.done():
                answer.set_result(new[begin : begin + len(entries)])
            begin += len(entries)


def _refuse(parts: Sequence[_Part], error: Exception) -> None:
    for _, answer in parts:
        if not answer.done():
            answer.set_exception(error)


#: links that are ranked, or added, in one go
_PORTION = 500
#: pause after a portion, as a multiple of the time that it took
_PAUSE = 2
#: seconds between two looks at a host whose large page is taken in, which may rest twice as long
_HELD = 0.5


class TimeShare:
    """Lets the links of large pages take no more than a third of the time that others need.

    Such pages have their turns one after the other. After each portion of links is a pause of twice
    its time, in which other pages get on; while no other host is asked, there is no pause.
    While a page waits, or holds back others, its host is not asked for more. So a host whose pages
    name ten thousand others has its links followed, and holds nobody up.
    """

    def __init__(
        self, rest: Callable[[str, float], Awaitable[None]], asks_beside: Callable[[str], bool]
    ) -> None:
        """``rest`` lets a host rest for some seconds; ``asks_beside`` whether others are asked."""
        self._rest = rest
        self._asks_beside = asks_beside
        self._turn = asyncio.Lock()
        self._closed = False

    def close(self) -> None:
        """Refuse the links of large pages from now on, as the crawl is stopped."""
        self._closed = True

    @staticmethod
    def is_large(links: Sequence[Any]) -> bool:
        """Whether a page has so many links that it takes its turn."""
        return len(links) > _PORTION

    @asynccontextmanager
    async def turn(self, host: str, links: Sequence[Any]) -> AsyncIterator[None]:
        """Wait for the turn of a page on ``host``; a page with few links need not wait."""
        if not self.is_large(links):
            yield
            return
        begun = asyncio.Event()
        holding = asyncio.create_task(self._hold(host, begun))
        try:
            async with self._turn:
                begun.set()
                yield
        finally:
            holding.cancel()

    async def portions(self, host: str, items: Sequence[T]) -> AsyncIterator[Sequence[T]]:
        """Yield portions of the links of a page on ``host``, with pauses if there are several.

        Raises ``ReadingLost`` once the crawl is stopped.
        """
        for begin in range(0, len(items), _PORTION):
            if self._closed and begin:
                raise ReadingLost("the crawl ends", ours=True)
            began = time.monotonic()
            yield items[begin : begin + _PORTION]
            if self.is_large(items) and self._asks_beside(host):
                await asyncio.sleep(_PAUSE * (time.monotonic() - began))

    async def _hold(self, host: str, begun: asyncio.Event) -> None:
        with suppress(FrontierError):  # the page's own call reports it
            while True:
                await asyncio.sleep(_HELD)
                if not begun.is_set() or self._asks_beside(host):
                    await self._rest(host, 2 * _HELD)


logger = logging.getLogger(__name__)

#: seeds that are ranked and added together
_PLANTED_AT_ONCE = 500
#: group and value of documents that are visited again
_REVISITS = "revisits"
_REVISITS_VALUE = 1e8
_BATCH = 1000
#: names of the frontier's blobs: pay-level domains and hosts of all seeds; those of the seeds that
#: the user names, not a list
_ROOTS, _NAMED = "roots", "named"
#: name of the blob with the unit of politeness that the crawl keeps, and that of older crawls
_PACE_BY, _FIRST_PACE_BY = "pace-by", "host"


class Intake:
    """Ranks the links that a process finds and puts each into the frontier once.

    It calls ``wake`` after adding links that may be taken at once. ``released`` and ``is_busy``:
    see :class:`~semcrawl.crawl.intake.BatchedAdds`; ``asks_beside``: see
    :class:`~semcrawl.crawl.intake.TimeShare`.
    """

    def __init__(
        self,
        frontier: Frontier,
        strategy: Relevance,
        options: SessionOptions,
        wake: Callable[[], None],
        released: Callable[[], Sequence[Lease]],
        is_busy: Callable[[], bool],
        asks_beside: Callable[[str], bool],
    ) -> None:
        self.frontier = frontier
        self.strategy = strategy
        self.options = options
        #: the crawl's unit of politeness, ``host`` or ``domain``
        self.pace_by = options.pace_by
        self._citing = strategy if isinstance(strategy, Citing) else None
        #: whether the strategy judges the folders that pages are in
        self.ascends = isinstance(strategy, Ascending) and strategy.ascends
        #: … and documents whose addresses are made from those of pages
        self.guesses = isinstance(strategy, Ascending) and strategy.guesses
        # a strategy that waits for outcomes has to know of the links in flight at all workers
        synchronised = options.shared and isinstance(strategy, Restrained)
        self.learning = SharedLearning(
            frontier, strategy, self.host_key, synchronised=synchronised, mark_seen=self._mark_seen
        )
        #: pay-level domains and hosts of the seeds of this run, of earlier runs, of other workers
        self.roots: set[str] = set()
        #: those that the user's own seeds name, not seeds of a list: they may be private
        self.named: set[str] = set()
        #: links that are not added, for the summary
        self.left_out = LeftOutBook(frontier.aside, options.max_left_out)
        #: families of links that look alike, of which perhaps none leads anywhere
        self.families = FamilyBook(frontier.aside, frontier.options.family_tries)
        #: budgets and patterns that may change while the crawl runs
        self.limits: CrawlLimits | None = None
        self.wake = wake
        self._adds = BatchedAdds(frontier, released, is_busy)
        #: the time that links of large pages may take
        self.share = TimeShare(frontier.pace.rest, asks_beside)
        #: 64-bit hashes of URLs in the seen set; within a process, collisions do not matter
        self._known: set[int] = set()
        self._losses = 0
        #: hashes of links that the strategy dropped, each with the evidence that it judged by
        self._dropped: set[int] = set()

    async def open(self) -> None:
        """Load the saved roots and the saved state."""
        await self.load_seeds()
        await self._keep_pace_by()
        await self.frontier.set_values({SEEDS: FIRST, LISTS: LAST})
        await self.families.open()
        await self.learning.load()

    async def _keep_pace_by(self) -> None:
        """Use the unit of politeness that the crawl began with: its links wait under such keys."""
        shared = self.frontier.shared
        kept = (await shared.get(_PACE_BY) or b"").decode(errors="replace")
        if not kept:
            kept = _FIRST_PACE_BY if self.roots else self.options.pace_by
            await shared.put(_PACE_BY, kept.encode())
        if kept != self.options.pace_by:
            logger.warning("this crawl began with SEMCRAWL_PACE_BY=%s, and keeps it", kept)
        self.pace_by = kept

    async def flush(self) -> None:
        """Report links left out and outcomes of families to the frontier.

        Await this before acknowledging the links that they come from.
        """
        await self.left_out.flush()
        await self.families.flush()

    async def discover(
        self,
        page: Page,
        links: Sequence[Link],
        queue: str,
        allowed: Callable[[Ranked], bool],
        barren: int = 0,
        more: Mapping[str, str] | None = None,
    ) -> tuple[Ranked, ...]:
        """Rank the links of a page and add the new ones; return these.

        ``more``: places in a long list, by URL (:attr:`LinkState.more`).
        """
        dropped, knows = self._dropped, self.seen_check()
        links = [
            link
            for link in links
            if not knows(link.url) and not (dropped and _evidence(page, link) in dropped)
        ]
        if 0 < self.frontier.options.dynamic_depth <= barren:
            self.leave_out(links, Reason.DYNAMIC_DEPTH)
            return ()
        if not links:
            return ()
        host = self.host_key(page.url)
        async with self.share.turn(host, links):
            return await self._discover(page, host, links, queue, allowed, barren, more)

    async def _discover(
        self,
        page: Page,
        host: str,
        links: Sequence[Link],
        queue: str,
        allowed: Callable[[Ranked], bool],
        barren: int,
        more: Mapping[str, str] | None,
    ) -> tuple[Ranked, ...]:
        dropped = self._dropped
        ranked: list[Ranked] = []
        if self.learning.rekeys:
            async for portion in self.share.portions(host, links):
                ranked += self.strategy.rank(page, portion)
        else:  # it judges at little cost, and the order of the whole page may matter
            ranked = self.strategy.rank(page, links)
        if len(dropped) > self.options.known_urls:
            dropped.clear()
        chosen = []
        for r in ranked:
            if r.group is None:
                dropped.add(_evidence(page, r.link))
                self.leave_out([r.link], Reason.PRUNED)
            elif allowed(r):
                chosen.append(r)
            else:
                self.leave_out([r.link], Reason.OUT_OF_SCOPE)
        await self.learning.apply_values()
        family: Mapping[str, str] = {}
        if page.rdf:
            family = await self.families.name(page.url, [r.link.url for r in chosen])
        if self.share.is_large(chosen):
            chosen.sort(key=lambda r: r.key)  # the best links need not wait for the other portions
        found: list[Ranked] = []
        async for some in self.share.portions(host, chosen):
            entries = [
                Entry(
                    url=r.link.url,
                    host=self.host_key(r.link.url),
                    queue=queue,
                    group=r.group or SEEDS,
                    key=r.key,
                    label=str(r.label),
                    payload=LinkState.of_link(
                        page,
                        r,
                        family=family.get(r.link.url, ""),
                        more=more.get(r.link.url, "") if more else "",
                    ).pack(),
                    barren=barren,
                )
                for r in some
            ]
            new = await self._adds.add(entries, host)
            self._remember(entries, new)
            self.learning.found(entries, new)
            found += (r for r, is_new in zip(some, new, strict=True) if is_new)
        return tuple(found)

    @property
    def counts_votes(self) -> bool:
        """Whether the strategy wants all links of a page, as votes (:meth:`cite`)."""
        return self._citing is not None

    def cite(self, page: Page, links: Sequence[Link]) -> None:
        """Give the strategy all links of a page, including those to known pages, as votes."""
        if self._citing is not None:
            self._citing.cited(page, links)

    def leave_out(self, links: Iterable[Link], reason: Reason) -> None:
        """Count links that are not added; images and the like have a reason of their own."""
        for link in links:
            self.left_out.add(link.url, Reason.OTHER_TYPE if is_non_semantic(link) else reason)

    def has_seen(self, url: str) -> bool:
        """Whether this process knows that a URL is in the seen set."""
        return self.seen_check()(url)

    def seen_check(self) -> Callable[[str], bool]:
        """Return a faster :meth:`has_seen`, for the links of one page."""
        if self._losses != self.frontier.losses:  # the frontier may have forgotten URLs
            self._losses = self.frontier.losses
            self._known.clear()
        known = self._known
        return lambda url: hash(url) in known

    async def plant(
        self,
        urls: Sequence[tuple[str, LinkState]],
        queue: str,
        priorities: Mapping[str, float] | None = None,
    ) -> int:
        """Put seeds before everything else; return how many were new.

        They are added in batches, between which the crawl goes on. With ``priorities``, the largest
        comes first, and a seed without one has 0; otherwise the strategy gives the order.
        """
        new = 0
        for start in range(0, len(urls), _PLANTED_AT_ONCE):
            entries = [
                self._seed(url, state, queue, priorities)
                for url, state in urls[start : start + _PLANTED_AT_ONCE]
            ]
            await self.learning.apply_values()
            new += sum(await self.frontier.add(entries))
            self.wake()
        return new

    def _seed(
        self, url: str, state: LinkState, queue: str, priorities: Mapping[str, float] | None = None
    ) -> Entry:
        ranked = self.strategy.rank(Page(url, depth=-1), [Link(url, element="seed")])[0]
        group = ranked.group if ranked.group is not None else SEEDS
        state = replace(state, label=ranked.label, rules=ranked.rules)
        key, host = ranked.key, self.host_key(url)
        if priorities:
            group, key = SEEDS, -priorities.get(url, 0.0)
        return Entry(url, host, queue, group, key, state.pack(), str(ranked.label))

    async def add_roots(self, roots: Iterable[str], *, named: bool = False) -> None:
        """Add to :attr:`roots`, for later runs and other workers as well.

        ``named``: the user's own seeds name them.
        """
        if named:  # first: a worker that has loaded the roots must know these too
            await self._add(self.named, roots, _NAMED)
        await self._add(self.roots, roots, _ROOTS)

    async def _add(self, known: set[str], more: Iterable[str], blob: str) -> None:
        if not known.issuperset(more):
            known.update(more)
            known |= await self._saved(blob)
            await self.frontier.shared.put(blob, "\n".join(sorted(known)).encode())

    async def load_seeds_for(self, leases: Iterable[Lease]) -> None:
        """Load other workers' seeds if a link lies outside the known roots.

        Await this before fetching these links: the scope of the links on their pages depends on it.
        """
        roots = self.roots
        for lease in leases:
            host = host_of(lease.entry.url)
            # a private host is fetched only if a seed names it
            seed = "p" not in lease.entry.payload
            if pay_level_domain(host) not in roots or (seed and host not in roots):
                await self.load_seeds()
                return

    async def load_seeds(self) -> None:
        """Add to :attr:`roots` and :attr:`named` what other workers added."""
        self.roots |= await self._saved(_ROOTS)
        self.named |= await self._saved(_NAMED)

    async def _saved(self, blob: str) -> set[str]:
        return set((await self.frontier.shared.get(blob) or b"").decode(errors="replace").split())

    async def revisit(self, due: Sequence[tuple[str, float, LinkState]], queue: str) -> int:
        """Add known documents for a re-visit, largest priority first; return how many.

        They come after the seeds and before everything else. Those that already wait for a re-visit
        keep their place.
        """
        await self.frontier.set_values({_REVISITS: _REVISITS_VALUE})
        entries = [
            Entry(
                url, self.host_key(url), queue, _REVISITS, -priority, state.pack(), str(state.label)
            )
            for url, priority, state in due
        ]
        return await self._by_batches(partial(self.frontier.add, again=True), entries)

    async def put_first(self, url: str, state: LinkState, queue: str) -> None:
        """Put an address before all others; a known one is visited again."""
        entry = replace(self._seed(url, state, queue), group=SEEDS, key=FRONT)
        await self.frontier.set_values({SEEDS: FIRST})
        if not (await self.frontier.add([entry]))[0]:
            again = replace(LinkState.unpack(entry), revisit=True, found_by=state.way)
            if not (await self.frontier.add([replace(entry, payload=again.pack())], again=True))[0]:
                await self.learning.bring_forward(url)  # it waits already
        self.wake()

    async def put_queries(self, queries: Sequence[tuple[str, LinkState]], queue: str) -> int:
        """Add queries to SPARQL endpoints, in their order; return how many were new.

        They come after seeds and re-visits, and before the links that a strategy judges.
        """
        await self.frontier.set_values({QUERIES: QUERIES_VALUE})
        entries = [
            Entry(url, self.host_key(url), queue, QUERIES, payload=state.pack(), label=str(Label.R))
            for url, state in queries
        ]
        return await self._by_batches(self.frontier.add, entries)

    async def _by_batches(
        self, add: Callable[[Sequence[Entry]], Awaitable[list[bool]]], entries: Sequence[Entry]
    ) -> int:
        new = 0
        for start in range(0, len(entries), _BATCH):
            new += sum(await add(entries[start : start + _BATCH]))
        self.wake()
        return new

    async def follow_redirect(self, lease: Lease, target: str, state: LinkState) -> bool:
        """Put a redirect's target in front of its group; return whether it was new.

        A target that already waits moves up.
        """
        if (await self.frontier.add([self._in_place(lease, target, state)]))[0]:
            self.learning.forget(lease.entry)
            return True
        await self.learning.bring_forward(target)
        return False

    async def put_again(self, lease: Lease, target: str, state: LinkState) -> None:
        """Put an address that was seen but never fetched in front of its group."""
        await self.frontier.add([self._in_place(lease, target, state)], again=True)
        self.learning.forget(lease.entry)

    def _in_place(self, lease: Lease, target: str, state: LinkState) -> Entry:
        return replace(
            lease.entry,
            url=target,
            host=self.host_key(target),
            key=FRONT,
            label=str(state.label),
            payload=state.pack(),
        )

    def host_key(self, url: str) -> str:
        """Return the key that politeness groups URLs by: the host, or the pay-level domain."""
        return domain_key(url) if self.pace_by == "domain" else netloc_of(url)

    def _remember(self, entries: Sequence[Entry], new: Sequence[bool]) -> None:
        """Note which URLs are certainly in the seen set, to spare calls to the frontier.

        With dynamic depth the frontier may refuse a link without adding it to the seen set.
        """
        refusing = self.frontier.options.dynamic_depth > 0
        pairs = zip(entries, new, strict=True)
        self._mark_seen(entry.url for entry, is_new in pairs if is_new or not refusing)

    def _mark_seen(self, urls: Iterable[str]) -> None:
        if len(self._known) > self.options.known_urls:
            self._known.clear()
        self._known.update(map(hash, urls))


def _evidence(page: Page, link: Link) -> int:
    """Hash what a strategy judges a link by: every page may link to the same style sheet."""
    texts = (link.title, link.anchor, link.before, link.after)
    return hash((page.rdf, link.url, link.element, link.rel, link.type, link.predicate, *texts))
