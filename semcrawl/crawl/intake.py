"""The way into the frontier, for links of pages, seeds, re-visits and the targets of redirects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from semcrawl.crawl.batchedadds import BatchedAdds
from semcrawl.crawl.crawllimits import CrawlLimits
from semcrawl.crawl.learning import SharedLearning
from semcrawl.crawl.listgroups import LAST, LISTS, SEEDS
from semcrawl.crawl.options import SessionOptions
from semcrawl.crawl.withholding import FamilyBook, LeftOutBook, MirrorBook
from semcrawl.frontier.contract import FRONT, Entry, Frontier, Lease, Reason
from semcrawl.frontier.linkstate import LinkState
from semcrawl.links import Link, Page
from semcrawl.relevance import Label, Ranked, Relevance
from semcrawl.relevance.contract import Citing, Restrained
from semcrawl.sources.endpointsteps import QUERIES, QUERIES_VALUE
from semcrawl.web.hosts import domain_key, host_of, netloc_of, pay_level_domain

#: value of the seeds: above everything
_SEEDS_VALUE = 1e9
#: seeds that are ranked and put in together
_PLANTED_AT_ONCE = 500
#: group and value of documents that are visited again
_REVISITS = "revisits"
_REVISITS_VALUE = 1e8
_REVISIT_BATCH = 1000
#: names of the frontier's blobs with the pay-level domains and hosts of the seeds, and with those
#: that the users' own seeds name
_ROOTS, _NAMED = "roots", "named"


class Intake:
    """Ranks the links that a process finds and puts each into the frontier once.

    ``wake`` is called when links went in that may be taken at once. ``released``: see
    :class:`~semcrawl.crawl.batchedadds.BatchedAdds`.
    """

    def __init__(
        self,
        frontier: Frontier,
        strategy: Relevance,
        options: SessionOptions,
        wake: Callable[[], None],
        released: Callable[[], Sequence[Lease]],
    ) -> None:
        self.frontier = frontier
        self.strategy = strategy
        self.options = options
        self._citing = strategy if isinstance(strategy, Citing) else None
        # one that waits for answers has to know what all workers wait for
        synchronised = options.shared and isinstance(strategy, Restrained)
        self.learning = SharedLearning(
            frontier, strategy, self.host_key, synchronised=synchronised, know=self._know
        )
        #: pay-level domains of the seeds: of this run, of earlier ones, of other workers
        self.roots: set[str] = set()
        #: those of them that seeds name which come from no list: such hosts may be private
        self.named: set[str] = set()
        #: links that do not go in, for the summary
        self.left_out = LeftOutBook(frontier.left_out, options.max_left_out)
        #: links that look alike, of which perhaps none leads anywhere
        self.families = FamilyBook(frontier.withheld, frontier.options.family_tries)
        #: hosts that give the same under several names
        self.mirrors = MirrorBook(frontier.withheld, frontier.options.mirror_copies)
        #: budgets and patterns that may change while the crawl runs
        self.limits: CrawlLimits | None = None
        self.wake = wake
        self._adds = BatchedAdds(frontier, released)
        #: hashes of URLs that are in the seen set; within a process 64 bits are as good as exact
        self._known: set[int] = set()
        self._losses = 0
        #: hashes of links that the strategy dropped, with all that spoke for or against them
        self._dropped: set[int] = set()

    async def open(self) -> None:
        """Continue with the saved roots and the saved state."""
        await self.know_all_seeds()
        await self.frontier.set_values({SEEDS: _SEEDS_VALUE, LISTS: LAST})
        await self.families.open()
        await self.mirrors.open()
        await self.learning.load()

    async def flush(self) -> None:
        """Report to the frontier the links left out, and the finds of families and mirrors.

        To be awaited before what that was found in is acknowledged.
        """
        await self.left_out.flush()
        await self.families.flush()
        await self.mirrors.flush()

    async def discover(
        self,
        page: Page,
        links: Sequence[Link],
        queue: str,
        allowed: Callable[[Ranked], bool],
        barren: int = 0,
        more: Mapping[str, str] | None = None,
    ) -> tuple[Ranked, ...]:
        """Rank the links of a page and put those in that are new; return these.

        ``more``: places in a long list, by URL (:attr:`LinkState.more`).
        """
        dropped, knows = self._dropped, self.known_now()
        if self._citing is not None:
            self._citing.cited(page, links)
        links = [
            link for link in links if not knows(link.url) and _evidence(page, link) not in dropped
        ]
        if not links:
            return ()
        ranked = self.strategy.rank(page, links)
        if len(dropped) > self.options.known_urls:
            dropped.clear()
        dropped.update(_evidence(page, r.link) for r in ranked if r.group is None)
        chosen = []
        for r in ranked:
            if r.group is None:
                continue
            if allowed(r):
                chosen.append(r)
            else:
                self.left_out.add(r.link.url, Reason.OUT_OF_SCOPE)
        await self.learning.apply_values()
        family: Mapping[str, str] = {}
        if page.rdf:
            family = await self.families.name(page.url, [r.link.url for r in chosen])
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
            for r in chosen
        ]
        new = await self._adds.add(entries)
        self._remember(entries, new)
        self.learning.found(entries, new)
        return tuple(r for r, is_new in zip(chosen, new, strict=True) if is_new)

    def knows(self, url: str) -> bool:
        """Whether this process knows that a URL is in the seen set."""
        return self.known_now()(url)

    def known_now(self) -> Callable[[str], bool]:
        """Return a quicker :meth:`knows`, for the links of one page."""
        if self._losses != self.frontier.losses:  # it may be so no more
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
        """Put seeds in, before everything else; return how many were new.

        They go in by batches, between which the crawl goes on. Where some have ``priorities``
        (larger first, 0 for the others), these are their order; else it is the strategy's.
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

    async def widen(self, roots: Iterable[str], *, named: bool = False) -> None:
        """Add pay-level domains to :attr:`roots`, for later runs and other workers as well.

        ``named``: the user's own seeds gave them.
        """
        if named:  # first, so that who knows the roots knows of these
            await self._add(self.named, roots, _NAMED)
        await self._add(self.roots, roots, _ROOTS)

    async def _add(self, known: set[str], more: Iterable[str], blob: str) -> None:
        if not known.issuperset(more):
            known.update(more)
            known |= await self._saved(blob)
            await self.frontier.blobs.put(blob, "\n".join(sorted(known)).encode())

    async def know_seeds_of(self, leases: Iterable[Lease]) -> None:
        """Look up the seeds of other workers when a link lies off those that are known here.

        To be awaited before these links are asked for: scope hangs on it what their pages give.
        """
        roots = self.roots
        for lease in leases:
            host = host_of(lease.entry.url)
            # (a seed that names a private address is asked for by that name)
            seed = "p" not in lease.entry.payload
            if pay_level_domain(host) not in roots or (seed and host not in roots):
                await self.know_all_seeds()
                return

    async def know_all_seeds(self) -> None:
        """Add to :attr:`roots` and :attr:`named` what other workers added."""
        self.roots |= await self._saved(_ROOTS)
        self.named |= await self._saved(_NAMED)

    async def _saved(self, blob: str) -> set[str]:
        return set((await self.frontier.blobs.get(blob) or b"").decode(errors="replace").split())

    async def revisit(self, due: Sequence[tuple[str, float, LinkState]], queue: str) -> int:
        """Put known documents in for a re-visit, by priority (larger first); return how many.

        They go after the seeds and before everything else; what waits for that already is left
        alone.
        """
        await self.frontier.set_values({_REVISITS: _REVISITS_VALUE})
        entries = [
            Entry(
                url, self.host_key(url), queue, _REVISITS, -priority, state.pack(), str(state.label)
            )
            for url, priority, state in due
        ]
        new = 0
        for start in range(0, len(entries), _REVISIT_BATCH):
            new += sum(await self.frontier.add_again(entries[start : start + _REVISIT_BATCH]))
        self.wake()
        return new

    async def put_first(self, url: str, state: LinkState, queue: str) -> None:
        """Put an address before all others, be it known or not: a known one is visited again."""
        entry = replace(self._seed(url, state, queue), group=SEEDS, key=FRONT)
        await self.frontier.set_values({SEEDS: _SEEDS_VALUE})
        if not (await self.frontier.add([entry]))[0]:
            again = replace(LinkState.unpack(entry), revisit=True, found_by=state.way)
            if not (await self.frontier.add_again([replace(entry, payload=again.pack())]))[0]:
                await self.learning.bring_forward(url)  # it waits
        self.wake()

    async def put_queries(self, queries: Sequence[tuple[str, LinkState]], queue: str) -> int:
        """Put queries to endpoints in, in their order; return how many were new.

        They go after seeds and re-visits, and before what a strategy judges.
        """
        await self.frontier.set_values({QUERIES: QUERIES_VALUE})
        entries = [
            Entry(url, self.host_key(url), queue, QUERIES, payload=state.pack(), label=str(Label.R))
            for url, state in queries
        ]
        new = 0
        for start in range(0, len(entries), _REVISIT_BATCH):
            new += sum(await self.frontier.add(entries[start : start + _REVISIT_BATCH]))
        self.wake()
        return new

    async def follow_redirect(self, lease: Lease, target: str, state: LinkState) -> bool:
        """Put a redirect's target in front of its group; whether it was new.

        One that already waits, as a page links to it too, moves up.
        """
        if (await self.frontier.add([self._in_place(lease, target, state)]))[0]:
            self.learning.went_back(lease.entry)
            return True
        await self.learning.bring_forward(target)
        return False

    async def put_again(self, lease: Lease, target: str, state: LinkState) -> None:
        """Put an address in front of its group that was seen, and never asked for."""
        await self.frontier.add_again([self._in_place(lease, target, state)])
        self.learning.went_back(lease.entry)

    async def ask_elsewhere(self, lease: Lease, url: str, state: LinkState) -> None:
        """Put the address in that a link has on a mirror, as its own gave nothing."""
        parent = state.parent or lease.entry.url
        state = LinkState(parent, state.depth, state.label, state.rules, found_by=state.found_by)
        entry = replace(lease.entry, url=url, host=self.host_key(url), payload=state.pack())
        await self.frontier.add([entry])

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
        """Return what politeness counts a URL by."""
        return domain_key(url) if self.options.pace_by == "domain" else netloc_of(url)

    def _remember(self, entries: Sequence[Entry], new: Sequence[bool]) -> None:
        """Note which URLs are surely in the seen set, so that they need not be asked for again.

        With dynamic depth a link may be refused without being seen.
        """
        refusing = self.frontier.options.dynamic_depth > 0
        pairs = zip(entries, new, strict=True)
        self._know(entry.url for entry, is_new in pairs if is_new or not refusing)

    def _know(self, urls: Iterable[str]) -> None:
        if len(self._known) > self.options.known_urls:
            self._known.clear()
        self._known.update(map(hash, urls))


def _evidence(page: Page, link: Link) -> int:
    """Hash the evidence for dropping a link: the same style sheet is linked on every page."""
    texts = (link.title, link.anchor, link.before, link.after)
    return hash((page.rdf, link.url, link.element, link.rel, link.type, link.predicate, *texts))
