"""An attempt to fetch a link: the state that session, spider and middlewares share."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from scrapy.http import Request, Response

from semcrawl.frontier.contract import Frontier, Lease
from semcrawl.frontier.links import LinkState
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import address_of, header_text
from semcrawl.relevance import Outcome, Ranked
from semcrawl.sources.negotiation import Wish
from semcrawl.web.vocabulary import Kind

#: key of ``Request.meta`` for the :class:`Attempt`; only requests of links have one
ATTEMPT = "semcrawl_attempt"
#: keys of ``Request.meta`` that :class:`~semcrawl.middlewares.attempts.AttemptMiddleware` sets
STARTED = "semcrawl_started"
ENDED = "semcrawl_ended"
RECEIVED = "semcrawl_received"
#: marks the request for a robots.txt and the requests that its redirects lead to
ROBOTS = "semcrawl_robots"
#: the :class:`~semcrawl.crawl.dispatch.Turn` of a request that belongs to no link
TURN = "semcrawl_turn"
#: coroutine function that the download handler awaits once connected, before it sends
LEAVES = "semcrawl_leaves"
#: Scrapy's key of the seconds until the head of a response had arrived; absent if none has
LATENCY = "download_latency"
#: coroutine function that the download handler awaits with the server's IP address
AT_ADDRESS = "semcrawl_at_address"
#: seconds for the first answer of a server that never answered
FIRST_ANSWER = "semcrawl_first_answer"
#: set by the content-type filter when it stopped the download
FILTERED = "semcrawl_filtered"
#: set when the response was to be written to a WARC file and could not be
NOT_RECORDED = "semcrawl_unkept"
#: headers that records keep to tell publishers of
_SERVED = (b"Vary", b"Access-Control-Allow-Origin", b"Content-Language", b"Link")
#: characters of a header that records keep
_LONGEST = 1000


class Stage(Enum):
    """How far a link has come in this process."""

    #: the spider has the link; its request is not sent yet
    WAITING = auto()
    #: the request is sent; the link is in flight until its response is read
    SENT = auto()
    #: the response is read, or waits for other documents: the link is no longer in flight, but
    #: some of its results are not written yet
    READ = auto()
    #: acknowledged, or back in the frontier
    OVER = auto()


@dataclass(slots=True)
class Attempt:
    """One try to fetch a link, from the lease to its acknowledgement.

    :class:`~semcrawl.crawl.attempt.LeaseBook` makes it and keeps its ``stage``. The spider reads
    the response. :class:`~semcrawl.crawl.acknowledgement.Acknowledgement` counts the items.
    """

    lease: Lease
    #: the URL of this request
    url: str = field(init=False)
    #: state of the link, which the spider may change before the link goes back
    link_state: LinkState = field(init=False)
    stage: Stage = Stage.WAITING
    #: what its request asks for
    wish: Wish = Wish.PAGE
    #: when the spider got the link (``time.monotonic``)
    handed_out_at: float = field(default_factory=time.monotonic)
    #: its response has come, and this program reads it
    downloaded: bool = False
    #: ``meta`` of its request
    meta: dict[str, Any] = field(default_factory=dict, repr=False)
    #: SHA-256 of the body, hexadecimal; empty until the body is read
    digest: str = ""
    #: the link joins the failed links, for another try
    failed: bool = False
    #: this attempt must not acknowledge the link: another request or a later run fetches it, or
    #: it is recorded as abandoned
    handled_elsewhere: bool = False
    #: items on their way through the pipelines
    items: int = 0
    #: the acknowledgement counts its items
    counted: bool = False
    #: the base spider's callback has read the response
    read: bool = False
    #: the base spider's callback has yielded all its items
    complete: bool = False
    #: the document was a target
    is_target: bool = False
    #: the document had new links
    new_links: bool = False
    #: the callback has ended: no more items come
    ended: bool = False

    def __post_init__(self) -> None:
        """Unpack the state of the link."""
        self.url = self.lease.entry.url
        self.link_state = LinkState.unpack(self.lease.entry)

    def begin_again(self) -> None:
        """Forget the last request and how its response was read; another may be sent."""
        # ``meta`` holds the attempt: in this cycle a large body would outlive its request
        self.meta = {}
        self.failed = self.handled_elsewhere = self.counted = False
        self.read = self.complete = self.ended = False
        self.items = 0

    @property
    def link_url(self) -> str:
        """The URL of the link, before any redirect."""
        return self.link_state.link_url(self.url)

    def expects_rdf(self, queue: str) -> bool:
        """Whether the link is expected to lead to RDF; ``queue`` is that of its spider."""
        return queue == "rdf" or self.link_state.expects_rdf(self.url)

    def request_parts(self, queue: str) -> tuple[dict[str, str], dict[str, Any]]:
        """Return the headers of the link's request, validators included, and its ``meta``."""
        state = self.link_state
        expected = self.expects_rdf(queue)
        self.wish = state.asks_for(self.url, rdf=expected)
        headers = {"Accept": self.wish.header or state.wish}
        if state.etag:
            headers["If-None-Match"] = state.etag
        if state.last_modified:
            headers["If-Modified-Since"] = state.last_modified
        return headers, {
            ATTEMPT: self,
            "depth": state.depth,
            "dont_redirect": True,
            "dont_retry": True,
            "handle_httpstatus_all": True,
            "retry_times": state.retries,
        }

    def record(self, outcome: FetchOutcome, response: Response | None = None) -> FetchRecord:
        """Make the record of this attempt, with what the response says if there is one."""
        started = float(self.meta.get(STARTED, 0.0))
        ended = float(self.meta.get(ENDED) or time.time())
        record = FetchRecord(
            url=self.url,
            outcome=outcome,
            final_url=self.url,
            parent_url=self.link_state.parent,
            depth=self.link_state.depth,
            label=str(self.link_state.label),
            rules=self.link_state.rules,
            started_at=started or time.time(),
            elapsed=max(0.0, ended - started) if started else 0.0,
            revisit=self.link_state.revisit,
            found_by=self.link_state.way,
            attempt=self.lease.attempt,
            repeated=self.lease.repeated,
        )
        if response is not None:
            record.status = response.status
            record.content_type = content_type(response)[:_LONGEST]
            record.bytes = int(self.meta.get(RECEIVED, len(response.body)))
            record.extra = {
                "etag": _validator(response, b"ETag"),
                "last_modified": _validator(response, b"Last-Modified"),
                "content_hash": self.digest,
                "served": _served(response),
            }
        return record

    def interrupted(self, reason: str, response: Response | None = None) -> list[FetchRecord]:
        """Record an attempt that this program does not finish; no record if it was not sent."""
        if STARTED not in self.meta:
            return []
        record = self.record(FetchOutcome.INTERRUPTED, response)
        record.errors = reason
        return [record]

    def outcome(
        self,
        kind: Kind | None,
        response: Response | None = None,
        *,
        target: bool = False,
        duplicate: bool = False,
        new_links: tuple[Ranked, ...] = (),
        led_to: str = "",
        relevance: float | None = None,
        gain: float | None = None,
    ) -> Outcome:
        """Return the outcome of the fetch for the strategy, and note its main facts here."""
        self.is_target = target
        self.new_links = bool(new_links)
        return Outcome(
            url=self.link_url,
            kind=kind,
            target=target,
            final_url=self.url,
            parent=self.link_state.parent,
            depth=self.link_state.depth,
            status=response.status if response is not None else None,
            label=self.link_state.label,
            rules=self.link_state.rules,
            group=self.lease.entry.group,
            duplicate=duplicate,
            new_links=new_links,
            family=self.link_state.family,
            led_to=led_to or self._place(kind),
            relevance=relevance,
            gain=gain,
        )

    def _place(self, kind: Kind | None) -> str:
        """Name the document, as other links may lead to it too: final URL or a page's digest."""
        if self.link_state.redirects:
            return self.url
        return self.digest if kind is Kind.HTML else ""


