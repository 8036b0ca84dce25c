"""A random order, as a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Self

from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label
from semcrawl.relevance.strategy import RuleOptions, Strategy
from semcrawl.settings.reader import Values, fill


class Random(Strategy):
    """Every waiting link is equally likely to be next.

    A link's key depends only on its URL and the random seed, so a crawl is repeatable with any
    number of workers.
    """

    name = "random"

    def __init__(self, options: RuleOptions | None = None, seed: int = 0) -> None:
        super().__init__(options)
        self._salt = seed.to_bytes(8, "big", signed=True)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read ``SEMCRAWL_RANDOM_SEED`` beside the settings of :class:`RuleOptions`."""
        return cls(fill(RuleOptions, settings), Values(settings)["SEMCRAWL_RANDOM_SEED"])

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Put all links into one group, with a key between 0 and 1."""
        digest = blake2b(link.url.encode("utf-8", "replace"), digest_size=6, key=self._salt)
        return "all", int.from_bytes(digest.digest(), "big") / 2**48
