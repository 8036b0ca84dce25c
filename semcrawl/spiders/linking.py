"""Which links a crawl may follow, and how a spider adds them to the frontier."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from scrapy import Spider
from scrapy.http import Response

from semcrawl.config.readoptions import robots_tags
from semcrawl.config.scope import Scope
from semcrawl.config.urlpatterns import UrlPatterns
from semcrawl.crawl.attempt import Attempt, header_values
from semcrawl.crawl.session import CrawlSession
from semcrawl.links import Link, Page, Reason, header_text
from semcrawl.relevance import Label, Ranked
from semcrawl.sources import SITEMAP_ELEMENT
from semcrawl.spiders.seeds import hand_over
from semcrawl.web.hosts import host_of
from semcrawl.web.robotstags import HEADER, RobotsTags


class LinkPolicy:
    """Decides which links a crawl may follow, by scope, patterns, depth and ``allowed_domains``."""

    def __init__(
        self,
        scope: Scope,
        patterns: UrlPatterns,
        robots_tags: RobotsTags,
        depth_limit: int = 0,
        allowed_domains: Collection[str] = (),
    ) -> None:
        """Follow links up to ``depth_limit`` (0 = no limit), on ``allowed_domains`` if given."""
        self.scope = scope
        self.patterns = patterns
        self.robots_tags = robots_tags
        self._depth_limit = depth_limit
        self._domains = tuple(domain.lower() for domain in allowed_domains if domain)

    @classmethod
    def of_spider(cls, spider: Spider, scope: Scope) -> LinkPolicy:
        """Read the spider's settings and its ``allowed_domains``."""
        settings = spider.settings
        return cls(
            scope,
            UrlPatterns.from_settings(settings),
            robots_tags(settings),
            settings.getint("DEPTH_LIMIT"),
            getattr(spider, "allowed_domains", None) or (),
        )

    def sort(
        self, page: Page, links: Sequence[Link]
    ) -> tuple[list[Link], dict[Reason, list[Link]]]:
        """Return the links that may be followed, if their label allows; the others by reason."""
        inside = self.scope.inside(page.url)
        possible: list[Link] = []
        outside: list[Link] = []
        excluded: list[Link] = []
        nofollow: list[Link] = []
        for link in links:
            if not (
                self.scope.may_lead(link.url, page_inside=inside) and self.is_allowed(link.url)
            ):
                outside.append(link)
            elif self.robots_tags.passes_over(link.rel):
                nofollow.append(link)
            elif self.patterns.allow(link.url) or (
                link.is_sitemap and not self.patterns.exclude_it(link.url)
            ):
                possible.append(link)
            else:
                excluded.append(link)
        others = {
            Reason.EXCLUDED: excluded,
            Reason.OUT_OF_SCOPE: outside,
            Reason.NOFOLLOW: nofollow,
        }
        if 0 < self._depth_limit <= page.depth:
            return [], {**others, Reason.TOO_DEEP: possible}
        return possible, others

    def is_allowed(self, url: str) -> bool:
        """Whether a URL is on the spider's ``allowed_domains``, if it has any.

        As in Scrapy, these have no ports and match any port.
        """
        if not self._domains:
            return True
        host = "." + host_of(url)
        return any(host.endswith("." + domain) for domain in self._domains)

    def may_fetch(self, url: str) -> bool:
        """Whether to fetch an address that no page links to, such as one on a mirror."""
        return self.scope.inside(url) and self.is_allowed(url) and self.patterns.allow(url)

    def take_patterns(self, patterns: UrlPatterns) -> None:
        """Apply these patterns from now on."""
        self.patterns = patterns

    def may_fetch_sitemap(self, url: str) -> bool:
        """Whether to fetch a sitemap; patterns that include pages do not apply to it."""
        allowed = self.scope.inside(url) and self.is_allowed(url)
        return allowed and not self.patterns.exclude_it(url)

    def may_redirect(self, target: str, attempt: Attempt) -> bool:
        """Whether to follow a redirect: within the scope, or from a seed that may leave it."""
        if not self.is_allowed(target):
            return False
        if is_seed(attempt) and self.scope.lets_seed_go(target):
            return True
        inside = self.scope.allows(target, label_r=attempt.link_state.label is Label.R)
        return inside and self.patterns.allow(target)

    def is_excluded(self, attempt: Attempt) -> bool:
        """Whether the patterns of this run exclude a waiting link."""
        if not self.patterns or self.patterns.allow(attempt.url) or is_seed(attempt):
            return False
        return not attempt.link_state.is_sitemap or self.patterns.exclude_it(attempt.url)

    def robots_rules(self, response: Response, *, page: bool = False) -> frozenset[str]:
        """Return the robots rules to obey for a response: of its headers and, for a page, tags."""
        headers = [header_text(value) for value in header_values(response, HEADER)]
        return self.robots_tags.said(headers, response.body if page else b"")


@dataclass
class LinkFeed:
    """Puts links into the frontier, or hands them to the other spider."""

    policy: LinkPolicy
    session: CrawlSession
    #: the spider's own queue
    queue: str
    #: the other spider
    other: str
    #: the other spider's seed list
    other_list: str
    #: follow only the links of sitemaps
    only_sitemaps: bool = False

    async def discover(
        self,
        page: Page,
        links: Sequence[Link],
        barren: int = 0,
        more: Mapping[str, str] | None = None,
        *,
        votes: bool = True,
    ) -> tuple[Ranked, ...]:
        """Rank the links of a page and add those that are new and in scope; return these.

        ``more``: places in a long list, by URL. ``votes``: whether the strategy may count the
        links, including those to known pages, as votes of the page.
        """
        links = self._possible(page, links, votes=votes)
        if not links:
            return ()
        scope = self.policy.scope
        inside = scope.inside(page.url)

        def allowed(ranked: Ranked) -> bool:
            return scope.allows(
                ranked.link.url, label_r=ranked.label is Label.R, page_inside=inside
            )

        return await self.session.intake.discover(page, links, self.queue, allowed, barren, more)

    async def hand_over(
        self, page: Page, links: Sequence[Link], barren: int = 0
    ) -> tuple[Ranked, ...]:
        """Give links to the other spider: directly in this process, otherwise through its list.

        Return the new links; none if they go through the list.
        """
        links = self._possible(page, links)
        if not links:
            return ()
        new = await self.session.hand_over(self.other, page, links, barren)
        if new is not None:
            return new
        entries = hand_over(page, links, self.policy.scope.roots, barren)
        await self.session.frontier.seeds.push(self.other_list, entries)
        return ()

    def leave_out(self, page: Page, links: Sequence[Link], reason: Reason) -> None:
        """Count the links of a page that are not followed, for this reason or an earlier one."""
        if links:
            self.session.intake.leave_out(self._possible(page, links), reason)

    def _possible(self, page: Page, links: Sequence[Link], *, votes: bool = False) -> list[Link]:
        """Return the links that may be followed; count the others for the summary."""
        intake = self.session.intake
        possible, others = self.policy.sort(page, links)
        if votes and intake.counts_votes:
            intake.cite(page, [*possible, *others.get(Reason.TOO_DEEP, ())])
        if self.only_sitemaps:
            others[Reason.SITEMAPS_ONLY] = [
                link for link in possible if link.element != SITEMAP_ELEMENT
            ]
            possible = [link for link in possible if link.element == SITEMAP_ELEMENT]
        for reason, left_out in others.items():
            intake.leave_out(left_out, reason)
        return possible


def is_seed(attempt: Attempt) -> bool:
    """Whether a link, before any redirects, is a seed."""
    return attempt.link_state.parent is None and not attempt.link_state.revisit
