"""The uninformed orders: breadth-first and depth-first (sources.md X, and BC of T.7)."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Ranked
from semcrawl.relevance.strategy import RuleOptions, Strategy, reading_state


class BreadthFirst(Strategy):
    """A group per depth, the smallest depth first; inside a group first in, first out."""

    name = "breadth-first"

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by depth, with value −depth."""
        depth = page.depth + 1
        self.set_value(f"depth {depth}", float(-depth))
        return f"depth {depth}", 0.0


class Traditional(BreadthFirst):
    """BC of the thesis (T.7): it drops non-semantic extensions, and labels no link.

    So no body is read for its link's label, as the content-type filter alone decides.
    """

    def label(self, page: Page, link: Link) -> tuple[Label, tuple[str, ...]]:
        """Take every link for one to a page."""
        return Label.H, ()


class DepthFirst(Strategy):
    """The deepest level first; inside a level the newest page first, and its first link (K).

    Seeds come first in, first out.
    """

    name = "depth-first"

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self._ranked = 0

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Rank the last link of a page first, so that its first link has the smallest key."""
        return super().rank(page, links[::-1])[::-1]

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by depth, with the depth as value; the key counts down, but for seeds."""
        depth = page.depth + 1
        self.set_value(f"depth {depth}", float(depth))
        if link.element == "seed":
            return f"depth {depth}", 0.0
        self._ranked += 1
        return f"depth {depth}", float(-self._ranked)

    def dump_state(self) -> bytes:
        """Return the number of ranked links."""
        return self._as_json(ranked=self._ranked)

    def load_state(self, state: bytes) -> None:
        """Restore the number of ranked links."""
        with reading_state(self.name):
            self._ranked = int(self._of_json(state)["ranked"])
