"""Links that lead to another address: redirects, and folders that are known by a file only."""

from __future__ import annotations

from dataclasses import replace

from scrapy.http import Response
from scrapy.settings import BaseSettings

from semcrawl.crawl.attempt import Attempt, header
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.relevance import Label
from semcrawl.spiders.folders import FolderSlashes
from semcrawl.spiders.linking import LinkPolicy, is_seed
from semcrawl.web.urls import Normalisation, dropped_index, resolve

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: statuses that servers give for a folder without an index
_NO_FOLDER = frozenset({403, 404})
#: there is nothing at an address
_DEAD = (404, 410)
#: status of a redirect that was foreseen
_MOVED = 301


def is_redirect(response: Response) -> bool:
    """Whether a response says where to go instead."""
    return response.status in _REDIRECTS and bool(header(response, b"Location"))


class Redirects:
    """Puts what a link leads to into the frontier, in the link's place.

    ``REDIRECT_ENABLED`` and ``REDIRECT_MAX_TIMES`` hold. Where a server does nothing but add a
    slash to the names of folders, the folder is asked for at once (``SEMCRAWL_FORESEE_SLASHES``).
    """

    def __init__(
        self,
        settings: BaseSettings,
        session: CrawlSession,
        policy: LinkPolicy,
        normalisation: Normalisation,
        queue: str,
    ) -> None:
        """Read the settings; what a redirect was is learned for ``queue``."""
        self._enabled = settings.getbool("REDIRECT_ENABLED")
        self._most = settings.getint("REDIRECT_MAX_TIMES")
        foresees = settings.getbool("SEMCRAWL_FORESEE_SLASHES")
        self._foresees = foresees and self._enabled and self._most > 0
        self._slashes = FolderSlashes()
        self._session = session
        self._policy = policy
        self._normalisation = normalisation
        self._queue = queue

    def foreseen(self, attempt: Attempt) -> str:
        """Return the folder that a link's server will surely redirect it to; empty if none.

        What somebody asked for by this address, or what is known to be RDF, is asked for as it is.
        """
        if not self._foresees:
            return ""
        state = attempt.link_state
        by_name = state.parent is None or state.revisit or state.label is Label.R
        if by_name or state.redirects or state.retries:
            return ""
        return self._slashes.foreseen(attempt.url)

    async def go_ahead(self, attempt: Attempt, target: str) -> None:
        """Put the folder that a link will be redirected to in the link's place."""
        await self._session.frontier.not_sent([attempt.lease])
        state = replace(attempt.link_state, redirects=(attempt.url,), foreseen=True)
        if not await self._session.intake.follow_redirect(attempt.lease, target, state):
            outcome = replace(attempt.outcome(None, duplicate=True, led_to=target), status=_MOVED)
            self._session.learn(outcome, self._queue)

    def note_folder(self, attempt: Attempt, *, added: bool) -> None:
        """Learn from an answer whether a link led to a folder by another address."""
        state = attempt.link_state
        if not self._foresees:
            return
        if state.foreseen:
            self._slashes.note(state.redirects[-1], added=added)
        elif not state.redirects:
            self._slashes.note(attempt.url, added=added)
        elif state.redirects[-1] == attempt.url + "/":  # asked for by its own address after all
            self._slashes.note(attempt.url, added=False)

    def note_dead(self, attempt: Attempt, status: int) -> None:
        """Learn of a link that is dead by its own address, after that of its folder was."""
        before = attempt.link_state.redirects
        if status in _DEAD and before and before[-1] == attempt.url + "/":
            self._slashes.note_dead(attempt.url)

    async def ask_as_linked(self, attempt: Attempt, status: int = 0) -> bool:
        """Ask for what was taken for a folder by its own address after all.

        Where links are dead by both addresses (``status`` 404 or 410), one of them is enough.
        """
        state = attempt.link_state
        if not state.foreseen:
            return False
        target = state.redirects[-1]
        if status in _DEAD and self._slashes.is_dead(target):
            return False
        state = replace(state, redirects=(*state.redirects, attempt.url), retries=0, foreseen=False)
        await self._session.intake.put_again(attempt.lease, target, state)
        return True

    async def ask_by_name(self, attempt: Attempt, status: int) -> bool:
        """Put the index of a folder in that the server does not give by the folder's address.

        Stores of files know names and no folders; the link was written with this one.
        """
        state = attempt.link_state
        if not state.index or status not in _NO_FOLDER or not attempt.url.endswith("/"):
            return False
        state = replace(state, redirects=(*state.redirects, attempt.url), retries=0, index="")
        target = attempt.url + attempt.link_state.index
        return await self._session.intake.follow_redirect(attempt.lease, target, state)

    async def follow(self, attempt: Attempt, response: Response) -> FetchRecord:
        """Put a redirect's target into the frontier, in the place of the link."""
        record = attempt.record(FetchOutcome.REDIRECTED, response)
        location = header(response, b"Location")
        target = resolve(attempt.url, location, self._normalisation)
        if target == attempt.url + "/":
            self.note_folder(attempt, added=True)
        elif attempt.link_state.foreseen and target == attempt.link_state.redirects[-1]:
            record.final_url = target
            await self.ask_as_linked(attempt)
            return record
        if target == attempt.url:
            # to the folder's index, say, or to a query whose variables are empty: it is the server
            # that tells the two apart
            target = resolve(attempt.url, location, Normalisation(exact=True))
        problem = ""
        if target is None:
            problem, record.outcome = "Location is no http(s) URL", FetchOutcome.HTTP_ERROR
        elif not self._enabled:
            record.final_url = target
            problem, record.outcome = "REDIRECT_ENABLED is off", FetchOutcome.HTTP_ERROR
        elif len(attempt.link_state.redirects) >= self._most:
            problem, record.outcome = "too many redirects", FetchOutcome.HTTP_ERROR
        elif not self._policy.may_redirect(target, attempt):
            record.final_url = target
            problem, record.outcome = "redirected out of the scope", FetchOutcome.OUT_OF_SCOPE
        record.errors = problem
        if target is not None and not problem:
            record.final_url = target
            state = replace(
                attempt.link_state,
                redirects=(*attempt.link_state.redirects, attempt.url),
                retries=0,
                index=dropped_index(location) if target.endswith("/") else "",
                foreseen=False,
            )
            if await self._session.intake.follow_redirect(attempt.lease, target, state):
                return record
            await self.arrived(attempt, target)
        outcome = attempt.outcome(
            None, response, duplicate=not problem, led_to="" if problem else record.final_url
        )
        self._session.learn(outcome, self._queue)
        return record

    async def arrived(self, attempt: Attempt, url: str) -> None:
        """Take the site into the scope that a seed's redirects end on."""
        scope = self._policy.scope
        if is_seed(attempt) and scope.lets_seed_go(url):
            # (nobody named the host: it may not be private)
            await self._session.intake.widen(scope.roots_of(url))
