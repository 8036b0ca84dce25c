"""What follows from redirects, and where those that add a slash to a folder's name are foreseen.

Nothing here waits or requests: an address and the state of its link in, what takes its place out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from semcrawl.crawl.policy import LinkPolicy
from semcrawl.frontier.links import LinkState
from semcrawl.items import FetchOutcome
from semcrawl.relevance import Label
from semcrawl.settings.reader import fill, read_switch, setting
from semcrawl.web.urls import Normalisation, dropped_index, extension_of, resolve

REDIRECTS: frozenset[int] = frozenset({300, 301, 302, 303, 307, 308})
#: statuses of addresses that do not exist
DEAD = (404, 410)
#: statuses that servers give for a folder without an index
_NO_FOLDER = frozenset({403, 404})
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


class Instead(NamedTuple):
    """An address that takes the place of a link."""

    url: str
    state: LinkState
    #: the crawl has seen it, but never asked for it
    seen: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """What follows from a redirect."""

    outcome: FetchOutcome = FetchOutcome.REDIRECTED
    #: where it leads to; empty if that is no address
    target: str = ""
    #: ``None`` if it is not followed
    instead: Instead | None = None
    #: why it is not
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RedirectOptions:
    """Which redirects are followed (``REDIRECT_…``) and foreseen (``SEMCRAWL_FORESEE_SLASHES``)."""

    enabled: bool = True
    most: int = 20
    foresees: bool = setting("SEMCRAWL_FORESEE_SLASHES")

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> RedirectOptions:
        """Read the settings of a crawl."""
        usual = cls()
        enabled = read_switch("REDIRECT_ENABLED", settings.get("REDIRECT_ENABLED", usual.enabled))
        most = int(settings.get("REDIRECT_MAX_TIMES", usual.most))
        found = fill(cls, settings, enabled=enabled, most=most)
        return replace(found, foresees=found.foresees and enabled and most > 0)

    def as_settings(self) -> dict[str, Any]:
        """Return the settings that give these options."""
        return {
            "REDIRECT_ENABLED": self.enabled,
            "REDIRECT_MAX_TIMES": self.most,
            "SEMCRAWL_FORESEE_SLASHES": self.foresees,
        }


class RedirectRules:
    """Decides what takes the place of links that servers redirect."""

    def __init__(
        self,
        policy: LinkPolicy,
        options: RedirectOptions | None = None,
        normalisation: Normalisation | None = None,
    ) -> None:
        """Learn of folders as the crawl goes on."""
        self._policy = policy
        self._options = options or RedirectOptions()
        self._normalisation = normalisation or Normalisation()
        self._slashes = FolderSlashes()

    def after_move(self, url: str, state: LinkState, location: str) -> Move:
        """Return what follows from a redirect of a link at ``url``."""
        target = resolve(url, location, self._normalisation)
        if target == url + "/":
            self.note_folder(url, state, added=True)
        elif state.foreseen and target == state.redirects[-1]:
            return Move(target=target, instead=self._as_linked(url, state))
        if target == url:
            # normalisation makes them equal, but the server does not: the target names an index
            # file, or has a query with presentational variables
            target = resolve(url, location, Normalisation(exact=True))
        if target is None:
            return Move(FetchOutcome.HTTP_ERROR, problem="Location is no http(s) URL")
        if not self._options.enabled:
            return Move(FetchOutcome.HTTP_ERROR, target, problem="REDIRECT_ENABLED is off")
        if len(state.redirects) >= self._options.most:
            return Move(FetchOutcome.HTTP_ERROR, problem="too many redirects")
        if not self._policy.may_redirect(target, state):
            problem = "redirected out of the scope"
            return Move(FetchOutcome.OUT_OF_SCOPE, target, problem=problem)
        index = dropped_index(location) if target.endswith("/") else ""
        return Move(target=target, instead=Instead(target, state.redirected(url, index=index)))

    def roots_of(self, state: LinkState, url: str) -> set[str]:
        """Return what the target of a seed's redirects adds to the scope; empty for other links."""
        scope = self._policy.scope
        return scope.roots_of(url) if state.is_seed and scope.lets_seed_go(url) else set()

    def foreseen(self, url: str, state: LinkState) -> Instead | None:
        """Return the folder that a link will surely be redirected to; ``None`` if that is unsure.

        Seeds, re-visits and links labelled R are fetched as they are.
        """
        by_name = state.parent is None or state.revisit or state.label is Label.R
        if not self._options.foresees or by_name or state.redirects or state.retries:
            return None
        target = self._slashes.foreseen(url)
        return Instead(target, replace(state, redirects=(url,), foreseen=True)) if target else None

    def note_folder(self, url: str, state: LinkState, *, added: bool) -> None:
        """Learn from an answer whether a slash is ``added`` to a link's address."""
        if not self._options.foresees:
            return
        if state.foreseen:
            self._slashes.note(state.redirects[-1], added=added)
        elif not state.redirects:
            self._slashes.note(url, added=added)
        elif state.redirects[-1] == url + "/":  # a wrong guess: its own address exists
            self._slashes.note(url, added=False)

    def note_dead(self, url: str, state: LinkState, status: int) -> None:
        """Note a link that is dead, with a slash and now without."""
        if status in DEAD and state.redirects and state.redirects[-1] == url + "/":
            self._slashes.note_dead(url)

    def after_error(self, url: str, state: LinkState, status: int) -> list[Instead]:
        """Return the addresses that may be tried after an error, of which the first new one is."""
        ways = self._by_name(url, state, status), self._as_linked(url, state, status)
        return [way for way in ways if way is not None]

    def _as_linked(self, url: str, state: LinkState, status: int = 0) -> Instead | None:
        """Return the address of a link that was wrongly taken for a folder; ``None`` for others.

        In a place whose links are dead with and without a slash, a dead folder is enough.
        """
        if not state.foreseen:
            return None
        target = state.redirects[-1]
        if status in DEAD and self._slashes.is_dead(target):
            return None
        return Instead(target, state.redirected(url), seen=True)

    def _by_name(self, url: str, state: LinkState, status: int) -> Instead | None:
        """Return the index file of a folder that has no page; ``None`` for others.

        The link named that file, which normalisation dropped. File stores have files, no folders.
        """
        if not state.index or status not in _NO_FOLDER or not url.endswith("/"):
            return None
        return Instead(
            url + state.index, replace(state.redirected(url, index=""), foreseen=state.foreseen)
        )


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
