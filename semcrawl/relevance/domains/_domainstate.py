"""Encodes the state of ``domain-score`` as bytes, without pickle."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semcrawl.relevance.domains.hypotheses import Counts, Domain, Share
from semcrawl.relevance.domains.roulette import Clock, Roulette
from semcrawl.relevance.domains.votes import Vote, Votes
from semcrawl.relevance.strategy import pack_state, reading_state, unpack_state


@dataclass
class Known:
    """The state of domains and pages, apart from the graph."""

    wheel: Roulette
    votes: Votes
    crawl: Counts
    domains: dict[str, Domain]


def dump_known(strategy: str, known: Known, graph: bytes) -> bytes:
    """Encode the state and the graph's bytes for :func:`load_known`."""
    clocks = {n: [c.rings, c.rate, c.wound] for n, c in known.wheel.clocks.items()}
    votes = known.votes
    return pack_state(
        strategy,
        graph,
        _of_counts(known.crawl),
        {
            name: [_of_counts(domain.counts), domain.weights, domain.learned]
            for name, domain in known.domains.items()
        },
        known.wheel.now,
        clocks,
        {page: [vote.matching, vote.seen, vote.failing] for page, vote in votes.pages.items()},
        votes.citing,
        votes.failed,
    )


def load_known(strategy: str, state: bytes, known: Known) -> bytes:
    """Restore the state; return the graph's bytes. Raise ``UsageError`` for invalid bytes."""
    graph: bytes
    with reading_state(strategy):
        fields = unpack_state(strategy, state)
        graph, totals, domains, now, clocks, votes, citing, failed = fields
        counts = _to_counts(totals)
        read = {str(name): _to_domain(*domain) for name, domain in domains.items()}
        wound = {str(name): _to_clock(*clock) for name, clock in clocks.items()}
        pages = {str(p): Vote(_number(m), int(s), int(f)) for p, (m, s, f) in votes.items()}
        who, gone = _lists(citing), _lists(failed)
        if not isinstance(graph, bytes) or read.keys() != wound.keys():
            raise ValueError("parts do not belong together")
        known.wheel.now = _number(now)
    crawl = known.crawl
    crawl.images, crawl.texts, crawl.pages = counts.images, counts.texts, counts.pages
    known.domains.update(read)
    known.wheel.clocks.update(wound)
    known.votes.pages, known.votes.citing, known.votes.failed = pages, who, gone
    return graph


def _of_counts(counts: Counts) -> list[Any]:
    shares = (counts.images, counts.texts, counts.pages)
    return [[share.matching, share.seen] for share in shares]


def _to_counts(fields: list[Any]) -> Counts:
    images, texts, pages = (Share(_number(matching), int(seen)) for matching, seen in fields)
    return Counts(images, texts, pages)


def _to_domain(counts: list[Any], weights: list[Any], learned: int) -> Domain:
    first, second, third, fourth = map(_number, weights)
    return Domain(_to_counts(counts), [first, second, third, fourth], max(0, int(learned)))


def _to_clock(rings: float, rate: float, wound: int) -> Clock:
    if _number(rate) <= 0:
        raise ValueError("a clock without a rate")
    return Clock(_number(rings), float(rate), int(wound))


def _lists(fields: Mapping[str, Any]) -> dict[str, list[str]]:
    return {str(url): [str(page) for page in pages] for url, pages in fields.items()}


def _number(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("not a number")
    return number
