"""Follows redirects, and foresees those that add a slash to the name of a folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from scrapy.http import Response
from scrapy.settings import BaseSettings

from semcrawl.crawl.attempt import Attempt, location_of
from semcrawl.crawl.session import CrawlSession
from semcrawl.items import FetchOutcome, FetchRecord
from semcrawl.relevance import Label
from semcrawl.spiders.linking import LinkPolicy, is_seed
from semcrawl.web.urls import Normalisation, dropped_index, extension_of, resolve

_REDIRECTS = frozenset({300, 301, 302, 303, 307, 308})
#: statuses that servers give for a folder without an index
_NO_FOLDER = frozenset({403, 404})
#: statuses of addresses that do not exist
_DEAD = (404, 410)
#: status of a foreseen redirect
_MOVED = 301
#: scheme and host, folder, and a name without a query
_BARE = re.compile(r"(https?://[^/?#]+)(/(?:[^/?#]*/)*)([^/?#]+)\Z")
_DIGITS = re.compile(r"\d+")
#: added slashes after which further ones are foreseen: in the same place; in new places of the host
_ENOUGH_OF_PLACE, _ENOUGH_OF_HOST = 2, 4
#: added slashes that outweigh one address to which none was added
_OUTWEIGHS = 4
#: links of a place, dead with and without a slash, after which one address is tried for the others
_ENOUGH_DEAD = 3
#: most places and hosts remembered
_MOST_PLACES = 10_000


def is_redirect(response: Response) -> bool:
    """Whether a response is a redirect with a ``Location``."""
    return response.status in _REDIRECTS and bool(location_of(response))


class Redirects:
    """Puts a redirect's target into the frontier, in the link's place.

    ``REDIRECT_ENABLED`` and ``REDIRECT_MAX_TIMES`` hold. Where a server only adds a slash to names
    of folders, the crawl fetches the folder at once (``SEMCRAWL_FORESEE_SLASHES``).
    """

    def __init__(
        self,
        settings: BaseSettings,
        session: CrawlSession,
        policy: LinkPolicy,
        normalisation: Normalisation,
        queue: str,
    ) -> None:
        """Read the settings; ``queue`` is the spider's, whose outcomes this reports."""
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
        """Return the folder that a link will surely be redirected to; empty if that is unsure.

        Seeds, re-visits and links labelled R are fetched as they are.
        """
        if not self._foresees:
            return ""
        state = attempt.link_state
        by_name = state.parent is None or state.revisit or state.label is Label.R
        if by_name or state.redirects or state.retries:
            return ""
        return self._slashes.foreseen(attempt.url)

    async def go_ahead(self, attempt: Attempt, target: str) -> list[FetchRecord]:
        """Put the foreseen folder in the link's place, without a record."""
        await self._session.frontier.not_sent([attempt.lease])
        state = replace(attempt.link_state, redirects=(attempt.url,), foreseen=True)
        if not await self._session.intake.follow_redirect(attempt.lease, target, state):
            outcome = replace(attempt.outcome(None, duplicate=True, led_to=target), status=_MOVED)
            self._session.learn(outcome, self._queue)
        return []

    def note_folder(self, attempt: Attempt, *, added: bool) -> None:
        """Learn from a response whether a slash is ``added`` to a link's address."""
        state = attempt.link_state
        if not self._foresees:
            return
        if state.foreseen:
            self._slashes.note(state.redirects[-1], added=added)
        elif not state.redirects:
            self._slashes.note(attempt.url, added=added)
        elif state.redirects[-1] == attempt.url + "/":  # a wrong guess: its own address exists
            self._slashes.note(attempt.url, added=False)

    def note_dead(self, attempt: Attempt, status: int) -> None:
        """Note a link that is dead, with a slash and now without."""
        before = attempt.link_state.redirects
        if status in _DEAD and before and before[-1] == attempt.url + "/":
            self._slashes.note_dead(attempt.url)

    async def ask_as_linked(self, attempt: Attempt, status: int = 0) -> bool:
        """Put a link that was wrongly taken for a folder back; return whether it was put back.

        In a place whose links are dead with and without a slash, a dead folder is enough.
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
        """Add the index file of a folder that has no page; return whether that is new.

        The link named that file, which normalisation dropped. File stores have files, no folders.
        """
        state = attempt.link_state
        if not state.index or status not in _NO_FOLDER or not attempt.url.endswith("/"):
            return False
        state = replace(state, redirects=(*state.redirects, attempt.url), retries=0, index="")
        target = attempt.url + attempt.link_state.index
        return await self._session.intake.follow_redirect(attempt.lease, target, state)

    async def follow(self, attempt: Attempt, response: Response) -> tuple[FetchRecord, bool]:
        """Put a redirect's target into the frontier, in the place of the link.

        Return the record, and whether the target was known before.
        """
        record = attempt.record(FetchOutcome.REDIRECTED, response)
        location = location_of(response)
        target = resolve(attempt.url, location, self._normalisation)
        if target == attempt.url + "/":
            self.note_folder(attempt, added=True)
        elif attempt.link_state.foreseen and target == attempt.link_state.redirects[-1]:
            record.final_url = target
            await self.ask_as_linked(attempt)
            return record, False
        if target == attempt.url:
            # normalisation makes them equal, but the server does not: the target names an index
            # file, or has a query with presentational variables
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
                return record, False
            await self.arrived(attempt, target)
        outcome = attempt.outcome(
            None, response, duplicate=not problem, led_to="" if problem else record.final_url
        )
        self._session.learn(outcome, self._queue)
        return record, not problem

    async def arrived(self, attempt: Attempt, url: str) -> None:
        """Take the site that a seed's redirects lead to into the scope."""
        scope = self._policy.scope
        if is_seed(attempt) and scope.lets_seed_go(url):
            # not as named: the user did not write this host, so it must not be private
            await self._session.intake.add_roots(scope.roots_of(url))


