"""Budgets of hosts and of pay-level domains: how much of a place a crawl asks for (T.8)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from semcrawl.errors import UsageError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kmgt]?)b?", re.I)
_SHARE = re.compile(r"(\d+(?:\.\d+)?)(%?)/(\d+)")
_COUNTED = ("requests", "bytes", "documents", "depth")
_KNOWN = "requests=N, bytes=N (K, M, G), documents=N, depth=N, rdf=SHARE/REQUESTS"


@dataclass(slots=True)
class Spent:
    """Requests, bytes and documents of a place so far."""

    requests: int = 0
    bytes: int = 0
    #: RDF documents
    documents: int = 0

    def add(self, other: Spent) -> None:
        """Add what was spent elsewhere."""
        self.requests += other.requests
        self.bytes += other.bytes
        self.documents += other.documents


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of a place; ``None``: it has none of that kind."""

    requests: int | None = None
    #: of bodies received
    bytes: int | None = None
    #: RDF documents
    documents: int | None = None
    #: links from a seed
    depth: int | None = None
    #: least share of RDF documents, 0 to 1, once there were so many requests
    share: float = 0.0
    after: int = 0

    @classmethod
    def parse(cls, name: str, text: str) -> Self:
        """Read ``requests=1000,bytes=1G,documents=500,depth=6,rdf=1%/200``.

        ``name`` is that of the setting; raises ``UsageError`` for anything else.
        """
        found: dict[str, int] = {}
        share, after = 0.0, 0
        for part in filter(None, (each.strip() for each in text.split(","))):
            kind, _, value = (each.strip().lower() for each in part.partition("="))
            if kind == "rdf" and (match := _SHARE.fullmatch(value)):
                share, after = float(match[1]) / (100 if match[2] else 1), int(match[3])
                if share <= 1:
                    continue
            elif kind in _COUNTED and kind not in found and (match := _NUMBER.fullmatch(value)):
                found[kind] = int(float(match[1]) * _UNITS[match[2].lower()])
                continue
            raise UsageError(f"{name}: {part!r} is none of {_KNOWN}")
        return cls(**found, share=share, after=after)

    def __bool__(self) -> bool:
        """Whether there is any bound."""
        return self != Budget()

    def exceeded(self, spent: Spent, depth: int) -> str:
        """Say which bound keeps a link of this depth from being asked for; empty if none does."""
        if self.depth is not None and depth > self.depth:
            return f"it is deeper than {self.depth}"
        for name in ("requests", "bytes", "documents"):
            most = getattr(self, name)
            if most is not None and getattr(spent, name) >= most:
                return f"{most:,} {name} are spent"
        enough = spent.requests >= self.after > 0
        if enough and spent.documents < self.share * spent.requests:
            return f"less than {self.share:.3g} of {spent.requests:,} requests gave RDF"
        return ""
