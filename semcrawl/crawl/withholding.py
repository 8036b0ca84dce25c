"""Links that are not fetched: left out, or of a family that leads nowhere.

Each book collects what this process learns. It reports to the frontier before the links that it
learned from are acknowledged.
"""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.frontier.contract import Aside
from semcrawl.links import Reason
from semcrawl.relevance import Outcome
from semcrawl.relevance.families import Verdict, by_name, families, verdict

#: links that one call restores
_AT_ONCE = 500


class LeftOutBook:
    """Links that a process leaves out; the frontier counts each once.

    ``limit``: most links that the frontier counts; ``remembered``: links that this process
    remembers, so as not to report them again.
    """

    def __init__(self, aside: Aside, limit: int, remembered: int = 100_000) -> None:
        self._aside = aside
        self._limit = limit
        self._remembered = remembered
        self._reported: set[int] = set()
        self._unreported: list[tuple[str, Reason]] = []

    def add(self, url: str, reason: Reason) -> None:
        """Note a link."""
        code = hash((url, reason))
        if self._limit and code not in self._reported:
            if len(self._reported) >= self._remembered:
                self._reported.clear()
            self._reported.add(code)
            self._unreported.append((url, reason))

    async def flush(self) -> None:
        """Report what is new to the frontier."""
        if new := list(self._unreported):
            # images and style sheets must not take the room of the others
            await self._aside.leave_out(
                [n for n in new if n[1] is not Reason.OTHER_TYPE], self._limit
            )
            media = [n for n in new if n[1] is Reason.OTHER_TYPE]
            await self._aside.leave_out(media, max(1, self._limit // 10))
            del self._unreported[: len(new)]


class FamilyBook:
    """Families of links (:mod:`semcrawl.relevance.families`): names them, reports their outcomes.

    ``tries``: links of a family that must lead nowhere before the others are withheld; 0 = no
    links are withheld.
    """

    def __init__(self, aside: Aside, tries: int) -> None:
        self._aside = aside
        self._tries = tries
        #: outcomes not reported yet: family, verdict, the document that the link led to
        self._unreported: list[tuple[str, Verdict, str]] = []

    async def open(self) -> None:
        """Restore links that are withheld no longer, after a change of the setting, say."""
        await _restore(self._aside)

    async def name(self, document: str, urls: Sequence[str]) -> dict[str, str]:
        """Name the families of a document's links, by URL, and report them to the frontier."""
        if not 0 < self._tries < len(urls):
            return {}
        found = families(document, urls, self._tries)
        await self._aside.know_families(by_name(found))
        return {url: family.name for url, family in found.items()}

    def note(self, outcome: Outcome) -> None:
        """Note the outcome of a fetch."""
        if outcome.family:
            self._unreported.append((outcome.family, verdict(outcome), outcome.led_to))

    async def flush(self) -> None:
        """Report what is new to the frontier."""
        if new := list(self._unreported):
            restore = await self._aside.judge_families(new)
            del self._unreported[: len(new)]
            if restore:
                await _restore(self._aside)


async def _restore(aside: Aside) -> None:
    """Restore all links that are withheld no longer."""
    while await aside.restore(_AT_ONCE) >= _AT_ONCE:
        pass