def attempt_of(request: Request | None) -> Attempt | None:
    """Return the attempt of a request, bound to its ``meta``; ``None`` if it is no link's."""
    attempt: Attempt | None = request.meta.get(ATTEMPT) if request is not None else None
    if attempt is not None and request is not None:
        attempt.meta = request.meta
    return attempt


def lease_of(request: Request) -> Lease | None:
    """Return the lease of a link's request; ``None`` for any other request."""
    attempt: Attempt | None = request.meta.get(ATTEMPT)
    return attempt.lease if attempt is not None else None


def errand(url: str, headers: dict[str, str], seconds: float, most: int) -> Request:
    """Make a request that fetches no link: whatever answers is its answer, and it is sent once.

    ``seconds`` and ``most``, in bytes, bound the download.
    """
    meta = {
        "dont_redirect": True,
        "dont_retry": True,
        "handle_httpstatus_all": True,
        "download_timeout": seconds,
        "download_maxsize": most,
    }
    return Request(url, headers=headers, dont_filter=True, meta=meta)


def _validator(response: Response, name: bytes) -> str:
    """Return a validator for re-visits; empty if it is too long, as half a validator is wrong."""
    value = header(response, name)
    return value if len(value) <= _LONGEST else ""


def _served(response: Response) -> str:
    """Return the headers that tell how a document is served, one per line."""
    lines = (
        f"{name.decode()}: {header_text(values[-1])[:_LONGEST]}"
        for name in _SERVED
        if (values := header_values(response, name))
    )
    return "\n".join(lines)


