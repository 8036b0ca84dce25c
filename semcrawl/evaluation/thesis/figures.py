"""The thesis's figures (sources.md T.7), which reports show beside ours.

No code uses it to make a world or to steer a crawl.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

DOMAINS = ("dbtune", "openlylocal", "deri", "rossettiarchive")

#: RDF documents found in 2,000 requests, by domain.
FOUND: Mapping[str, tuple[int, int, int, int]] = {
    "rules-parents": (89, 726, 326, 975),
    "breadth-first": (17, 2, 2, 4),
}

#: URLs of the merged crawl graph: success, redirect, refused, error.
STATUS: Mapping[str, tuple[int, int, int, int]] = {
    "dbtune": (1063, 5458, 25, 684),
    "openlylocal": (6840, 197, 11, 700),
    "deri": (3448, 366, 37, 229),
    "rossettiarchive": (5876, 32, 5, 144),
}

#: Domain 4 by depth: URLs and RDF documents of the merged graph.
DEPTHS: Mapping[int, tuple[int, int]] = {
    0: (1, 0), 1: (20, 0), 2: (133, 0), 3: (2043, 35), 4: (2665, 1191), 5: (605, 1), 6: (508, 0),
    7: (47, 0), 8: (28, 0), 9: (3, 0),
}  # fmt: skip

#: FC-R+HR: label → per domain (predicted, fetched, right).
LABELS: Mapping[str, tuple[tuple[int, int, int], ...]] = {
    "R": ((375, 157, 89), (726, 726, 726), (437, 430, 324), (982, 975, 975)),
    "HR": ((278, 98, 89), (1225, 1225, 693), (182, 179, 177), (985, 982, 971)),
    "N": ((10, 6, 5), (860, 650, 647), (66, 8, 5), (986, 451, 451)),
}

#: Mean precision of FC-R+HR's labels over the domains, %.
PRECISION: Mapping[str, float] = {"R": 83.08, "HR": 86.29, "N": 86.34}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule's figures in %."""

    support: float
    confidence: float


RULES: Mapping[str, Rule] = {
    "ex1": Rule(80.89, 99.88),
    "ty1": Rule(83.96, 100),
    "ti1": Rule(34.34, 100),
    "an1": Rule(15.33, 75.88),
    "co1": Rule(0, 0),
    "ty2": Rule(83.96, 100),
    "ti2": Rule(3.64, 100),
    "an2": Rule(0, 0),
    "co2": Rule(15.99, 66.67),
    "pa1": Rule(15.52, 74.72),
    "r1": Rule(100, 72.45),
    "r2": Rule(0, 0),
}
