"""Several made sites in one world."""

from __future__ import annotations

from collections.abc import Sequence

from semcrawl.lab.worlds import Answer
from semcrawl.web.hosts import netloc_of

from .site import MadeSite


class MixedWorld:
    """Several sites, each on its own host and with its own seed."""

    def __init__(self, name: str, sites: Sequence[MadeSite]) -> None:
        self.name = name
        self._sites = {site.host: site for site in sites}

    @property
    def hosts(self) -> frozenset[str]:
        """All their hosts."""
        return frozenset(self._sites)

    @property
    def starts(self) -> tuple[str, ...]:
        """All their start pages."""
        return tuple(site.start for site in self._sites.values())

    def robots(self, host: str) -> str:
        """There is none."""
        return ""

    def body(self, url: str) -> bytes:
        """The body of a page or document."""
        return self._sites[netloc_of(url)].body(url)

    def fetch(self, url: str) -> Answer:
        """Answer a URL."""
        return self._sites[netloc_of(url)].fetch(url)
