"""One attempt to fetch a link, from its lease to its record."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Self

from scrapy.http import Request, Response

from semcrawl.crawl.scheduler import LEASE
from semcrawl.frontier.contract import Lease
from semcrawl.frontier.payload import LinkMemo
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.links import header_text
from semcrawl.relevance import Outcome, Ranked
from semcrawl.web.vocabulary import Kind

#: keys of ``Request.meta`` that :class:`~semcrawl.middlewares.attempts.AttemptMiddleware` sets
STARTED = "semcrawl_started"
ENDED = "semcrawl_ended"
RECEIVED = "semcrawl_received"
#: what the link carries, unpacked
MEMO = "semcrawl_memo"
#: set where a robots.txt is asked for, and kept where that redirects
ROBOTS = "semcrawl_robots"
#: the :class:`~semcrawl.crawl.turns.Turn` of a request that is no link's
TURN = "semcrawl_turn"
#: what is awaited when there is a connection, and the request leaves
LEAVES = "semcrawl_leaves"
#: what the request passes when its address is known
AT_ADDRESS = "semcrawl_at_address"
#: set by the content-type filter when it stopped the download
FILTERED = "semcrawl_filtered"
#: set where the response could not be recorded as asked for
UNKEPT = "semcrawl_unkept"
#: characters of a header that records keep
_LONGEST = 1000


@dataclass
class Attempt:
    """One try to fetch a link, with all that is known of it."""

    lease: Lease
    memo: LinkMemo
    meta: dict[str, Any] = field(repr=False)
    #: the link is kept among the failed ones when the attempt is over
    failed: bool = False
    #: SHA-256 of the body, hexadecimal; empty as long as nobody has read it
    digest: str = ""

    @classmethod
    def of(cls, request: Request) -> Self:
        """Return the attempt that a request is."""
        lease: Lease = request.meta[LEASE]
        memo = request.meta.get(MEMO) or LinkMemo.unpack(lease.entry)
        return cls(lease, memo, request.meta)

    @property
    def url(self) -> str:
        """The URL of this request."""
        return self.lease.entry.url

    @property
    def asked(self) -> str:
        """The URL of the link, before any redirect."""
        return self.memo.redirects[0] if self.memo.redirects else self.url

    def record(self, outcome: FetchOutcome, response: Response | None = None) -> FetchRecord:
        """Make the record of this attempt."""
        started = float(self.meta.get(STARTED, 0.0))
        ended = float(self.meta.get(ENDED) or time.time())
        record = FetchRecord(
            url=self.url,
            outcome=outcome,
            final_url=self.url,
            parent_url=self.memo.parent,
            depth=self.memo.depth,
            label=str(self.memo.label),
            rules=self.memo.rules,
            started_at=started or time.time(),
            elapsed=max(0.0, ended - started) if started else 0.0,
            revisit=self.memo.revisit,
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
            }
        return record

    def interrupted(self, reason: str) -> list[FetchRecord]:
        """Make the record of an attempt that the crawl's end cut short, if it was sent."""
        if STARTED not in self.meta:
            return []
        record = self.record(FetchOutcome.INTERRUPTED)
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
    ) -> Outcome:
        """Say what the fetch turned out to be, for the strategy."""
        return Outcome(
            url=self.asked,
            kind=kind,
            target=target,
            final_url=self.url,
            parent=self.memo.parent,
            depth=self.memo.depth,
            status=response.status if response is not None else None,
            label=self.memo.label,
            rules=self.memo.rules,
            group=self.lease.entry.group,
            duplicate=duplicate,
            new_links=new_links,
            family=self.memo.family,
            led_to=led_to or self._place(kind),
        )

    def _place(self, kind: Kind | None) -> str:
        """Return where other links may lead as well: a redirect's target, or a page's digest."""
        if self.memo.redirects:
            return self.url
        return self.digest if kind is Kind.HTML else ""


def _validator(response: Response, name: bytes) -> str:
    """Return what a re-visit may ask by; what is too long to be kept whole is of no use."""
    value = header(response, name)
    return value if len(value) <= _LONGEST else ""


def content_type(response: Response) -> str:
    """Return the Content-Type header, ``""`` when there is none."""
    return header_text(response.headers.get(b"Content-Type") or b"")


def header(response: Response, name: bytes) -> str:
    """Return a header as text, ``""`` when there is none."""
    return header_text(response.headers.get(name) or b"")
