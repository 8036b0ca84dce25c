"""Explains how a strategy ranks the links of a page."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Citing, Label, Ranked, Relevance
from semcrawl.relevance.registry import load_strategy, strategies
from semcrawl.relevance.rules import relevancy_r
from semcrawl.sources.endpointsteps import QUERIES, QUERIES_VALUE, query_of
from semcrawl.topics import about

#: Descriptions of the rules (sources.md T.2, T.3 and T.7).
RULE_MEANINGS: Mapping[str, str] = {
    "ex1": "the file extension is one of RDF",
    "ty1": "the type attribute is an RDF content type",
    "ti1": "the title attribute contains an RDF content type",
    "an1": "the anchor text contains an RDF content type",
    "co1": "the surrounding text contains an RDF content type",
    "ty2": "the type attribute contains an RDF concept word",
    "ti2": "the title attribute contains an RDF concept word",
    "an2": "the anchor text contains an RDF concept word",
    "co2": "the surrounding text contains an RDF concept word",
    "pa1": "the path contains an RDF concept word",
    "r1": "the path differs from a known parent's in the last segment only",
    "r2": "host and path are those of a known parent",
    "url": "the distance to a known parent's URL is at most 1",
    "extension": "most documents seen with this extension were RDF",
    "word": "most documents seen with this word in their path were RDF",
    "host+word": "most documents seen with this word on this host were RDF",
}
#: the strategy whose weights are shown
_WEIGHS = "ipagerank"


@dataclass(frozen=True, slots=True)
class RankedLink:
    """A link of a page with its rank."""

    ranked: Ranked
    #: value of its group; ``None`` if dropped
    value: float | None
    #: position among the page's links in the order of fetching, from 1; ``None`` if dropped
    turn: int | None
    #: names of the rules that hold, whether or not the strategy uses them
    rules: tuple[str, ...] = ()


def rank_page(
    strategy: Relevance, page: Page, links: Sequence[Link], queries: Sequence[Link] = ()
) -> list[RankedLink]:
    """Rank a page's links in the order in which they would be fetched.

    The order is the frontier's: first queries to endpoints, which no strategy ranks; then groups by
    descending value; within a group by ascending key, then by position on the page. Dropped links
    come last, in page order.
    """
    if isinstance(strategy, Citing):
        strategy.cited(page, links)
    ranked = strategy.rank(page, links)
    rules = [one.rules or relevancy_r(one.link)[1] for one in ranked]
    values = dict(strategy.values())
    waiting = [
        (-values.get(one.group, 0.0), one.key, number)
        for number, one in enumerate(ranked)
        if one.group is not None
    ]
    heapq.heapify(waiting)
    found = [
        RankedLink(Ranked(query, Label.R, QUERIES, 0.0), QUERIES_VALUE, turn)
        for turn, query in enumerate(queries, 1)
    ]
    while waiting:
        value, _, number = heapq.heappop(waiting)
        found.append(RankedLink(ranked[number], -value, len(found) + 1, rules[number]))
    found.extend(
        RankedLink(one, None, None, held)
        for one, held in zip(ranked, rules, strict=True)
        if one.group is None
    )
    return found


def reason(link: RankedLink, strategy: Relevance, page: Page) -> str:
    """Explain a link's rank in one line."""
    if link.ranked.group == QUERIES:
        query = query_of(link.ranked.link.url) or "the description of an endpoint"
        return f"requested before all links that a strategy ranks: {query}"
    rows = strategy.explain(page, link.ranked.link)
    return "; ".join(f"{topic}: {text}" for topic, text in rows)


@dataclass(frozen=True, slots=True)
class TopicWeight:
    """A link as the strategies of S weigh it in a crawl with a topic."""

    #: RW of its texts
    weight: float
    #: share of its page's rank that IPageRank passes to it; ``None`` if no link has a weight
    share: float | None


def topic_weights(
    settings: Mapping[str, Any], page: Page, links: Sequence[Link]
) -> dict[str, TopicWeight]:
    """Return RW and the share of IPageRank by URL; empty unless the topic has words."""
    topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
    if topic is None or not topic.knows_words or _WEIGHS not in strategies():
        return {}
    strategy: Any = load_strategy(_WEIGHS, settings)
    strategy.cited(page, links)
    return {
        link.url: TopicWeight(strategy.weights.of(link), strategy.graph.share(page.url, link.url))
        for link in links
    }
