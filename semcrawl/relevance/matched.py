"""The keyword-focused crawler with its list of matched pages (sources.md K)."""

from __future__ import annotations

from collections.abc import Mapping

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy

_SEEDS, _LINKS = "seeds", "links"
#: added to the key of links on unmatched pages, to put them behind those on matched pages
_UNMATCHED = 1e6


class KeywordFocused(Strategy):
    """First the links of matched pages, breadth-first, then those of other pages, breadth-first.

    K keeps three lists: to crawl, crawled, and matched (pages whose content matches the keywords).
    It does not state the order of the first. **Reading**: level by level, as its traditional
    crawler does, but links of matched pages come first. The matched pages are the targets of a
    crawl about ``keywords``.
    """

    name = "keyword-focused"
    #: links move forward when their page turns out to match
    rekeys = True

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self._moved: dict[str, float] = {}

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put seeds before links; links start as those of an unmatched page."""
        self.set_value(_SEEDS, 1.0)
        self.set_value(_LINKS, 0.0)
        return (_SEEDS, 0.0) if link.element == "seed" else (_LINKS, _UNMATCHED + page.depth + 1)

    def learn(self, outcome: Outcome) -> None:
        """Move the links of a matched page forward."""
        if outcome.target:
            key = float(outcome.depth + 1)
            self._moved.update((r.link.url, key) for r in outcome.new_links if r.group == _LINKS)

    def worth_telling(self, outcome: Outcome) -> bool:
        """Never: the worker that reads a page moves its links."""
        return False

    def rekeyed(self) -> Mapping[str, float]:
        """Return the new keys of the links of matched pages."""
        moved, self._moved = self._moved, {}
        return moved
