"""What a house does in a crawl (:mod:`semcrawl.houses`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from scrapy.http import Response

from semcrawl.crawl.attempt import Attempt
from semcrawl.items import FetchOutcome
from semcrawl.links import Link
from semcrawl.rdf import Reading


@dataclass(slots=True)
class Found:
    """What a house finds in a page or an RDF document: an item and links."""

    item: Any
    links: list[Link]
    #: adds what another reading of the page's data names, and returns its links
    more: Callable[[Reading], list[Link]]


@dataclass(frozen=True, slots=True)
class FoundBody:
    """A body that is neither RDF nor a page, and that a house can read."""

    item: Any
    real_type: str
    #: outcome if it is kept; ``None``: it is not
    outcome: FetchOutcome | None
    #: why it is not kept
    fault: str = ""
    #: whether it may be had later
    may_pass: bool = False


class CrawlPart(Protocol):
    """A house's readers of bodies, for one spider."""

    async def of_page(self, attempt: Attempt, response: Response, data: Reading | None) -> Found:
        """Read a page and the data in it."""
        ...

    def of_rdf(self, attempt: Attempt, response: Response, data: Reading) -> Found:
        """Read an RDF document."""
        ...

    async def of_body(self, attempt: Attempt, response: Response) -> FoundBody | None:
        """Read another body; ``None`` if it is not of the house's kind."""
        ...

    def redirected(self, attempt: Attempt, target: str) -> Any:
        """Return the item of a redirect; ``None`` if there is none."""
        ...
