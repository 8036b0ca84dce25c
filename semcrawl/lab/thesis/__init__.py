"""The four domains of the thesis, made from what it states about them (sources.md T.7).

``stated.py`` has the statements, ``sites.py`` makes the sites, and ``figures.py`` has what the
thesis's crawlers found there, which reports show beside ours.
"""

from __future__ import annotations

from semcrawl.lab.thesis.sites import build
from semcrawl.lab.thesis.stated import DOMAINS
from semcrawl.lab.worlds import BuiltWorld

__all__ = ["build", "thesis_worlds"]


def thesis_worlds(
    seed: int = 0, order: int | None = None, *, linked: bool = False
) -> list[BuiltWorld]:
    """Return the four domains in the thesis's order.

    The seed changes names, places and the order of links; ``order`` changes the latter alone. In
    ``linked`` domains RDF links on.
    """
    return [build(name, seed, order, linked=linked) for name in DOMAINS]
