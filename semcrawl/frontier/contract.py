"""The contract of the frontier, which every backend meets.

Each worker has one :class:`Frontier` object. Callers are typed on these Protocols and know no
backend. Whoever writes one implements

- :class:`Frontier`: a worker's life (open, beat, close), which has the links itself and the others
  as its parts:
- :class:`LinkQueue`: links come in, are leased in order and at their hosts' pace, and end;
- :class:`Pace`: when a host or an address may be asked, by whomever;
- :class:`Aside`: links that are not fetched, and why;
- :class:`Shared`: a store by name with claims, the log of events, seeds, statements;
- :class:`Inspector`: rows of all of it, out and in.

What a method means is told here; a backend's docstring tells only what is special there. Whatever
follows from other methods is a function: :func:`table_of` and :func:`requeue_all` here,
``transfer`` for whole frontiers, ``crawl.claims`` for what one worker does at a time. Errors are
those of :mod:`semcrawl.errors`. ``tests/frontier/conformance`` holds a backend to it, and the model
test to the order and to the life of a link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite
from typing import Any, Literal, Protocol, Self, TypeVar

from semcrawl.errors import UsageError
from semcrawl.links import Reason
from semcrawl.relevance.families import Family, Verdict
from semcrawl.settings.reader import setting

__all__ = [
    "FRONT",
    "NONE_SKIPPED",
    "QUEUES",
    "AddressLimits",
    "Announce",
    "Aside",
    "Counts",
    "CrawlEvent",
    "Entry",
    "Frontier",
    "FrontierState",
    "HostFacts",
    "Inspector",
    "Lease",
    "LeftOutLinks",
    "LinkQueue",
    "Pace",
    "Reason",
    "Rest",
    "RowKind",
    "Shared",
    "SkippedHosts",
    "WaitingLink",
    "Withheld",
    "requeue_all",
    "table_of",
]


F = TypeVar("F", bound="Frontier")


@dataclass(frozen=True, slots=True)
class FrontierOptions:
    """Options of a frontier.

    Order and pace are those of the worker that opened the crawl last, for all workers. Raises
    ``UsageError`` for invalid values.
    """

    #: seconds after which a lease expires
    lease_time: float = setting("SEMCRAWL_LEASE_TIME")
    #: seconds between request starts on a host without a pace of its own
    delay: float = setting("SEMCRAWL_CRAWL_DELAY")
    #: requests at a time on a host without a pace of its own
    concurrency: int = setting("SEMCRAWL_CONCURRENCY_PER_HOST")
    #: order of hosts whose best groups have equal values: ``off`` = smallest key, then first in;
    #: ``equal`` = in turn; ``yield`` = in turn, hosts with more targets more often
    fairness: Literal["off", "equal", "yield"] = setting("SEMCRAWL_FAIRNESS")
    #: SWSE's penalty of barren domains (sources.md T.8): a host rests after this many consecutive
    #: fetches without a target (0 = never) …
    penalty_after: int = setting("SEMCRAWL_PENALTY_AFTER")
    #: … for this many seconds
    penalty_time: float = setting("SEMCRAWL_PENALTY_TIME")
    #: BioCrawler's dynamic depth (sources.md T.8): links with this many consecutive documents
    #: without a target above them are not added (0 = all are); see :attr:`Entry.barren`
    dynamic_depth: int = setting("SEMCRAWL_DYNAMIC_DEPTH")
    #: URLs that the seen set stores exactly (0 = all); later ones go into a Bloom filter, which
    #: needs a tenth of the memory but rarely mistakes a new URL for a seen one
    exact_limit: int = setting("SEMCRAWL_SEEN_EXACT")
    #: capacity of the Bloom filter in URLs; fixed when a crawl begins
    seen_capacity: int = 1_000_000_000
    #: error rate of the full Bloom filter; fixed when a crawl begins
    seen_error: float = 1e-6
    #: most waiting links (0 = no limit); beyond it the last links of the worst group are dropped
    max_waiting: int = setting("SEMCRAWL_MAX_WAITING")
    #: barren links of a family (:mod:`semcrawl.relevance.families`) after which the others are
    #: withheld (0 = never)
    family_tries: int = setting("SEMCRAWL_FAMILY_TRIES")
    #: most failed links kept for ``requeue``
    max_failed: int = 100_000
    #: seconds to wait for an absent server before raising ``FrontierUnavailable``
    patience: float = setting("SEMCRAWL_REDIS_PATIENCE")
    #: result of :meth:`Frontier.next_ready`, in seconds, while hosts only wait for downloads
    poll: float = 0.1
    #: links that a take may draw from a shard although earlier links of the same value and key wait
    #: in another (0 = none); above 0, a worker's own changes to a shard need no new glance at it
    ahead: int = 16
    #: seconds for which a worker trusts a glance at a shard's best link, and few links to a shard
    #: wait for more; a shard without ready links is trusted for at most twice as long
    glance: float = 0.15
    #: most links in one list on the server, which reads and moves it as a whole
    chunk: int = 64
    #: seconds to wait for the server's answer
    timeout: float = 30.0

    def __post_init__(self) -> None:
        """Raise ``UsageError`` for what the table of settings lets through."""
        if not self.lease_time > 0:
            raise UsageError(f"lease time must be more than 0 s, not {self.lease_time}")


#: whether a host comes before others (1), among them (0) or after them (-1)
Rank = Literal[1, 0, -1]
#: turns of hosts that come first and last; they stay where they are
TURNS_OF_RANKS: Mapping[Rank, float] = {1: -1e308, 0: 0.0, -1: 1e307}

#: the queues of a crawl, named after their spiders
QUEUES = ("html", "rdf")
#: key of a link that goes to the front of its group
FRONT = -1e300


@dataclass(slots=True, unsafe_hash=True)
class Entry:  # not frozen, for the speed of making one; nothing changes it
    """A link as it is added to the frontier."""

    url: str
    #: the key that politeness groups by: a host name with port, or a pay-level domain
    host: str
    #: name of the spider that fetches it: ``html`` or ``rdf``
    queue: str
    #: name of the strategy's group
    group: str
    key: float = 0.0
    #: data that returns with the lease; small, and serialisable by msgpack
    payload: Mapping[str, Any] = field(default_factory=dict)
    #: the strategy's label, at most 255 bytes; waiting links are counted by it
    label: str = ""
    #: number of consecutive documents without a target above it (BioCrawler's dynamic depth)
    barren: int = 0

    def check(self) -> None:
        """Raise ``ValueError`` if a frontier cannot store or order the link."""
        if ":" in self.queue or not self.queue:
            raise ValueError(f"a queue's name is not empty and has no colon: {self.queue!r}")
        if "/" in self.host or not self.host:
            raise ValueError(f"a host is not empty and has no slash: {self.host!r}")
        if not isfinite(self.key):
            raise ValueError(f"a key is a finite number, not {self.key}")
        if len(self.label.encode()) > 255:
            raise ValueError("a label has at most 255 bytes")


@dataclass(frozen=True, slots=True)
class Lease:
    """A leased link. ``id`` names the lease, not the link; it is void once the lease expired.

    To change a link before :meth:`LinkQueue.give_back`, replace its entry:
    ``dataclasses.replace(lease, entry=…)``. It keeps its place among links of equal key.
    """

    id: str
    entry: Entry
    #: number of earlier leases that expired or were given back
    tries: int = 0
    #: whether its host is held until :meth:`LinkQueue.started` (or the end of the download)
    held: bool = False
    #: whether it probes if its host, which was down, answers again
    probe: bool = False
    #: id of the attempt (64 bits); a repetition after the worker was killed keeps it
    attempt: int = 0
    #: whether it is such a repetition; the first try may have written results
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class WaitingLink:
    """A waiting link, its place among links of equal key, and its tries."""

    entry: Entry
    sequence: int
    tries: int
    #: number of the first take that was never acknowledged; ``None`` if there was none
    lost: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes of the frontier, counted from its structures."""

    waiting: int
    leased: int
    seeds: int
    seen: int
    hosts: int
    #: waiting links by :attr:`Entry.label`
    waiting_by_label: Mapping[str, int] = field(default_factory=dict)
    #: links dropped so far because the frontier was full
    dropped: int = 0

    @property
    def finished(self) -> bool:
        """Whether no link waits or is leased, and no seed is left."""
        return not (self.waiting or self.leased or self.seeds)


