"""Addresses that others submit to a running crawl: checked, then put before all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy.settings import BaseSettings

from semcrawl.config.transfers import TransferOptions
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.session import CrawlSession
from semcrawl.errors import UsageError
from semcrawl.frontier.links import LinkState
from semcrawl.settings.reader import fill
from semcrawl.spiders.seeds import seed_url
from semcrawl.web.hosts import host_of, is_private_address
from semcrawl.web.urls import Normalisation, dropped_index

#: prefix of the cache entries that mark an address as submitted recently
_LATELY = "submitted:"


@dataclass
class Submissions:
    """Takes submitted addresses for a spider."""

    session: CrawlSession
    policy: LinkPolicy
    normalisation: Normalisation
    queue: str
    #: whether addresses outside the scope may be submitted
    any_site: bool = False
    #: whether private addresses that no seed names may be submitted
    allow_private: bool = False
    #: seconds before an address may be submitted again
    interval: float = 3600.0

    @classmethod
    def from_settings(
        cls,
        settings: BaseSettings,
        session: CrawlSession,
        policy: LinkPolicy,
        normalisation: Normalisation,
        queue: str,
    ) -> Self:
        """Read the settings."""
        return cls(
            session=session,
            policy=policy,
            normalisation=normalisation,
            queue=queue,
            any_site=settings.getbool("SEMCRAWL_PING_ANY_SITE"),
            allow_private=fill(TransferOptions, settings).allow_private,
        )

    async def take(self, text: str) -> bool:
        """Put an address before all others; return whether it will be fetched.

        A known address is visited again; one that was submitted recently is not. Raises
        ``UsageError`` for an address that may not be submitted, and ``FrontierError``.
        """
        url = seed_url(text, self.normalisation)
        self._check(url, text)
        name = _LATELY + url
        if await self.session.frontier.shared.get(name) is not None:
            return False
        await self.session.frontier.shared.put(name, b"1", seconds=self.interval)
        if self.any_site:
            await self.session.intake.add_roots(self.policy.scope.roots_of(url))
        await self.session.intake.put_first(url, LinkState(index=dropped_index(text)), self.queue)
        return True

    def _check(self, url: str, text: str) -> None:
        """Raise ``UsageError`` for an address that may not be submitted."""
        scope, host = self.policy.scope, host_of(url)
        if not url.startswith(("http://", "https://")):
            raise UsageError(f"not an http or https URL: {text[:200]!r}")
        if is_private_address(host) and not (self.allow_private or host in scope.named):
            raise UsageError(f"{host} is a private address")
        if not (self.any_site or scope.inside(url)):
            raise UsageError(f"{host} is not on the sites of the crawl")
        if not (self.policy.is_allowed(url) and self.policy.patterns.allow(url)):
            raise UsageError("the patterns of the crawl exclude it")
