"""Puts what takes the place of a redirected link into the frontier."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scrapy.http import Response

from semcrawl.crawl.attempt import Attempt, location_of
from semcrawl.crawl.redirects import Instead, RedirectRules
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord

#: status of a foreseen redirect
_MOVED = 301


@dataclass
class Redirects:
    """Carries out what the rules of redirects decide."""

    session: CrawlSession
    rules: RedirectRules
    #: the spider's queue, whose outcomes it reports
    queue: str

    def foreseen(self, attempt: Attempt) -> Instead | None:
        """Return the folder that a link will surely be redirected to; ``None`` if unsure."""
        return self.rules.foreseen(attempt.url, attempt.link_state)

    async def go_ahead(self, attempt: Attempt, folder: Instead) -> list[FetchRecord]:
        """Put the foreseen folder in the link's place, without a record."""
        await self.session.frontier.not_sent([attempt.lease])
        if not await self._put(attempt, folder):
            outcome = attempt.outcome(None, duplicate=True, led_to=folder.url)
            self.session.learn(replace(outcome, status=_MOVED), self.queue)
        return []

    async def after_error(self, attempt: Attempt, status: int) -> bool:
        """Put another address of a link in its place; return whether there is one that is new."""
        for way in self.rules.after_error(attempt.url, attempt.link_state, status):
            if await self._put(attempt, way):
                return True
        return False

    async def follow(self, attempt: Attempt, response: Response) -> tuple[FetchRecord, bool]:
        """Put a redirect's target into the frontier, in the place of the link.

        Return the record, and whether the target was known before.
        """
        move = self.rules.after_move(attempt.url, attempt.link_state, location_of(response))
        record = attempt.record(move.outcome, response)
        record.errors, record.final_url = move.problem, move.target or attempt.url
        if move.instead is not None:
            if await self._put(attempt, move.instead):
                return record, False
            await self.arrived(attempt, move.target)
        known = move.outcome is FetchOutcome.REDIRECTED
        outcome = attempt.outcome(
            None, response, duplicate=known, led_to=move.target if known else ""
        )
        self.session.learn(outcome, self.queue)
        return record, known

    async def _put(self, attempt: Attempt, way: Instead) -> bool:
        """Put an address in the place of a link; return whether it was not known before."""
        intake = self.session.intake
        if way.seen:
            await intake.put_again(attempt.lease, way.url, way.state)
            return True
        return await intake.follow_redirect(attempt.lease, way.url, way.state)

    async def arrived(self, attempt: Attempt, url: str) -> None:
        """Take the site that a seed's redirects lead to into the scope."""
        if roots := self.rules.roots_of(attempt.link_state, url):
            # not as named: the user did not write this host, so it must not be private
            await self.session.intake.add_roots(roots)