@dataclass(frozen=True, slots=True)
class SkippedHosts:
    """Hosts that a take skips; false if there are none."""

    #: hosts that gave nothing yet
    untried: bool = False
    #: pay-level domains
    domains: Sequence[str] = ()

    def __bool__(self) -> bool:
        """Whether any host is skipped."""
        return self.untried or bool(self.domains)


NONE_SKIPPED = SkippedHosts()
#: links that one call moves, as other workers wait for it
AT_ONCE = 1000
#: how a take is published: whatever was not read, or only if everything was
Announce = Literal["eager", "strict"]


@dataclass(frozen=True, slots=True)
class AddressLimits:
    """The pace of an address, over all workers and host names."""

    #: seconds between the starts of two requests; 0 = addresses have no pace
    delay: float = setting("SEMCRAWL_ADDRESS_DELAY")
    #: requests at a time
    concurrency: int = 8
    #: whether private addresses have a pace too
    private: bool = setting("SEMCRAWL_PACE_PRIVATE_ADDRESSES")


@dataclass(frozen=True, slots=True)
class Rest:
    """The rest of a host that is down."""

    #: whether it was down for longer than the crawl's patience
    over: bool
    #: seconds until it is asked again
    seconds: float
    #: seconds since it went down
    down_for: float
    #: reason in the first report, one word
    why: str
    #: a URL that it served before; empty if none
    good: str


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What a frontier knows of a host."""

    #: why it is down, in one word; empty if it is not
    down: str
    #: a URL that it served in any run; empty if none
    good: str


class Pace(Protocol):
    """When hosts and addresses may be asked; all workers keep to it together.

    Every request has its turn here: those for links by :meth:`LinkQueue.take` and
    :meth:`LinkQueue.started`, others (a robots.txt, a JSON-LD context) as *errands*. Each method is
    atomic and may be repeated.
    """

    async def set(
        self, host: str, *, delay: float, concurrency: int = 1, at_least: bool = False
    ) -> None:
        """Set a host's crawl delay (seconds between request starts) and its concurrency.

        With ``at_least`` a longer present delay stays.
        """

    async def rest(self, host: str, seconds: float) -> None:
        """Let a host rest for at least ``seconds`` from now, as it asked for, whatever its pace."""

    async def rank(self, host: str, rank: Rank) -> None:
        """Put a host's links before those of others (1), after them (-1), or among them (0).

        So it is whatever the values of their groups. Inside a group that several hosts share, the
        host comes first or last; such a group keeps its place.
        """

    async def reward(self, host: str, *, target: bool) -> None:
        """Count a fetch on the host, and whether it gave a target (for fairness policies).

        If it is repeated after a lost connection, it may count twice.
        """

    # -- errands keep the same delay as links; their names are unique in this worker
    async def errand(
        self, host: str, errand: str, *, instead_of: Lease | None = None
    ) -> float | None:
        """Ask for a host's next turn; return the seconds after which to ask again.

        0 means that the turn is now; the host is then held as for a taken link. ``None`` means that
        the host has no delay, so nothing is counted. Errands queue first in, first out, and links
        wait for them. An errand that neither asks again nor ends is forgotten after the lease time.

        ``instead_of`` is a leased link, not sent, that cedes its host's turn to the errand.
        """

    async def errand_starts(self, host: str, errand: str) -> bool:
        """Note that an errand's request starts now; return whether its turn still held."""

    async def errand_over(self, host: str, errand: str, *, sent: bool = True) -> None:
        """Note that an errand is over; without ``sent`` its host needs no delay."""

    # -- each address has a pace besides that of each host, as many names may share a server
    async def address(
        self, host: str, address: str, name: str, limits: AddressLimits, *, rests: bool
    ) -> float:
        """Return 0 if a host may send to its address now, else the seconds until its turn.

        A host whose address is busy gets its next turn reserved. ``name`` identifies the request
        for :meth:`address_over`. With ``rests``, no link of the host is taken before its turn: so
        ten thousand names of one address cost no more than as many hosts with a crawl delay.
        """

    async def address_over(self, address: str, name: str) -> None:
        """Note that a request is over."""

    # -- the links of a host that is down wait; after each rest, one is leased as a probe
    async def down(
        self, host: str, why: str, *, step: float, patience: float, untried_patience: float
    ) -> Rest:
        """Report that a host is down or its probe failed; its next rest is ``step`` s longer.

        The crawl waits for it for ``patience`` seconds, or for ``untried_patience`` if it never
        answered; an infinite patience does not count the time. ``why`` is one word. A report while
        it rests changes nothing.
        """

    async def up(self, host: str, *, step: float, good: str = "") -> tuple[float, float]:
        """Report that a host answered; its next rest is ``step`` s shorter.

        ``good`` is a URL that it served. Return the seconds of rest that remain, and the seconds
        that it was down, 0 if it was not.
        """

    async def known(self, host: str) -> HostFacts:
        """Return what is known of a host."""

    async def note_dead(self) -> None:
        """Count a host as dead; from the second one on, untried hosts come last."""

    async def set_aside(self, host: str, limit: int = AT_ONCE) -> list[WaitingLink]:
        """Move up to ``limit`` waiting links of a host to the failed ones; return them."""
        ...


