"""How a spider adds links to the frontier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.session import CrawlSession
from semcrawl.links import Link, Page, Reason
from semcrawl.relevance import Label, Ranked
from semcrawl.spiders.seeds import hand_over


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
        await self.session.frontier.shared.push_seeds(self.other_list, entries)
        return ()

    def leave_out(self, page: Page, links: Sequence[Link], reason: Reason) -> None:
        """Count the links of a page that are not followed, for this reason or an earlier one."""
        if links:
            self.session.intake.leave_out(self._possible(page, links), reason)

    def _possible(self, page: Page, links: Sequence[Link], *, votes: bool = False) -> list[Link]:
        """Return the links that may be followed; count the others for the summary."""
        intake = self.session.intake
        possible, others = self.policy.followed(page, links)
        if votes and intake.counts_votes:
            intake.cite(page, self.policy.votes(possible, others))
        for reason, left_out in others.items():
            intake.leave_out(left_out, reason)
        return possible
