"""Why a strategy ranks a page's links as it does."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Ranked, Relevance


@dataclass(frozen=True, slots=True)
class RankedLink:
    """A link of a page with its judgement."""

    ranked: Ranked
    #: value of its group; ``None`` when dropped
    value: float | None
    #: when it would be fetched, from 1, were there no other links; ``None`` when dropped
    turn: int | None


def rank_page(strategy: Relevance, page: Page, links: Sequence[Link]) -> list[RankedLink]:
    """Judge a page's links and put them into the order in which they would be fetched.

    The order is that of the frontier: group with the largest value; in it the smallest key, then
    the first on the page. Dropped links come last, as they are on the page.
    """
    ranked = strategy.rank(page, links)
    values = dict(strategy.values())
    waiting = [
        (-values.get(one.group, 0.0), one.key, number)
        for number, one in enumerate(ranked)
        if one.group is not None
    ]
    heapq.heapify(waiting)
    found: list[RankedLink] = []
    while waiting:
        value, _, number = heapq.heappop(waiting)
        found.append(RankedLink(ranked[number], -value, len(found) + 1))
    found.extend(RankedLink(one, None, None) for one in ranked if one.group is None)
    return found


def reason(link: RankedLink, strategy: Relevance, page: Page) -> str:
    """Why a link has its turn, in a line."""
    rows = strategy.explain(page, link.ranked.link)
    return "; ".join(f"{topic}: {text}" for topic, text in rows)
