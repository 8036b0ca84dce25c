"""Links that are not asked for: none like them led anywhere, or a mirror gave the same."""

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
    #: these are copies: ``document`` and ``pattern`` are two origins that give the same
    mirror: bool = False

    @classmethod
    def read(cls, facts: Mapping[bytes, bytes], links: int) -> Self:
        """Read what the frontier keeps of a family."""
        document, pattern = (
            facts.get(name, b"").decode("utf-8", "surrogatepass")
            for name in (b"document", b"pattern")
        )
        mirror = b"mirror" in facts
        if mirror:
            document, pattern = sorted((document, pattern))
        asked = sum(int(facts.get(name, 0)) for name in (b"barren", b"unknown", b"useful"))
        return cls(document, pattern, links, asked, mirror)
