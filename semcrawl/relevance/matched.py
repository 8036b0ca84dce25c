"""The keyword-focused crawler with its list of matched pages (sources.md K)."""

from __future__ import annotations

from collections.abc import Mapping

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.strategy import RuleOptions, Strategy

_SEEDS, _LINKS = "seeds", "links"
#: added to the depth of links on pages that did not match: behind all that are on pages that did
_UNMATCHED = 1e6


class KeywordFocused(Strategy):
    """Links of matched pages, breadth-first, and then those of the others, breadth-first.

    K keeps three lists (to crawl, crawled, matched) and puts a page whose content matches the
    keywords on the third, but does not say in which order the first is worked through.
    **Reading**: as its traditional crawler does, level by level, but what matched pages link to
    comes first. The matched pages are the targets of a crawl about ``keywords``.
    """

    name = "keyword-focused"
    #: links move forward when their page turns out to match
    rekeys = True

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self._moved: dict[str, float] = {}

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put seeds before links; of these, links wait as on a page that did not match."""
        self.set_value(_SEEDS, 1.0)
        self.set_value(_LINKS, 0.0)
        return (_SEEDS, 0.0) if link.element == "seed" else (_LINKS, _UNMATCHED + page.depth + 1)

    def learn(self, outcome: Outcome) -> None:
        """Bring the links of a matched page forward."""
        if outcome.target:
            key = float(outcome.depth + 1)
            self._moved.update((r.link.url, key) for r in outcome.new_links if r.group == _LINKS)

    def worth_telling(self, outcome: Outcome) -> bool:
        """Nothing: the worker that read the page moves its links."""
        return False

    def rekeyed(self) -> Mapping[str, float]:
        """Return the new keys of the links of matched pages."""
        moved, self._moved = self._moved, {}
        return moved
