"""Which links lead to folders whose server only adds a slash to them."""

from __future__ import annotations

import re
from dataclasses import dataclass

from semcrawl.web.urls import extension_of

#: a scheme and host, the folder, and a name without a query
_BARE = re.compile(r"(https?://[^/?#]+)(/(?:[^/?#]*/)*)([^/?#]+)\Z")
_DIGITS = re.compile(r"\d+")
#: answers of a place, beyond those that speak against it, from which on its slashes are foreseen,
#: and of a host, for its other places
_ENOUGH_OF_PLACE, _ENOUGH_OF_HOST = 2, 4
#: so many answers for it make up for one against it
_OUTWEIGHS = 4
#: links of a place that led nowhere by either address, from which on one address is enough
_ENOUGH_DEAD = 3
#: places and hosts that are remembered
_MOST_PLACES = 10_000


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
        """Whether nothing is to be expected at an address whose folder does not exist.

        So it is where several such links of its place were dead, and none led to a page.
        """
        parts = _bare(url)
        count = self._counts.get(_place(parts)) if parts else None
        return count is not None and count.dead >= _ENOUGH_DEAD and not count.left

    def foreseen(self, url: str) -> str:
        """Return the address that a URL will be redirected to; empty if that is not to be told."""
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
