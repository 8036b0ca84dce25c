"""When to stop early: what is left is not expected to pay."""

from __future__ import annotations

from semcrawl.errors import UsageError


class Patience:
    """Ends a crawl after so many requests without a new target, if no more are expected.

    Both must hold: the last ``requests`` brought nothing, and as many more are expected to bring
    less than ``least`` targets. A crawl whose strategy expects nothing in numbers goes by the
    first alone.
    """

    def __init__(self, requests: int, least: float = 1.0) -> None:
        if requests < 1:
            raise UsageError(f"patience must be 1 request or more, not {requests}")
        self.requests = requests
        self.least = least
        self._fruitless = 0

    def note(self, *, target: bool) -> None:
        """Hear of a request's end."""
        self._fruitless = 0 if target else self._fruitless + 1

    def is_over(self, expected_next: float | None = None) -> bool:
        """Whether to stop. ``expected_next``: targets that the next ``requests`` would bring."""
        if self._fruitless < self.requests:
            return False
        return expected_next is None or expected_next < self.least
