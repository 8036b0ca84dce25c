"""Links that are not asked for, as none of those like them led anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Withheld:
    """A family of links (:mod:`semcrawl.relevance.families`) of which some are withheld."""

    document: str
    pattern: str
    #: withheld
    links: int
    #: asked for, none of which was of any use
    asked: int

    @classmethod
    def read(cls, facts: Mapping[bytes, bytes], links: int) -> Self:
        """Read what the frontier keeps of a family."""
        document, pattern = (
            facts.get(name, b"").decode("utf-8", "surrogatepass")
            for name in (b"document", b"pattern")
        )
        asked = sum(int(facts.get(name, 0)) for name in (b"barren", b"unknown", b"useful"))
        return cls(document, pattern, links, asked)