@dataclass(slots=True)
class _Count:
    """How often servers added a slash in a place, and how often not."""

    added: int = 0
    not_added: int = 0
    #: links that were dead with and without a slash, since the last ``not_added``
    dead: int = 0

    def exceeds(self, enough: int) -> bool:
        """Whether enough answers speak for a slash."""
        return self.added >= enough + _OUTWEIGHS * self.not_added


class FolderSlashes:
    """Learns where servers redirect addresses without a slash to the same address with one.

    A *place* is the folder of an address; different numbers in its path make no difference.
    """

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}

    def note(self, url: str, *, added: bool) -> None:
        """Note whether the server added a slash to an address."""
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
                count.not_added += 1
                count.dead = 0

    def note_dead(self, url: str) -> None:
        """Note an address that is dead with and without a slash."""
        if (parts := _bare(url)) and (count := self._counts.get(_place(parts))):
            count.dead += 1

    def is_dead(self, url: str) -> bool:
        """Whether an address whose folder is dead is probably dead as well.

        That is so if several links of its place were dead with and without a slash, and none
        worked without.
        """
        parts = _bare(url)
        count = self._counts.get(_place(parts)) if parts else None
        return count is not None and count.dead >= _ENOUGH_DEAD and not count.not_added

    def foreseen(self, url: str) -> str:
        """Return the address with a slash that a URL will be redirected to; empty if unsure."""
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


@lru_cache(maxsize=1024)
def _bare(url: str) -> re.Match[str] | None:
    """Split an address that has no final slash, no extension and no query; ``None`` for others."""
    parts = _BARE.match(url)
    return parts if parts and not extension_of(parts[3]) else None


def _place(parts: re.Match[str]) -> str:
    """Return the name of an address's place."""
    return parts[1] + _DIGITS.sub("0", parts[2])