def micros(seconds: float) -> int:
    """Return a time in microseconds, the unit of the backends."""
    return round(seconds * 1e6)


def checked_pace(host: str, delay: float, concurrency: int) -> int:
    """Return a crawl delay in microseconds; raise ``ValueError`` for an invalid pace."""
    if delay < 0 or not isfinite(delay) or concurrency < 1:
        raise ValueError(f"no pace for {host}: delay {delay} s, concurrency {concurrency}")
    return micros(delay)


def checked_rest(seconds: float) -> int:
    """Return a time to rest in microseconds; raise ``ValueError`` for an invalid one."""
    if seconds < 0 or not isfinite(seconds):
        raise ValueError(f"no time to rest: {seconds} s")
    return micros(seconds)


class LinkQueue(Protocol):
    """The links of a crawl, in the strategy's order, at the pace of their hosts.

    A link is *added* once, as the seen set decides. It waits in its group, is *taken* under a
    lease, and *ended*; if the lease expires it waits again. The session and its intake call this.

    Each method is atomic unless it says otherwise: no other worker sees half of it. The backend
    repeats a call after a lost connection: ``add`` and the takes then return the first reply, and
    the others change nothing. All raise ``FrontierUnavailable`` when the backend is away for too
    long, ``FrontierCorrupt`` for data that no frontier wrote, and ``ValueError`` for values that
    :meth:`Entry.check` refuses.
    """

    def shard_of(self, host: str) -> int:
        """Return the number of the shard that has a host's links; 0 without shards.

        One call for links of several shards takes as many calls of servers.
        """
        ...

    # -- in and out
    async def add(
        self, entries: Sequence[Entry], *, again: bool = False, over: Sequence[Lease] = ()
    ) -> list[bool]:
        """Add links; return for each whether it was new, that is, not in the seen set.

        With ``again``, for re-visits, seen links are added too, unless they wait already. The
        finished downloads ``over`` are released as well, at once or with the next take.
        """

    async def take(
        self,
        limit: int,
        queues: Sequence[str],
        *,
        over: Sequence[Lease] = (),
        skip: SkippedHosts = NONE_SKIPPED,
        announce: Announce | None = None,
    ) -> list[Lease] | None:
        """Lease up to ``limit`` links of these queues from hosts that may be asked now.

        Over all given queues and all such hosts, except those to ``skip``, the order is largest
        group value (0 for a group without one), then smallest key, then first in. Before that, the
        downloads ``over`` are released as by :meth:`release`. A shard that gives no link may
        release its downloads with the next take.

        With ``announce`` the taken links are published as one event in the same step. If it is
        ``strict``, the result is ``None`` when the log has events that this worker has not read, as
        they may change the best links; a worker does not read the event of its own such take.
        """

    async def next_ready(self, queues: Sequence[str]) -> float | None:
        """Return the seconds until a take may give a link; ``None`` if none waits.

        0 if a link can be taken now. If hosts only wait for downloads to end, perhaps another
        worker's, it is a short time after which to ask again.
        """

    # -- the life of a lease
    async def started(self, leases: Sequence[Lease]) -> list[bool]:
        """Note that these requests start now; return for each whether its lease still held.

        A request whose lease expired must not be sent, as another worker may have the link. The
        host's crawl delay counts from here, or from the end of a download that ends soon after;
        without this call it counts from :meth:`release`. A host with a crawl delay is held
        between ``take`` and this call. Without a delay the backend is not called.
        """

    async def release(self, leases: Sequence[Lease], *, sent: bool = True) -> None:
        """Note that the downloads are over, which frees their hosts' concurrency.

        Without ``sent``, no request is sent for these links, so their hosts may be asked at once;
        this is not needed without a delay. The leases stay until :meth:`end`.
        """

    async def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Renew leases for the full lease time; return for each whether it still held."""

    async def end(self, leases: Sequence[Lease], *, failed: bool = False) -> None:
        """Acknowledge links that are finished and whose results are written.

        If a lease expired, its link waits again, and a second call to the backend withdraws it.
        Another worker may take it in between. With ``failed``, the links could not be fetched;
        those whose leases hold are kept for :meth:`requeue`.
        """

    async def give_back(self, leases: Sequence[Lease], *, delay: float = 0.0) -> None:
        """Give back links with their present entries; they can be taken after ``delay`` seconds."""

    async def requeue(self, queues: Sequence[str], limit: int = AT_ONCE) -> int:
        """Put up to ``limit`` failed links back into their groups; return how many.

        :func:`requeue_all` puts back all.
        """

    # -- order
    async def set_values(self, values: Mapping[str, float]) -> None:
        """Set values of groups, larger first; they hold from the next ``take`` on."""

    async def rekey(self, keys: Sequence[tuple[Entry, float]]) -> None:
        """Set keys of links that still wait.

        In portions, each of which is atomic.
        """

    async def counts(self, queues: Sequence[str], seed_keys: Sequence[str]) -> Counts:
        """Count the links of these queues and the seeds on these lists, atomically."""


@dataclass(frozen=True, slots=True)
class CrawlEvent:
    """An event of the log: a published outcome, or taken links."""

    #: whether this worker published it
    own: bool
    #: the outcome; ``None`` for a take
    outcome: bytes | None
    #: queue of the outcome's new links
    queue: str
    taken: Sequence[Entry]
    #: whether the next event was published in the same call
    more: bool = False


class Shared(Protocol):
    """What all workers of a crawl share, and its later runs find again.

    It is a store by name with claims, a log of events, lists of seeds and a table of statements.
    Each method is atomic and may be repeated.
    """

    #: where it is, for messages about what cannot be read
    place: str

    # -- kept by name
    async def get(self, name: str) -> bytes | None:
        """Return what is kept under a name and has not expired, or ``None``."""

    async def put(self, name: str, content: bytes, *, seconds: float = inf) -> None:
        """Keep something under a name, for good or for some time, instead of what was there."""

    async def claim(self, name: str, seconds: float) -> bool:
        """Claim a name for some time, or renew the claim; return whether this worker has it.

        0 s end this worker's claim.
        """

    # -- the log of all workers' outcomes and synchronised takes; each worker has a position in it
    async def exchange(
        self, *events: bytes, queue: str = "", limit: int = 1000
    ) -> list[CrawlEvent]:
        """Publish outcomes, then return up to ``limit`` events since those returned last.

        ``queue`` is that of the outcomes' new links. The result includes this worker's own events.
        Events that cannot be decoded are skipped with a warning. Repeating it after a lost
        connection does not publish twice. About the last 100,000 events are kept.
        """

    async def save_state(self, name: str, state: bytes) -> None:
        """Save the learned state together with this worker's position in the log."""

    async def load_state(self, name: str) -> bytes | None:
        """Return the saved state, or ``None``; :meth:`exchange` continues from its position."""

    # -- lists of raw seeds, to which other programs may append
    async def push_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Append raw seeds (bare URLs or JSON) to a list.

        If it is repeated after a lost connection, it may append twice; the seen set then refuses
        the second.
        """

    async def take_seeds(self, key: str, limit: int) -> list[str]:
        """Move seeds from the head of a list to this worker's pending ones; return them.

        The pending seeds of a worker that ends return to the list.
        """

    async def done_seeds(self, key: str, seeds: Sequence[str]) -> None:
        """Forget pending seeds that are in the frontier now."""

    # -- statements of kept documents
    async def add_statements(
        self, document: int, statements: Sequence[int], limit: int, *, remember: bool = True
    ) -> list[bool]:
        """Add the statements of a document, or look them up; return for each whether it is new.

        Documents and statements are 64-bit hashes, the same in all workers. A statement is new
        unless another document made it before, so a call may be repeated. About ``limit``
        statements are kept. The oldest are forgotten first, and then count as new again.
        """
        ...


@dataclass(frozen=True, slots=True)
class Withheld:
    """A family of links (:mod:`semcrawl.relevance.families`) of which some are withheld."""

    document: str
    pattern: str
    #: number of withheld links
    links: int
    #: number of requested links, none of which was useful
    asked: int

    @classmethod
    def of(cls, facts: Mapping[str, Any], links: int) -> Self:
        """Decode the stored state of a family with this number of withheld links."""
        document, pattern = (field_text(facts.get(name, b"")) for name in ("document", "pattern"))
        asked = sum(int(facts.get(name, 0)) for name in ("barren", "unknown", "useful"))
        return cls(document, pattern, links, asked)


@dataclass(frozen=True, slots=True)
class LeftOutLinks:
    """Numbers of links that a crawl left out, by reason and host (with port), or withholds."""

    hosts: Mapping[Reason, Counter[str]] = field(default_factory=dict)
    #: the first link that was left out, by reason and host
    first: Mapping[tuple[Reason, str], str] = field(default_factory=dict)
    #: whether there were more than the limit of counted links
    more: bool = False
    #: the families with withheld links, those with most first
    withheld: Sequence[Withheld] = ()

    @classmethod
    def of(
        cls,
        numbers: Mapping[bytes, Any],
        first: Mapping[bytes, bytes],
        withheld: Iterable[Withheld],
        *,
        more: bool,
    ) -> Self:
        """Decode the numbers and first links that a backend stores by reason and host."""
        counts: dict[Reason, Counter[str]] = {}
        for name, number in numbers.items():
            reason, host = _reason_and_host(name)
            counts.setdefault(reason, Counter())[host] = int(number)
        links = {_reason_and_host(n): url.decode("utf-8", "replace") for n, url in first.items()}
        return cls(counts, links, more, most_first(withheld))

    @property
    def most(self) -> tuple[str, int]:
        """A link to the out-of-scope host with most links, and the number of its links.

        An empty URL and 0 if there is none.
        """
        hosts = self.hosts.get(Reason.OUT_OF_SCOPE, Counter())
        if not hosts:
            return "", 0
        links, host = max((number, host) for host, number in hosts.items())
        return self.first.get((Reason.OUT_OF_SCOPE, host), ""), links


def most_first(found: Iterable[Withheld]) -> tuple[Withheld, ...]:
    """Return the families with withheld links, those with most first."""
    return tuple(sorted((f for f in found if f.links), key=lambda f: (-f.links, f.document)))


def field_text(value: Any) -> str:
    """Return a stored field of a family as text."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else str(value)


