"""Chooses the documents to re-visit, and their order.

There are two policies (sources.md X): *uniform* visits every document equally often, *proportional*
in proportion to its rate of change. Under the second, richer documents are visited more often;
under both, they come first among equals (sources.md T.8). The load is the same: ``interval`` is the
mean time between two visits of a document.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from semcrawl.settings.reader import setting
from semcrawl.web.vocabulary import FoundBy, Kind

#: largest ratio of a document's frequency of visits to the mean, in either direction
MAX_WEIGHT = 16.0


#: rule that marks documents which their server declares immutable
IMMUTABLE = "immutable"


class RevisitPolicy(StrEnum):
    """How visits are distributed."""

    UNIFORM = "uniform"
    PROPORTIONAL = "proportional"


@dataclass(frozen=True, slots=True)
class Visited:
    """The history of a fetched document or page. Times: seconds since the epoch."""

    url: str
    kind: Kind = Kind.RDF
    etag: str = ""
    last_modified: str = ""
    #: number of visits that found it, changed or not, including the first
    visits: int = 1
    #: number of visits that found it changed
    changes: int = 0
    first_seen_at: float = 0.0
    last_seen_at: float = 0.0
    #: of RDF: number of statements; of a page: number of RDF documents first found there
    richness: int = 0
    parent_url: str | None = None
    depth: int = 0
    label: str = ""
    rules: tuple[str, ...] = ()
    found_by: FoundBy | None = None
    #: whether the last visit did not find it (404)
    missing: bool = False
    #: SHA-256 of its content, hexadecimal; empty if unknown
    content: str = ""
    #: whether it is, or was taken for, an image
    image: bool = False
    #: of an image: relevance of its near texts to the topic, 0 to 1
    near_text: float | None = None


@dataclass(frozen=True, slots=True)
class Revisit:
    """A document that is due."""

    visited: Visited
    #: seconds since the last visit times the document's weight; larger first
    priority: float
    #: conditional request headers (RFC 9110, section 13.1)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The URL to request."""
        return self.visited.url


@dataclass(frozen=True, slots=True)
class RevisitOptions:
    """Which documents are visited again, and how often."""

    policy: RevisitPolicy = setting("SEMCRAWL_REVISIT_POLICY", RevisitPolicy)
    #: mean seconds between two visits of a document; 0: all are due, only their order matters
    interval: float = setting("SEMCRAWL_REVISIT_INTERVAL")
    #: whether this run visits them
    on: bool = setting("SEMCRAWL_REVISIT")
    #: whether addresses that a sitemap calls unchanged are skipped
    by_lastmod: bool = setting("SEMCRAWL_REVISIT_BY_LASTMOD")


def change_rate(visited: Visited) -> float | None:
    """Estimate a document's changes per second; ``None`` without a re-visit.

    Changes are modelled as a Poisson process, observed ``n`` times, on average ``t`` seconds apart,
    and found changed ``x`` times. Several changes between two visits count as one, so ``x / n t``
    is too small. ``-log((n - x + 0.5) / (n + 0.5)) / t`` corrects that, and stays finite if every
    visit found a change (Cho and Garcia-Molina, Estimating Frequency of Change, 2003).
    """
    looks = visited.visits - 1
    span = visited.last_seen_at - visited.first_seen_at
    if looks < 1 or span <= 0:
        return None
    seen = min(visited.changes, looks)
    return -math.log((looks - seen + 0.5) / (looks + 0.5)) * looks / span


def weights(documents: Sequence[Visited], policy: RevisitPolicy) -> list[float]:
    """Return each document's frequency of visits relative to the mean; the mean is 1.

    A document without re-visits is assumed to change at the mean rate. Richness counts
    logarithmically, so that one dump does not take all visits.
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
    """Return the documents due at ``now``, the most urgent first.

    Missing documents may come back, and are visited at the longest interval. Immutable documents
    are never visited again.
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
    """Return the headers that let a server answer 304 if nothing has changed.

    A missing document gets none: its content is no longer kept, so it is needed whole.
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
