"""Which links a crawl may follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from semcrawl.config.options import robots_tags
from semcrawl.config.scope import Scope, UrlPatterns
from semcrawl.frontier.links import LinkState
from semcrawl.links import Link, Page, Reason
from semcrawl.relevance import Label
from semcrawl.sources import SITEMAP_ELEMENT
from semcrawl.web.hosts import host_of
from semcrawl.web.robots import RobotsTags


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
        #: follow only the links of sitemaps
        self.only_sitemaps = False
        self._domains = tuple(domain.lower() for domain in allowed_domains if domain)

    @classmethod
    def from_settings(
        cls, settings: Mapping[str, Any], scope: Scope, allowed_domains: Collection[str] = ()
    ) -> LinkPolicy:
        """Read the settings of a crawl."""
        return cls(
            scope,
            UrlPatterns.from_settings(settings),
            robots_tags(settings),
            int(settings.get("DEPTH_LIMIT") or 0),
            allowed_domains,
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

    def followed(
        self, page: Page, links: Sequence[Link]
    ) -> tuple[list[Link], dict[Reason, list[Link]]]:
        """Return the links of a document that are followed, as :meth:`sort` does."""
        possible, others = self.sort(page, links)
        if self.only_sitemaps:
            pages = [link for link in possible if link.element != SITEMAP_ELEMENT]
            others[Reason.SITEMAPS_ONLY] = pages
            possible = [link for link in possible if link.element == SITEMAP_ELEMENT]
        return possible, others

    @staticmethod
    def votes(possible: Sequence[Link], others: Mapping[Reason, Sequence[Link]]) -> list[Link]:
        """Return the links that a strategy counts as votes, of what :meth:`followed` returned."""
        whys = Reason.SITEMAPS_ONLY, Reason.TOO_DEEP
        return [*possible, *(link for why in whys for link in others.get(why, ()))]

    def is_allowed(self, url: str) -> bool:
        """Whether a URL is on the spider's ``allowed_domains``, if it has any.

        As in Scrapy, these have no ports and match any port.
        """
        if not self._domains:
            return True
        host = "." + host_of(url)
        return any(host.endswith("." + domain) for domain in self._domains)

    def may_fetch(self, url: str) -> bool:
        """Whether to fetch an address that no page links to, such as that of a catalogue."""
        return self.scope.inside(url) and self.is_allowed(url) and self.patterns.allow(url)

    def take_patterns(self, patterns: UrlPatterns) -> None:
        """Apply these patterns from now on."""
        self.patterns = patterns

    def may_fetch_sitemap(self, url: str) -> bool:
        """Whether to fetch a sitemap; patterns that include pages do not apply to it."""
        allowed = self.scope.inside(url) and self.is_allowed(url)
        return allowed and not self.patterns.exclude_it(url)

    def may_redirect(self, target: str, state: LinkState) -> bool:
        """Whether to follow a redirect: within the scope, or from a seed that may leave it."""
        if not self.is_allowed(target):
            return False
        if state.is_seed and self.scope.lets_seed_go(target):
            return True
        inside = self.scope.allows(target, label_r=state.label is Label.R)
        return inside and self.patterns.allow(target)

    def is_excluded(self, url: str, state: LinkState) -> bool:
        """Whether the patterns of this run exclude a waiting link."""
        if not self.patterns or self.patterns.allow(url) or state.is_seed:
            return False
        return not state.is_sitemap or self.patterns.exclude_it(url)
