"""Which documents to look at again, and in which order.

Two policies (sources.md X): *uniform* looks at every document equally often, *proportional* in
proportion to how often it changes. Richer documents come more often under the second and first
among equals under both (sources.md T.8). The load is the same: ``interval`` is the mean time
between two visits of a document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from semcrawl.errors import UsageError
from semcrawl.web.vocabulary import FoundBy, Kind

#: how much more or less often than the mean a document is visited at most
MAX_WEIGHT = 16.0


#: word among the rules of a document that its server calls immutable
IMMUTABLE = "immutable"


class RevisitPolicy(StrEnum):
    """How visits are shared out."""

    UNIFORM = "uniform"
    PROPORTIONAL = "proportional"


@dataclass(frozen=True, slots=True)
class Visited:
    """The history of a fetched document or page. Times: seconds since the epoch."""

    url: str
    kind: Kind = Kind.RDF
    etag: str = ""
    last_modified: str = ""
    #: how often it was fetched or found unmodified, the first time included
    visits: int = 1
    #: how often it was found changed
    changes: int = 0
    first_seen_at: float = 0.0
    last_seen_at: float = 0.0
    #: statements of an RDF document; RDF documents first found on a page
    richness: int = 0
    parent_url: str | None = None
    depth: int = 0
    label: str = ""
    rules: tuple[str, ...] = ()
    found_by: FoundBy | None = None
    #: was not there (404) when it was looked for last
    missing: bool = False
    #: SHA-256 of its content, hexadecimal; empty where it is not known
    content: str = ""
    #: it is, or was taken for, an image
    image: bool = False
    #: of an image: what the topic made of the texts near it, 0 to 1
    near_text: float | None = None


@dataclass(frozen=True, slots=True)
class Revisit:
    """A document that is due."""

    visited: Visited
    #: larger first: seconds since the last visit, times the document's weight
    priority: float
    #: conditional request headers (RFC 9110, section 13.1)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The URL to ask for."""
        return self.visited.url


@dataclass(frozen=True, slots=True)
class RevisitOptions:
    """The user's choices."""

    policy: RevisitPolicy = RevisitPolicy.PROPORTIONAL
    #: mean seconds between two visits of a document; 0: everything is due, only the order counts
    interval: float = 0.0

    @classmethod
    def parse(cls, policy: str, interval: float) -> RevisitOptions:
        """Make options from a user's words; raises ``UsageError``."""
        try:
            chosen = RevisitPolicy(policy)
        except ValueError:
            names = " or ".join(RevisitPolicy)
            raise UsageError(f"the re-visit policy must be {names}, not {policy!r}") from None
        if not interval >= 0:
            raise UsageError(f"the re-visit interval must not be negative: {interval}")
        return cls(chosen, interval)


def change_rate(visited: Visited) -> float | None:
    """Estimate how often a document changes, in changes per second; ``None`` without a re-visit.

    Changes are taken for a Poisson process that was looked at ``n`` times and seen changed at
    ``x`` of them, ``t`` seconds apart on average. A look sees one change where there were more,
    so ``x / n t`` is too small; ``-log((n - x + 0.5) / (n + 0.5)) / t`` corrects that and stays
    finite when every look saw a change (Cho and Garcia-Molina, Estimating Frequency of Change,
    2003).
    """
    looks = visited.visits - 1
    span = visited.last_seen_at - visited.first_seen_at
    if looks < 1 or span <= 0:
        return None
    seen = min(visited.changes, looks)
    return -math.log((looks - seen + 0.5) / (looks + 0.5)) * looks / span


def weights(documents: Sequence[Visited], policy: RevisitPolicy) -> list[float]:
    """Return how much more often than the mean each document is to be visited; the mean is 1.

    A document that was never re-visited counts as changing like the average of the others. Richness
    counts by its logarithm, so that one dump does not take all visits.
    """
    if policy is RevisitPolicy.UNIFORM or not documents:
        return [1.0] * len(documents)
    rates = [change_rate(document) for document in documents]
    known = [rate for rate in rates if rate is not None]
    mean = sum(known) / len(known) if known else 0.0
    shares = [
        (mean if rate is None else rate) * (1.0 + math.log1p(max(0, document.richness)))
        if mean > 0
        else 1.0 + math.log1p(max(0, document.richness))
        for rate, document in zip(rates, documents, strict=True)
    ]
    mean_share = sum(shares) / len(shares)
    clamped = [min(MAX_WEIGHT, max(1 / MAX_WEIGHT, share / mean_share)) for share in shares]
    scale = len(clamped) / sum(clamped)
    return [weight * scale for weight in clamped]


def due(documents: Iterable[Visited], options: RevisitOptions, now: float) -> list[Revisit]:
    """Return the documents to be re-visited at ``now``, the most urgent first.

    Missing documents may come back; they are visited at the longest interval. What its server calls
    immutable is never visited again.
    """
    known = [document for document in documents if IMMUTABLE not in document.rules]
    found = []
    for document, weight in zip(known, weights(known, options.policy), strict=True):
        share = min(weight, 1 / MAX_WEIGHT) if document.missing else weight
        priority = max(0.0, now - document.last_seen_at) * share
        if priority >= options.interval:
            found.append(Revisit(document, priority, conditional_headers(document)))
    found.sort(key=lambda entry: (-entry.priority, -entry.visited.richness, entry.url))
    return found


def conditional_headers(document: Visited) -> dict[str, str]:
    """Return the headers that let a server answer 304 when nothing has changed.

    None for a missing document: its content is no longer kept, and wanted whole.
    """
    headers: dict[str, str] = {}
    if document.missing:
        return headers
    if _is_header_value(document.etag):
        headers["If-None-Match"] = document.etag
    if _is_header_value(document.last_modified):
        headers["If-Modified-Since"] = document.last_modified
    return headers


def _is_header_value(text: str) -> bool:
    return bool(text) and text.isprintable() and text.isascii()
