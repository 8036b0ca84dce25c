"""What operators decide for a crawl: the frontier keeps it, and all workers obey.

Nothing here ends in a final outcome: links of a paused host or crawl wait in the frontier, and
links that a pattern or budget forbids are set aside until it changes.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from semcrawl.crawl.claims import CLAIM, claimed
from semcrawl.errors import FrontierCorrupt, FrontierUnavailable
from semcrawl.frontier.contract import Frontier, Rank

#: settings that orders may override
HOST, DOMAIN = "SEMCRAWL_HOST_BUDGET", "SEMCRAWL_DOMAIN_BUDGET"
INCLUDE, EXCLUDE = "SEMCRAWL_INCLUDE", "SEMCRAWL_EXCLUDE"
CHANGEABLE = (HOST, DOMAIN, INCLUDE, EXCLUDE)
#: name under which the frontier keeps them
_NAME = "limits"
#: orders that are remembered
_MOST_SAID = 200


@dataclass(frozen=True, slots=True)
class Said:
    """An order that was given: its number, when (epoch), by what (``command``, ``page``)."""

    number: int
    at: float
    by: str
    text: str


@dataclass(slots=True)
class Orders:
    """The orders that hold, and those that were given."""

    #: settings by name, instead of those of the runs
    limits: dict[str, Any] = field(default_factory=dict)
    #: whether no request is sent
    paused: bool = False
    #: hosts (with their ports) to which no request is sent
    paused_hosts: list[str] = field(default_factory=list)
    #: by unit of politeness: least seconds between two requests, and what its robots.txt wants
    delays: dict[str, tuple[float, float]] = field(default_factory=dict)
    #: by unit of politeness: whether its links come first (1) or last (-1), as the frontier does
    ranks: dict[str, Rank] = field(default_factory=dict)
    #: how often the running workers were told to stop
    stops: int = 0
    said: list[Said] = field(default_factory=list)

    @classmethod
    def read(cls, content: bytes | None) -> Self:
        """Read what :meth:`pack` wrote; raise ``ValueError`` and the like for other content."""
        found: Mapping[str, Any] = json.loads(content or b"{}")
        known = {each.name for each in fields(cls)} - {"limits"}
        orders = cls(
            {name: found[name] for name in CHANGEABLE if name in found},
            **{name: found[name] for name in known if name in found},
        )
        orders.said = [Said(**each) for each in found.get("said", ())]
        orders.delays = {
            str(host): (float(delay), float(least))
            for host, (delay, least) in dict(orders.delays).items()
        }
        orders.ranks = {str(host): 1 if rank > 0 else -1 for host, rank in orders.ranks.items()}
        orders.paused_hosts = list(map(str, orders.paused_hosts))
        return orders

    def pack(self) -> bytes:
        """Return them as bytes."""
        content = asdict(self)
        return json.dumps({**content.pop("limits"), **content}).encode()

    def note(self, by: str, text: str) -> None:
        """Note that an order was given."""
        number = self.said[-1].number + 1 if self.said else 1
        self.said = [*self.said, Said(number, time.time(), by, text)][-_MOST_SAID:]

    def lines(self) -> list[str]:
        """Return the orders that hold, a line each."""
        limits = (
            f"{name} = {value if isinstance(value, str) else ', '.join(value)}"
            for name in CHANGEABLE
            if (value := self.limits.get(name))
        )
        return [
            *limits,
            *(["paused"] if self.paused else []),
            *(f"paused: {host}" for host in self.paused_hosts),
            *(f"{'first' if rank > 0 else 'last'}: {host}" for host, rank in self.ranks.items()),
            *(f"delay of {host}: {seconds:g} s" for host, (seconds, _) in self.delays.items()),
        ]


async def load_orders(frontier: Frontier) -> Orders:
    """Return the orders for a crawl."""
    content = await frontier.shared.get(_NAME)
    try:
        return Orders.read(content)
    except (ValueError, TypeError, AttributeError) as error:
        raise FrontierCorrupt(f"{frontier.shared.place}, {_NAME!r}: {error}") from error


@asynccontextmanager
async def changed_orders(frontier: Frontier) -> AsyncIterator[Orders]:
    """Change the orders for all workers and later runs, one operator after the other.

    Raises ``FrontierUnavailable`` if others keep them.
    """
    async with claimed(frontier.shared, _NAME, 2 * CLAIM) as has:
        if not has:
            raise FrontierUnavailable("other operators change the orders of this crawl; try again")
        orders = await load_orders(frontier)
        yield orders
        await frontier.shared.put(_NAME, orders.pack())
