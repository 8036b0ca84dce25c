"""Links that lead to another address: redirects, and folders that are known by a file only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.http import Request, Response

from semcrawl.crawl.attempt import Attempt, header
from semcrawl.items import FetchOutcome
from semcrawl.relevance import Label
from semcrawl.spiders.folders import FolderSlashes
from semcrawl.spiders.retrying import RetryingSpider
from semcrawl.web.urls import Normalisation, dropped_index, resolve

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: what servers answer for a folder when they have no index for it
_NO_FOLDER = frozenset({403, 404})
#: there is nothing at an address
_DEAD = (404, 410)
#: what a redirect that was foreseen counts as
_MOVED = 301


def is_redirect(response: Response) -> bool:
    """Whether a response says where to go instead."""
    return response.status in _REDIRECTS and bool(header(response, b"Location"))


class RedirectingSpider(RetryingSpider):
    """Puts what a link leads to into the frontier, in the link's place.

    ``REDIRECT_ENABLED`` and ``REDIRECT_MAX_TIMES`` hold. Where a server does nothing but add a
    slash to the names of folders, the folder is asked for at once (``SEMCRAWL_FORESEE_SLASHES``).
    """

    _redirects: bool
    _max_redirects: int
    _foresees: bool
    _slashes: FolderSlashes

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """Make the spider and read its settings."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider._redirects = crawler.settings.getbool("REDIRECT_ENABLED")
        spider._max_redirects = crawler.settings.getint("REDIRECT_MAX_TIMES")
        foresees = crawler.settings.getbool("SEMCRAWL_FORESEE_SLASHES")
        spider._foresees = foresees and spider._redirects and spider._max_redirects > 0
        spider._slashes = FolderSlashes()
        return spider

    def foreseen(self, request: Request) -> str:
        """Return the folder that a link's server will surely redirect it to, if any.

        What somebody asked for by this address, or what is known to be RDF, is asked for as it is.
        """
        if not self._foresees:
            return ""
        memo = Attempt.of(request).memo
        by_name = memo.parent is None or memo.revisit or memo.label is Label.R
        if by_name or memo.redirects or memo.retries:
            return ""
        return self._slashes.foreseen(request.url)

    async def _goes_ahead(self, attempt: Attempt, target: str) -> list[Any]:
        """Put the folder in that a link will be redirected to, in its place."""
        await self.session.frontier.not_sent([attempt.lease])
        memo = replace(attempt.memo, redirects=(attempt.url,), foreseen=True)
        if not await self.session.intake.follow_redirect(attempt.lease, target, memo):
            outcome = replace(attempt.outcome(None, duplicate=True, led_to=target), status=_MOVED)
            self.session.learn(outcome, self.queue)
        return []

    def _note_folder(self, attempt: Attempt, *, added: bool) -> None:
        """Learn from an answer whether a link led to a folder by another address."""
        memo = attempt.memo
        if not self._foresees:
            return
        if memo.foreseen:
            self._slashes.heard(memo.redirects[-1], added=added)
        elif not memo.redirects:
            self._slashes.heard(attempt.url, added=added)
        elif memo.redirects[-1] == attempt.url + "/":  # asked for by its own address after all
            self._slashes.heard(attempt.url, added=False)

    def _note_dead(self, attempt: Attempt, status: int) -> None:
        """Learn of a link that is dead by its own address, after that of its folder was."""
        before = attempt.memo.redirects
        if status in _DEAD and before and before[-1] == attempt.url + "/":
            self._slashes.heard_dead(attempt.url)

    async def _asked_as_linked(self, attempt: Attempt, status: int = 0) -> bool:
        """Ask for what was taken for a folder by its own address after all.

        Where links are dead by both addresses (``status`` 404 or 410), one of them is enough.
        """
        memo = attempt.memo
        if not memo.foreseen:
            return False
        target = memo.redirects[-1]
        if status in _DEAD and self._slashes.is_dead(target):
            return False
        memo = replace(memo, redirects=(*memo.redirects, attempt.url), retries=0, foreseen=False)
        await self.session.intake.put_again(attempt.lease, target, memo)
        return True

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
        if target == attempt.url + "/":
            self._note_folder(attempt, added=True)
        elif attempt.memo.foreseen and target == attempt.memo.redirects[-1]:
            record.final_url = target
            await self._asked_as_linked(attempt)
            return [record]
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
        elif not self._may_lead_to(target, attempt):
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
                foreseen=False,
            )
            if await self.session.intake.follow_redirect(attempt.lease, target, memo):
                return [record]
            await self._arrived(attempt, target)
        outcome = attempt.outcome(
            None, response, duplicate=not problem, led_to="" if problem else record.final_url
        )
        self.session.learn(outcome, self.queue)
        return [record]

    def is_excluded(self, request: Request) -> bool:
        """Whether a link that waited is not to be asked for by the patterns of this run."""
        return bool(self.patterns) and not (
            self.patterns.allow(request.url) or _is_seed(Attempt.of(request))
        )

    def _may_lead_to(self, target: str, attempt: Attempt) -> bool:
        """Whether a redirect is followed: within the scope, and from a seed anywhere."""
        if not self.is_allowed(target):
            return False
        if _is_seed(attempt) and self.scope.lets_seed_go(target):
            return True
        inside = self.scope.allows(target, label_r=attempt.memo.label is Label.R)
        return inside and self.patterns.allow(target)

    async def _arrived(self, attempt: Attempt, url: str) -> None:
        """Take the site into the scope that a seed's redirects end on."""
        if _is_seed(attempt) and self.scope.lets_seed_go(url):
            # (nobody named the host: it is among those that may not be private)
            await self.session.intake.widen(self.scope.roots_of(url))


def _is_seed(attempt: Attempt) -> bool:
    """Whether no page led to a link, or to what was redirected to it."""
    return attempt.memo.parent is None and not attempt.memo.revisit
