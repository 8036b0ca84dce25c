"""Links that lead to another address: redirects, and names of folders without their slash."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from scrapy.http import Response
from scrapy.settings import BaseSettings

from semcrawl.crawl.attempt import Attempt, header
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.relevance import Label
from semcrawl.spiders.linking import LinkPolicy, is_seed
from semcrawl.web.urls import Normalisation, dropped_index, extension_of, resolve

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
#: statuses that servers give for a folder without an index
_NO_FOLDER = frozenset({403, 404})
#: there is nothing at an address
_DEAD = (404, 410)
#: status of a redirect that was foreseen
_MOVED = 301
#: a scheme and host, the folder, and a name without a query
_BARE = re.compile(r"(https?://[^/?#]+)(/(?:[^/?#]*/)*)([^/?#]+)\Z")
_DIGITS = re.compile(r"\d+")
#: added slashes from which on they are foreseen: in a place, and on a host for its other places
_ENOUGH_OF_PLACE, _ENOUGH_OF_HOST = 2, 4
#: added slashes that make up for one that was not
_OUTWEIGHS = 4
#: links of a place that led nowhere by either address, from which on one address is enough
_ENOUGH_DEAD = 3
#: places and hosts that are remembered
_MOST_PLACES = 10_000


def is_redirect(response: Response) -> bool:
    """Whether a response says where to go instead."""
    return response.status in _REDIRECTS and bool(header(response, b"Location"))


class Redirects:
    """Puts a redirect's target into the frontier, in the link's place.

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
        """Read the settings; outcomes of redirects are learned for ``queue``."""
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

        Seeds, re-visits and links labelled R are asked for as they are.
        """
        if not self._foresees:
            return ""
        state = attempt.link_state
        by_name = state.parent is None or state.revisit or state.label is Label.R
        if by_name or state.redirects or state.retries:
            return ""
        return self._slashes.foreseen(attempt.url)

    async def go_ahead(self, attempt: Attempt, target: str) -> list[FetchRecord]:
        """Put the folder that a link will be redirected to in the link's place: no record."""
        await self._session.frontier.not_sent([attempt.lease])
        state = replace(attempt.link_state, redirects=(attempt.url,), foreseen=True)
        if not await self._session.intake.follow_redirect(attempt.lease, target, state):
            outcome = replace(attempt.outcome(None, duplicate=True, led_to=target), status=_MOVED)
            self._session.learn(outcome, self._queue)
        return []

    def note_folder(self, attempt: Attempt, *, added: bool) -> None:
        """Learn from a response whether a link led to a folder by another address."""
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
        """Note a link that is dead by its own address, after that of its folder was."""
        before = attempt.link_state.redirects
        if status in _DEAD and before and before[-1] == attempt.url + "/":
            self._slashes.note_dead(attempt.url)

    async def ask_as_linked(self, attempt: Attempt, status: int = 0) -> bool:
        """Put a link that was taken for a folder back by its own address; whether it was put.

        Where links of a place are dead by both addresses (404 or 410), one address is enough.
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
        """Put the index of a folder in that has nothing at its own address; whether it was put.

        The link named that index; file stores know names and no folders.
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
            # (normalised, they are the same; the server tells them apart: an index of the folder,
            # or a query with empty variables)
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
        """Take the site that a seed's redirects end on into the scope."""
        scope = self._policy.scope
        if is_seed(attempt) and scope.lets_seed_go(url):
            # (the user did not name the host: it may not be private)
            await self._session.intake.add_roots(scope.roots_of(url))


@dataclass(slots=True)
class _Count:
    """How often a slash was added in a place, and how often not."""

    added: int = 0
    left: int = 0
    #: links that led nowhere by either address, since one led somewhere by its own
    dead: int = 0

    def exceeds(self, enough: int) -> bool:
        """Whether enough answers speak for a slash."""
        return self.added >= enough + _OUTWEIGHS * self.left


class FolderSlashes:
    """Learns on which parts of which hosts addresses without a slash are redirected to one.

    A *place* is a folder; runs of digits in its name make no difference.
    """

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}

    def note(self, url: str, *, added: bool) -> None:
        """Note whether an address turned out to be that of a folder."""
        parts = _bare(url)
        if parts is None:
            return
        if len(self._counts) >= _MOST_PLACES:
            self._counts.clear()
        for name in (parts[1], _place(parts)):
            count = self._counts.setdefault(name, _Count())
            if added:
                count.added += 1
            else:
                count.left += 1
                count.dead = 0

    def note_dead(self, url: str) -> None:
        """Note that there is nothing, neither at an address nor at that of its folder."""
        if (parts := _bare(url)) and (count := self._counts.get(_place(parts))):
            count.dead += 1

    def is_dead(self, url: str) -> bool:
        """Whether an address is probably dead, as its folder does not exist.

        Several links of its place were dead by both addresses, and none led to a page.
        """
        parts = _bare(url)
        count = self._counts.get(_place(parts)) if parts else None
        return count is not None and count.dead >= _ENOUGH_DEAD and not count.left

    def foreseen(self, url: str) -> str:
        """Return the address that a URL will be redirected to; empty if that is not known."""
        parts = _bare(url)
        if parts is None:
            return ""
        here = self._counts.get(_place(parts))
        if here is not None:
            sure = here.exceeds(_ENOUGH_OF_PLACE)
        else:
            host = self._counts.get(parts[1])
            sure = host is not None and host.exceeds(_ENOUGH_OF_HOST)
        return url + "/" if sure else ""


def _bare(url: str) -> re.Match[str] | None:
    """Take an address apart that has neither slash nor extension nor query."""
    parts = _BARE.match(url)
    return parts if parts and not extension_of(parts[3]) else None


def _place(parts: re.Match[str]) -> str:
    """Return the name of an address's place."""
    return parts[1] + _DIGITS.sub("0", parts[2])
