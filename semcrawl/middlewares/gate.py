"""Where a request passes to an address at the address's pace."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from semcrawl.crawl.failures import PutBack
from semcrawl.crawl.session import CrawlSession
from semcrawl.frontier.contract import Lease
from semcrawl.web.hosts import is_private_address


class AddressGate:
    """Lets one request through when its address may be asked.

    A link goes back whose address may not be asked now; other requests wait.
    """

    def __init__(self, session: CrawlSession, host: str, lease: Lease | None) -> None:
        self._session = session
        self._limits = session.options.address
        self._host = host
        self._lease = lease
        self._name = uuid4().hex
        self._address = ""
        self._passed = False

    async def __call__(self, address: str) -> None:
        """Wait until the address may be asked; raise ``PutBack`` for a link that cannot wait."""
        if self._passed or (is_private_address(address) and not self._limits.private):
            return
        pace, is_link = self._session.frontier.addresses, self._lease is not None
        arguments = (self._host, address, self._name, self._limits)
        while wait := await pace.turn(*arguments, rests=is_link):
            if is_link:
                self._session.requests -= 1
                raise PutBack("others are asked at its address")
            await asyncio.sleep(wait)
        self._passed, self._address = True, address

    async def over(self) -> None:
        """Say that the request is over."""
        if self._address:
            address, self._address = self._address, ""
            await self._session.frontier.addresses.over(address, self._name)
