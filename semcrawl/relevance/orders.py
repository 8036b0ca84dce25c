"""The uninformed orders: breadth-first and depth-first (sources.md X, and BC of T.7)."""

from __future__ import annotations

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label
from semcrawl.relevance.strategy import RuleOptions, Strategy, reading_state


class BreadthFirst(Strategy):
    """A group per depth, the smallest depth first; inside a group first in, first out.

    With the departures off this is the crawler BC of the thesis.
    """

    name = "breadth-first"

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by depth, with value −depth."""
        depth = page.depth + 1
        self.set_value(f"depth {depth}", float(-depth))
        return f"depth {depth}", 0.0


class DepthFirst(Strategy):
    """The deepest level first; inside a level last in, first out."""

    name = "depth-first"

    def __init__(self, options: RuleOptions | None = None) -> None:
        super().__init__(options)
        self._ranked = 0

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Group by depth, with the depth as value; the key counts down."""
        depth = page.depth + 1
        self.set_value(f"depth {depth}", float(depth))
        self._ranked += 1
        return f"depth {depth}", float(-self._ranked)

    def dump_state(self) -> bytes:
        """Return the number of ranked links."""
        return self._as_json(ranked=self._ranked)

    def load_state(self, state: bytes) -> None:
        """Restore the number of ranked links."""
        with reading_state(self.name):
            self._ranked = int(self._of_json(state)["ranked"])