def reason_in(name: bytes | None) -> Reason | None:
    """Decode a stored reason with its host; ``None`` stays."""
    return None if name is None else _reason_and_host(name)[0]


def _reason_and_host(name: bytes) -> tuple[Reason, str]:
    reason, _, host = name.decode("utf-8", "replace").partition(" ")
    return Reason(reason), host


class Aside(Protocol):
    """Links that are not fetched: left out for a reason, or withheld with their barren family.

    Left out ones are counted, each once, for all workers and runs. Withheld ones wait apart: the
    session reports the outcomes of links, and restores those whose reason is gone. A take withholds
    links of barren families by itself. Each method is atomic and may be repeated, except that
    :meth:`left_out` reads in portions.
    """

    async def leave_out(self, links: Sequence[tuple[str, Reason]], limit: int) -> None:
        """Note links with the reasons for leaving them out; atomic and repeatable.

        At most ``limit`` links are counted; later ones are ignored.
        """

    async def left_out(self) -> LeftOutLinks:
        """Return the links left out so far, and the families with withheld links.

        Links that another page brought in are not left out. It reads in portions: a link added
        meanwhile may be counted.
        """

    async def reason(self, url: str) -> Reason | None:
        """Return why a link was left out; ``None`` if it was not, or not counted.

        A link that another page brought in later may still have one.
        """

    async def know_families(self, families: Mapping[str, Family]) -> None:
        """Register families of links by name, before their links are added."""

    async def judge_families(self, answers: Sequence[tuple[str, Verdict, str]]) -> bool:
        """Record verdicts on families.

        Each answer is the family's name, the verdict, and the target of a redirect if it was known
        already. Return whether :meth:`restore` has work to do.
        """

    async def restore(self, limit: int) -> int:
        """Restore up to ``limit`` links that need not be withheld now; return how many."""


