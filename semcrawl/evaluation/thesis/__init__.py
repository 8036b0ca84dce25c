"""The four domains of the thesis, rebuilt from the figures it reports (sources.md T.7).

Each module builds one site: how many URLs of which class and status, at which depth, of which
shape, and which cues their links carry. What crawlers find there is nowhere said. The figures
that the thesis does not give are listed in ``docs/reproduction.md``.
"""

from __future__ import annotations

from semcrawl.evaluation.built import BuiltWorld
from semcrawl.evaluation.thesis import dbtune, deri, openlylocal, rossetti


def thesis_worlds(seed: int = 0) -> list[BuiltWorld]:
    """Return the four domains in the thesis's order; the seed changes names and positions."""
    return [
        dbtune.build(seed),
        openlylocal.build(seed),
        deri.build(seed),
        rossetti.build(seed),
    ]


__all__ = ["thesis_worlds"]
