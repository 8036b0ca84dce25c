"""Links that lead to another address: redirects, and folders that are known by a file only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.http import Response

from semcrawl.items import FetchOutcome
from semcrawl.relevance import Label
from semcrawl.spiders.attempt import Attempt, header
from semcrawl.spiders.retrying import RetryingSpider
from semcrawl.urls import Normalisation, dropped_index, resolve

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: what servers answer for a folder when they have no index for it
_NO_FOLDER = frozenset({403, 404})


def is_redirect(response: Response) -> bool:
    """Whether a response says where to go instead."""
    return response.status in _REDIRECTS and bool(header(response, b"Location"))


class RedirectingSpider(RetryingSpider):
    """Puts what a link leads to into the frontier, in the link's place.

    ``REDIRECT_ENABLED`` and ``REDIRECT_MAX_TIMES`` hold.
    """

    _redirects: bool
    _max_redirects: int

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider and read its settings."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider._redirects = crawler.settings.getbool("REDIRECT_ENABLED")
        spider._max_redirects = crawler.settings.getint("REDIRECT_MAX_TIMES")
        return spider

    async def _asked_by_name(self, attempt: Attempt, status: int) -> bool:
        """Put the index of a folder in that the server does not give by the folder's address.

        Stores of files know names and no folders; the link was written with this one.
        """
        memo = attempt.memo
        if not memo.index or status not in _NO_FOLDER or not attempt.url.endswith("/"):
            return False
        memo = replace(memo, redirects=(*memo.redirects, attempt.url), retries=0, index="")
        target = attempt.url + attempt.memo.index
        return await self.session.intake.follow_redirect(attempt.lease, target, memo)

    async def _redirected(self, attempt: Attempt, response: Response) -> list[Any]:
        """Put a redirect's target into the frontier, in the place of the link."""
        record = attempt.record(FetchOutcome.REDIRECTED, response)
        location = header(response, b"Location")
        target = resolve(attempt.url, location, self.normalisation)
        if target == attempt.url:
            # to the folder's index, say, or to a query whose variables are empty: it is the server
            # that tells the two apart
            target = resolve(attempt.url, location, Normalisation(exact=True))
        problem = ""
        if target is None:
            problem, record.outcome = "Location is no http(s) URL", FetchOutcome.HTTP_ERROR
        elif not self._redirects:
            record.final_url = target
            problem, record.outcome = "REDIRECT_ENABLED is off", FetchOutcome.HTTP_ERROR
        elif len(attempt.memo.redirects) >= self._max_redirects:
            problem, record.outcome = "too many redirects", FetchOutcome.HTTP_ERROR
        elif not self.is_allowed(target) or not self.scope.allows(
            target, label_r=attempt.memo.label is Label.R
        ):
            record.final_url = target
            problem, record.outcome = "redirected out of the scope", FetchOutcome.OUT_OF_SCOPE
        record.errors = problem
        if target is not None and not problem:
            record.final_url = target
            memo = replace(
                attempt.memo,
                redirects=(*attempt.memo.redirects, attempt.url),
                retries=0,
                index=dropped_index(location) if target.endswith("/") else "",
            )
            if await self.session.intake.follow_redirect(attempt.lease, target, memo):
                return [record]
        self.session.learn(attempt.outcome(None, response, duplicate=not problem), self.queue)
        return [record]
