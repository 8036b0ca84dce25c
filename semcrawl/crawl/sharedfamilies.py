"""Families of links, shared by the workers of a crawl (:mod:`semcrawl.relevance.families`)."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.frontier.redis.frontier import RedisFrontier
from semcrawl.relevance import Outcome
from semcrawl.relevance.families import Verdict, by_name, families, verdict

#: links that go back in with one call
_AT_ONCE = 500


class FamilyBook:
    """Names the families of the links that go in, and tells the frontier what came of them.

    ``tries``: links of a family that bring nothing before the others are withheld; 0 = all are
    asked for.
    """

    def __init__(self, frontier: RedisFrontier, tries: int) -> None:
        self._frontier = frontier
        self._tries = tries
        #: of answers that the frontier has not been told of: family, verdict, where it led
        self._untold: list[tuple[str, Verdict, str]] = []

    async def open(self) -> None:
        """Put links back in that are not to be withheld any more, as the setting changed, say."""
        await self._restore()

    async def name(self, document: str, urls: Sequence[str]) -> dict[str, str]:
        """Return the names of the families of a document's links, by URL; make them known."""
        if not 0 < self._tries < len(urls):
            return {}
        found = families(document, urls, self._tries)
        await self._frontier.know_families(by_name(found))
        return {url: family.name for url, family in found.items()}

    def note(self, outcome: Outcome) -> None:
        """Take in what a fetch turned out to be."""
        if outcome.family:
            self._untold.append((outcome.family, verdict(outcome), outcome.led_to))

    async def tell(self) -> None:
        """Tell the frontier; to be awaited before the links are acknowledged."""
        if untold := list(self._untold):
            restore = await self._frontier.judge_families(untold)
            del self._untold[: len(untold)]
            if restore:
                await self._restore()

    async def _restore(self) -> None:
        while await self._frontier.unwithhold(_AT_ONCE) >= _AT_ONCE:
            pass
