"""What a spider would do with an answer, and why: for `explain`."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider, signals
from scrapy.http import Response
from scrapy.settings import BaseSettings

from semcrawl.config.components import say_who_it_is
from semcrawl.config.options import BrowserOptions, EndpointOptions
from semcrawl.config.scope import Scope
from semcrawl.crawl.attempt import content_type, header_values
from semcrawl.crawl.failures import AddressRefused
from semcrawl.links import ExtractionOptions, FoundBy, Link, Page
from semcrawl.reading.answer import Received
from semcrawl.reading.queryanswers import read_query
from semcrawl.reading.reader import Reader, at_once
from semcrawl.relevance.contract import Citing, Label, Ranked, Relevance
from semcrawl.relevance.registry import load_strategy, strategies
from semcrawl.relevance.rules import relevancy_r
from semcrawl.settings.reader import fill
from semcrawl.sources.endpoints import (
    PAGES,
    QUERIES,
    QUERIES_VALUE,
    Ask,
    EndpointWalk,
    Following,
    Step,
    first_steps,
    query_of,
)
from semcrawl.topics import about
from semcrawl.web.vocabulary import Kind

if TYPE_CHECKING:
    from semcrawl.crawl.rendering import PageRenderer

#: statuses that the command tells of; redirects are followed
_ERRORS = range(400, 600)


class ExplainSpider(Spider):
    """Uses a crawl's user agent and keeps the first problem.

    The address that the user names may be private, as a crawl's seed may.
    """

    name = "explain"
    problem = ""

    def __init__(self, named: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.scope = Scope.parse("site")
        self.scope.named |= Scope.roots_of(named)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        """Set a crawl's user agent."""
        super().update_settings(settings)
        say_who_it_is(settings)

    def fail(self, failure: Any) -> None:
        """Keep the error."""
        message = failure.getErrorMessage()
        if not failure.check(AddressRefused):
            message = f"{failure.type.__name__}: {message}"
        self.problem = message.splitlines()[0]


class PageSpider(ExplainSpider):
    """Fetches one page, after redirects, and lets its scripts run where a crawl would."""

    def __init__(self, url: str, **kwargs: Any) -> None:
        super().__init__(url, **kwargs)
        self.url = url
        self.response: Response | None = None
        self._renderer: PageRenderer | None = None

    async def start(self) -> Any:
        """Request the page."""
        if fill(BrowserOptions, self.settings).use != "never":
            from semcrawl.crawl.rendering import PageRenderer  # loads what drives a browser

            self._renderer = PageRenderer.from_settings(self.crawler)
            self.crawler.signals.connect(self._renderer.close, signals.spider_closed)
        yield Request(
            self.url,
            callback=self.parse,
            errback=self.fail,
            meta={"handle_httpstatus_list": _ERRORS},
        )

    async def parse(self, response: Response, **kwargs: Any) -> None:
        """Keep the response."""
        self.response = response
        if self._renderer is None or not 200 <= response.status < 300 or not response.body:
            return
        reader = Reader(ExtractionOptions(), here=True)
        media = content_type(response)
        found = reader.detect(response.body, media, response.url)
        if found.kind is Kind.HTML and await self._renderer.wants(
            reader, response.url, response.body, media
        ):
            self.response = await self._renderer.render(response.url, response) or response


class EndpointSpider(ExplainSpider):
    """Fetches an endpoint's description and graphs, and lists a crawl's next queries."""

    def __init__(self, endpoint: str, options: EndpointOptions, **kwargs: Any) -> None:
        super().__init__(endpoint, **kwargs)
        self._first = first_steps(endpoint, options.page, options.most)[0]
        self._walk = EndpointWalk(options.skipped)
        self._timeout = options.timeout
        #: a crawl's next queries, as links
        self.queries: list[Link] = []
        #: messages about them
        self.notes: list[str] = []

    async def start(self) -> Any:
        """Request the description."""
        yield self._request(self._first)

    def _request(self, step: Step) -> Request:
        return Request(
            step.url,
            self.parse,
            headers={"Accept": step.accept},
            errback=self.fail,
            cb_kwargs={"step": step},
            meta={"handle_httpstatus_all": True, "download_timeout": self._timeout},
        )

    def parse(self, response: Response, step: Step, **kwargs: Any) -> Iterator[Request]:
        """Read an answer; request the graphs after the description."""
        following = self._after(response, step)
        self._walk.settle(step, following)
        self.notes += following.notes
        if step.ask is Ask.DESCRIPTION:
            yield from map(self._request, following.steps)
            return
        self.queries = [_link(one) for one in following.steps]
        if not self.queries and response.status != 200:
            self.problem = f"it answers status {response.status}"

    def _after(self, response: Response, step: Step) -> Following:
        if not 200 <= response.status < 300:
            reason = f"HTTP status {response.status}"
            return self._walk.after_refusal(step, reason, response.status)
        got = Received(response.url, response.body, partial(header_values, response))
        read = at_once(read_query(Reader(ExtractionOptions(), here=True), got, step, ""))
        if read.triples is not None:
            return self._walk.after_triples(step, read.triples)
        return self._walk.after_rows(step, read.rows)


def _link(step: Step) -> Link:
    """Return a query as a link, with what it asks for as the anchor."""
    size = f"{step.size:,} triples of " if step.size else ""
    of_graph = step.ask is Ask.COUNT or step.ask in PAGES
    text = f"{step.ask}: {size}{step.name}" if of_graph else str(step.ask)
    return Link(step.url, anchor=text, found_by=FoundBy.ENDPOINT)


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
