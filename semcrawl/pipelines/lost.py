"""Items that could not be written."""

from __future__ import annotations

from scrapy.exceptions import DropItem


class ItemLost(DropItem):
    """An item could not be written: its link must not count as done.

    A ``DropItem``, as Scrapy logs those in one line; whoever acknowledges links tells the two
    apart in the signal ``item_dropped``.
    """

    def __init__(self, message: str) -> None:
        """Say why, in one line."""
        super().__init__(message, log_level="ERROR")