#: names of the totals that move with a frontier
TOTALS = ("done", "failed", "expired", "dropped", "turn")


@dataclass(frozen=True, slots=True)
class HostState:
    """A host with waiting links."""

    host: str
    queue: str
    waiting: int
    #: requests in flight
    busy: int
    #: seconds until its crawl delay or rest is over; 0 = over
    cooling: float


@dataclass(frozen=True, slots=True)
class HostYield:
    """The counts of one host."""

    fetches: int
    targets: int
    #: number of latest consecutive fetches without a target
    barren: int
    #: virtual time of its next turn, for fairness between hosts
    turn: float


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group with waiting links."""

    group: str
    queue: str
    value: float
    waiting: int
    hosts: int


@dataclass(frozen=True, slots=True)
class LeaseState:
    """A link that a worker leases."""

    id: str
    worker: str
    link: WaitingLink
    #: seconds until it waits again
    expires: float


@dataclass(frozen=True, slots=True)
class FrontierState:
    """A frontier at one time."""

    counts: Counts
    done: int
    failed: int
    #: number of leases that expired so far
    expired: int
    #: seconds since the epoch by the backend's clock
    created: float
    now: float
    hosts: Sequence[HostState]
    groups: Sequence[GroupState]
    leases: Sequence[LeaseState]
    #: number of withheld links
    withheld: int
    #: links left out: out of scope, excluded, too deep
    left_out: int


class ShardDigests(list[bytes]):
    """Digests of URLs that one shard of a frontier has seen."""

    def __init__(self, digests: Iterable[bytes], shard: str) -> None:
        super().__init__(digests)
        #: number of the shard, from 0, and of all shards: ``1/3``
        self.shard = shard


#: kinds of a frontier's rows; those that have a name are pairs of it and the content
RowKind = Literal[
    "queue",  # the name of a queue that ever held links
    "total",  # one of TOTALS, and its value
    "value",  # a group, and its value
    "pace",  # a host with a pace of its own, and its crawl delay (seconds) with its concurrency
    "yield",  # a host, and its HostYield, where fairness keeps it
    "family",  # the name of a family of links, and its stored fields
    "waiting",  # a WaitingLink; they come group by group, in their order
    "leased",  # the WaitingLink of a lease, or of a link that was given back with a delay
    "failed",  # a WaitingLink that is kept for a requeue
    "withheld",  # a WaitingLink
    "seen",  # digests of URLs ever added, a sorted portion; ShardDigests of a frontier in shards
    "state",  # the name of a blob (learned states of strategies among them), and its content
]


class Inspector(Protocol):
    """Reads a frontier for ``semcrawl frontier`` and for the export, and fills an empty one.

    Nothing is locked: a running crawl changes the frontier while it is read.
    """

    async def state(self, top: int = 20, seed_keys: Sequence[str] = ()) -> FrontierState:
        """Return totals, the ``top`` fullest hosts, the ``top`` best groups, and all leases.

        ``seed_keys`` names the lists whose seeds are counted.
        """

    def rows(self, kind: RowKind) -> AsyncIterator[Any]:
        """All rows of a kind, without order unless :data:`RowKind` tells one."""

    async def load(self, kind: RowKind, rows: Sequence[Any]) -> None:
        """Fill an empty frontier with rows of another; atomic in each shard, and may be repeated.

        Kinds are ``waiting`` and ``failed`` (which keep their places), ``yield``, ``family``,
        ``seen`` (after all links), and ``total``, at the end also with the number of URLs as
        ``seen``. The other rows come in by the methods that workers use. No worker uses the
        frontier meanwhile. Digests do not tell their shard: all shards keep them, unless they come
        in :class:`ShardDigests` of the same number of shards.
        """

    async def audit(self) -> list[str]:
        """Compare all sums and orders with the structures; return one line per difference.

        For tests and tools: it reads all links, and blocks the backend meanwhile.
        """


async def requeue_all(frontier: LinkQueue, queues: Sequence[str]) -> int:
    """Put all failed links back into their groups; return how many."""
    moved = 0
    while portion := await frontier.requeue(queues):
        moved += portion
    return moved


async def table_of(inspector: Inspector, kind: RowKind) -> dict[str, Any]:
    """Return the rows of a kind, which have a name and a content, by name."""
    return dict(sorted([row async for row in inspector.rows(kind)]))


class Frontier(LinkQueue, Protocol):
    """A worker's frontier: the queue of links, and the state that all workers share."""

    #: name of the crawl
    name: str
    #: name of this worker (:func:`semcrawl.frontier.workers.worker_name`)
    worker_id: str
    #: the options in force; :meth:`open` may slow down their pace
    options: FrontierOptions

    @property
    def losses(self) -> int:
        """How often the backend may have lost its last writes.

        After that, a link that a worker remembers as added may be missing.
        """

    #: when hosts and addresses may be asked
    pace: Pace
    #: what is kept by name, claims, events, seeds and statements
    shared: Shared
    #: links that are not fetched
    aside: Aside
    #: reads all of it, or fills an empty one
    inspector: Inspector

    async def open(self, *, make: bool = True) -> None:
        """Connect, check the format, and give back leases of workers that have certainly ended.

        Raises ``FrontierUnavailable`` when the backend is away or, without ``make``, has no such
        crawl, and ``FrontierCorrupt`` for another format.
        """

    async def close(self) -> None:
        """Disconnect, and give back this worker's unfinished leases at once.

        If the backend is away, they expire.
        """

    def hurry(self) -> None:
        """Wait only a moment for an absent backend from now on, as the crawl ends."""

    async def heartbeat(self, seconds: float) -> list[str]:
        """Count as active for ``seconds`` from now; return the names of other active workers."""


class Opened:
    """A frontier that is open in an ``async with`` block."""

    async def __aenter__(self: F) -> F:
        """Open."""
        await self.open()
        return self

    async def __aexit__(self: Frontier, *exc: object) -> None:
        """Close."""
        await self.close()
