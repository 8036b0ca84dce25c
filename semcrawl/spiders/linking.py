"""Links of pages and documents, on their way into the frontier or to the other spider."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

from scrapy.crawler import Crawler
from scrapy.http import Response

from semcrawl.config.urlpatterns import UrlPatterns
from semcrawl.crawl.attempt import content_type
from semcrawl.frontier.contract import Reason
from semcrawl.links import (
    Link,
    Page,
    header_links,
    header_text,
    metadata_links,
    refresh_target,
)
from semcrawl.relevance import Label, Ranked
from semcrawl.relevance.rules import is_non_semantic
from semcrawl.spiders.planting import PlantingSpider
from semcrawl.spiders.reading import Reader
from semcrawl.spiders.seeds import hand_over
from semcrawl.web.hosts import host_of
from semcrawl.web.robotstags import HEADER, NOFOLLOW, RobotsTags


class LinkingSpider(PlantingSpider):
    """Finds links and passes those on that are in scope."""

    #: name of the spider that gets what this one does not follow
    other: ClassVar[str]

    reader: Reader
    robots_tags: RobotsTags
    patterns: UrlPatterns
    _depth_limit: int
    _allowed_domains: tuple[str, ...]

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider and read its settings."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider._depth_limit = crawler.settings.getint("DEPTH_LIMIT")
        spider.patterns = UrlPatterns.from_settings(crawler.settings)
        spider.robots_tags = RobotsTags.from_settings(crawler.settings)
        domains = getattr(spider, "allowed_domains", None) or ()
        spider._allowed_domains = tuple(domain.lower() for domain in domains if domain)
        return spider

    async def discover(
        self, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Rank the links of a page and put the new ones that are in scope into the frontier."""
        inside = self.scope.inside(page.url)
        links = self._possible(page, links, inside)
        if not links:
            return ()

        def allowed(ranked: Ranked) -> bool:
            return self.scope.allows(
                ranked.link.url, label_r=ranked.label is Label.R, page_inside=inside
            )

        return await self.session.intake.discover(page, links, self.queue, allowed, barren)

    async def hand_over(
        self, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Give links to the other spider: at once if it is in this process, else by its list.

        Return those that are new, as far as that is known now.
        """
        links = self._possible(page, links, self.scope.inside(page.url))
        if not links:
            return ()
        new = await self.session.hand_over(self.other, page, links, barren)
        if new is not None:
            return new
        entries = hand_over(page, links, self.scope.roots, barren)
        await self.session.frontier.seeds.push(self._list_of(self.other), entries)
        return ()

    def _possible(self, page: Page, links: Sequence[Link], inside: bool) -> list[Link]:
        """Return the links that may be followed, whatever they are labelled."""
        if 0 < self._depth_limit <= page.depth:
            self._leave_out(links, Reason.TOO_DEEP)
            return []
        possible: list[Link] = []
        others: list[Link] = []
        excluded: list[Link] = []
        for link in links:
            may = self.scope.may_lead(link.url, page_inside=inside) and self.is_allowed(link.url)
            if may and self.robots_tags.passes_over(link.rel):
                continue
            if may and not self.patterns.allow(link.url):
                excluded.append(link)
                continue
            (possible if may else others).append(link)
        self._leave_out(excluded, Reason.EXCLUDED)
        self._leave_out(others, Reason.OUT_OF_SCOPE)
        return possible

    def _leave_out(self, links: Sequence[Link], reason: Reason) -> None:
        """Have links counted that are not followed, for the summary."""
        for link in links:
            if not is_non_semantic(link):
                self.session.intake.left_out.add(link.url, reason)

    def said_to_robots(self, response: Response, *, page: bool = False) -> frozenset[str]:
        """Return what an answer says to robots, by its headers and as a page, and is obeyed."""
        headers = [header_text(value) for value in response.headers.getlist(HEADER)]
        return self.robots_tags.said(headers, response.body if page else b"")

    def is_allowed(self, url: str) -> bool:
        """Whether a URL is on the spider's ``allowed_domains``, if it has any.

        As in Scrapy these have no ports, and hold for any.
        """
        if not self._allowed_domains:
            return True
        host = "." + host_of(url)
        return any(host.endswith("." + domain) for domain in self._allowed_domains)

    async def page_links(
        self, response: Response, url: str, faults: list[str] | None = None
    ) -> list[Link]:
        """Return the links of a page and of its headers.

        What keeps the page from being read to its end is added to ``faults``.
        """
        headers = [header_text(value) for value in response.headers.getlist(b"Link")]
        headers += _refreshes(response)
        return await self.reader.links(
            response.body, url, content_type(response), headers, self.session.intake.knows, faults
        )

    def metadata_links(self, response: Response, url: str, *, rdf: bool = False) -> list[Link]:
        """Return the links to RDF that the headers of what is no page name.

        What is neither may send on by a ``Refresh`` header: often it has no body.
        """
        if NOFOLLOW in self.said_to_robots(response):
            return []
        found = [
            link
            for value in response.headers.getlist(b"Link")
            for link in header_links(header_text(value), url, self.normalisation)
        ]
        links = metadata_links(found, rdf=rdf)
        if not rdf:
            for header in _refreshes(response):
                links += header_links(header, url, self.normalisation)
        return links


def _refreshes(response: Response) -> list[str]:
    """Return the ``Refresh`` headers as ``Link`` headers."""
    values = map(header_text, response.headers.getlist(b"Refresh"))
    return [f"<{target}>" for target in map(refresh_target, values) if target]
