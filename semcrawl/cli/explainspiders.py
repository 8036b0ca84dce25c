"""Spiders of ``semcrawl explain``: one fetches a page, one an endpoint's first answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.settings import BaseSettings

from semcrawl.config.components import say_who_it_is
from semcrawl.config.leadoptions import EndpointOptions
from semcrawl.config.scope import Scope
from semcrawl.crawl.attempt import header_values
from semcrawl.crawl.failures import AddressRefused
from semcrawl.links import ExtractionOptions, FoundBy, Link
from semcrawl.reading.answer import Received
from semcrawl.reading.queryanswers import read_query
from semcrawl.reading.reader import Reader, at_once
from semcrawl.sources.endpointpaging import Following, first_steps
from semcrawl.sources.endpointsteps import PAGES, Ask, Step
from semcrawl.sources.endpointwalk import EndpointWalk

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
    """Fetches one page, after redirects."""

    def __init__(self, url: str, **kwargs: Any) -> None:
        super().__init__(url, **kwargs)
        self.url = url
        self.response: Response | None = None

    async def start(self) -> Any:
        """Request the page."""
        yield Request(
            self.url,
            callback=self.parse,
            errback=self.fail,
            meta={"handle_httpstatus_list": _ERRORS},
        )

    def parse(self, response: Response, **kwargs: Any) -> None:
        """Keep the response."""
        self.response = response


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
