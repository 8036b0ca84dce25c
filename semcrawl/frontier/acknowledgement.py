"""Acknowledging a link only when all its results are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from semcrawl.frontier.contract import Lease
from semcrawl.frontier.scheduler import LEASE
from semcrawl.pipelines.lost import ItemLost


@dataclass(slots=True)
class _Attempt:
    lease: Lease
    #: items on their way through the pipelines
    items: int = 0
    ended: bool = False
    failed: bool = False


class Acknowledgement:
    """Extension: counts the items of each attempt on their way through the pipelines.

    The callback tells :meth:`item` for each item that it yields and :meth:`end` at its end;
    Scrapy's signals tell when an item is through.
    """

    def __init__(self) -> None:
        self._attempts: dict[str, _Attempt] = {}
        self._acknowledge: Callable[..., None] | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension and listen for finished items."""
        extension = cls()
        crawler.signals.connect(extension.item_over, signals.item_scraped)
        crawler.signals.connect(extension.item_dropped, signals.item_dropped)
        crawler.signals.connect(extension.item_lost, signals.item_error)
        return extension

    def item(self, lease: Lease) -> None:
        """Note that an item of the attempt goes to the pipelines."""
        self._attempts.setdefault(lease.id, _Attempt(lease)).items += 1

    def end(self, lease: Lease, acknowledge: Callable[..., None], *, failed: bool = False) -> None:
        """Note that no more items come; ``acknowledge(lease, failed=…)`` when all are through."""
        attempt = self._attempts.setdefault(lease.id, _Attempt(lease))
        attempt.ended, attempt.failed = True, attempt.failed or failed
        self._acknowledge = acknowledge
        self._settle(attempt)

    def item_over(self, item: Any, response: Response | None) -> None:
        """Hear that an item was written."""
        self._one_less(response, lost=False)

    def item_dropped(self, item: Any, response: Response | None, exception: BaseException) -> None:
        """Hear that an item was dropped: on purpose, or because it could not be written."""
        self._one_less(response, lost=isinstance(exception, ItemLost))

    def item_lost(self, item: Any, response: Response | None) -> None:
        """Hear that a pipeline failed: the link is kept among the failed ones."""
        self._one_less(response, lost=True)

    def _one_less(self, response: Response | None, *, lost: bool) -> None:
        request = getattr(response, "request", None)
        lease = request.meta.get(LEASE) if request is not None else None
        attempt = self._attempts.get(lease.id) if lease is not None else None
        if attempt is not None:
            attempt.items -= 1
            attempt.failed = attempt.failed or lost
            self._settle(attempt)

    def _settle(self, attempt: _Attempt) -> None:
        if attempt.ended and attempt.items <= 0 and self._acknowledge is not None:
            del self._attempts[attempt.lease.id]
            self._acknowledge(attempt.lease, failed=attempt.failed)