def content_type(response: Response) -> str:
    """Return the Content-Type header, ``""`` when there is none."""
    return header(response, b"Content-Type")


def header(response: Response, name: bytes) -> str:
    """Return a header as text, ``""`` when there is none."""
    values = header_values(response, name)
    return header_text(values[-1]) if values else ""


def location_of(response: Response) -> str:
    """Return the address that a response leads to, ``""`` when there is none."""
    values = header_values(response, b"Location")
    return address_of(values[-1]) if values else ""


def header_values(response: Response, name: bytes) -> list[bytes]:
    """Return all values of a header.

    The methods of ``Headers`` take five times as long, and a page is asked for ten headers.
    """
    values: list[bytes] | None = dict.get(response.headers, name.title())
    return values or []


#: attempts that one call acknowledges, as it costs little more than a call for a single one;
#: seconds after which a call acknowledges fewer
_TOGETHER, _LATEST = 32, 0.3
#: seconds in flight after which no other link waits for the reading of a response
_READING = 10.0
#: seconds for which a host counts as asked after a link of it was taken
_ASKED = 2.0
#: ended attempts that may wait, in all shards, as a multiple of those that one call acknowledges
_WAITING = 2


class LeaseBook:
    """Attempts from the lease to the acknowledgement, and leases that ended since the last flush.

    A link is *in flight* until its response is read and learned from. It is *held* until its
    results are written.
    """

    def __init__(self, most: int | None = None) -> None:
        """``most``: leases that the process may have; ``None`` = any number."""
        #: attempts that one call acknowledges
        self._together = _TOGETHER if most is None else min(_TOGETHER, most // 4)
        self._held: dict[str, Attempt] = {}
        self._in_flight: dict[str, Attempt] = {}
        #: the two hosts asked last, and when (``time.monotonic``)
        self._asked: dict[str, float] = {}
        #: probes in flight, by host
        self.probes: Counter[str] = Counter()
        self._ended: list[Lease] = []
        self._failed: list[Lease] = []
        self._released: list[Lease] = []
        #: when attempts were last acknowledged (``time.monotonic``)
        self._acknowledged = 0.0

    @property
    def in_flight(self) -> Sequence[Lease]:
        """Leases whose links are being fetched now."""
        return [attempt.lease for attempt in self._in_flight.values()]

    @property
    def held(self) -> Sequence[Lease]:
        """Leases that are not acknowledged yet."""
        return [attempt.lease for attempt in self._held.values()]

    @property
    def in_flight_count(self) -> int:
        """How many links are in flight."""
        return len(self._in_flight)

    def is_in_flight(self, lease: Lease) -> bool:
        """Whether its spider has the link and has not read it yet."""
        return lease.id in self._in_flight

    def asks_beside(self, host: str) -> bool:
        """Whether links of other hosts were taken lately."""
        since = time.monotonic() - _ASKED
        return any(other != host and at > since for other, at in self._asked.items())

    def overdue_count(self, seconds: float) -> int:
        """How many links are overdue."""
        return len(self.overdue(seconds))

    def overdue(self, seconds: float, reading: float = _READING) -> list[Lease]:
        """Return the links whose hosts let us wait for longer than ``seconds``.

        That this program takes longer to read a response, up to ``reading`` seconds, is no fault of
        its host.
        """
        now = time.monotonic()
        return [
            each.lease
            for each in self._in_flight.values()
            if now - each.handed_out_at > (reading if each.downloaded else seconds)
        ]

    @property
    def unsent(self) -> int:
        """How many links in flight have sent no request yet."""
        return sum(1 for each in self._in_flight.values() if each.stage is Stage.WAITING)

    def __len__(self) -> int:
        """How many leases the process has: links held, or not acknowledged at the frontier yet."""
        return len(self._held) + len(self._ended) + len(self._failed)

    def attempt(self, lease: Lease) -> Attempt:
        """Return the attempt of a link; a new one if the link is not held."""
        return self._held.get(lease.id) or Attempt(lease)

    def hand_out(self, lease: Lease) -> None:
        """Begin the attempt of a link that goes to its spider."""
        self._held[lease.id] = self._in_flight[lease.id] = Attempt(lease)
        self._asked.pop(lease.entry.host, None)
        self._asked[lease.entry.host] = time.monotonic()
        if len(self._asked) > 2:
            del self._asked[next(iter(self._asked))]
        if lease.probe:
            self.probes[lease.entry.host] += 1

    def note_sent(self, lease: Lease) -> None:
        """Note that a link's request is sent."""
        if (attempt := self._in_flight.get(lease.id)) is not None:
            attempt.stage = Stage.SENT

    def note_received(self, lease: Lease) -> None:
        """Note that a link's response is here: its host lets us wait no longer."""
        if (attempt := self._in_flight.get(lease.id)) is not None:
            attempt.downloaded = True

    def note_downloaded(self, lease: Lease) -> None:
        """Note that a link's download is over: its host may be asked again."""
        self.note_received(lease)
        self._released.append(lease)

    def pop_released(self) -> list[Lease]:
        """Return the leases whose downloads are over since the last call, or flush."""
        released, self._released = self._released, []
        return released

    def note_read(self, lease: Lease) -> None:
        """Note that a link's response is read and learned from."""
        attempt = self._in_flight.pop(lease.id, None)
        if attempt is not None:
            attempt.stage = Stage.READ
            if lease.probe:
                self.probes -= Counter((lease.entry.host,))

    def end(self, lease: Lease, *, failed: bool = False) -> None:
        """Note that a link's results are written; does nothing if the link was dropped."""
        if self.drop(lease):
            (self._failed if failed else self._ended).append(lease)

    def drop(self, lease: Lease) -> bool:
        """Forget a link that goes back into the frontier; return whether it was held."""
        self.note_read(lease)
        attempt = self._held.pop(lease.id, None)
        if attempt is not None:
            attempt.stage = Stage.OVER
        return attempt is not None

    async def flush(self, frontier: Frontier, *, final: bool = False) -> list[Lease]:
        """Acknowledge ended attempts at the frontier, once there are many or some time has passed.

        Without ``final``, and while leases are held, a call acknowledges the attempts of one shard.
        Return the leases whose downloads are over but which were not acknowledged: release their
        hosts next.
        """
        released = self.pop_released()
        shards = None if final or not self._held else self._due(frontier)
        ended, self._ended = _parted(self._ended, frontier, shards)
        failed, self._failed = _parted(self._failed, frontier, shards)
        if ended or failed:
            self._acknowledged = time.monotonic()
        if ended:
            await frontier.end(ended)
        if failed:
            await frontier.end(failed, failed=True)
        over = {lease.id for lease in (*ended, *failed)}
        return [lease for lease in released if lease.id not in over]

    def _due(self, frontier: Frontier) -> set[int]:
        """Return the shard whose attempts are acknowledged now, if any.

        It is one that has many, or the shard of the first attempt once it is late.
        """
        over = [frontier.shard_of(lease.entry.host) for lease in (*self._ended, *self._failed)]
        if not over:
            return set()
        ((shard, number),) = Counter(over).most_common(1)
        if number >= self._together:
            return {shard}
        is_late = time.monotonic() - self._acknowledged >= _LATEST
        return {over[0]} if is_late or len(over) >= _WAITING * self._together else set()


def _parted(
    leases: Sequence[Lease], frontier: Frontier, shards: set[int] | None
) -> tuple[list[Lease], list[Lease]]:
    """Return the leases of these shards (``None`` = all), and the others."""
    if shards is None:
        return list(leases), []
    parts: tuple[list[Lease], list[Lease]] = [], []
    for lease in leases:
        parts[frontier.shard_of(lease.entry.host) not in shards].append(lease)
    return parts
