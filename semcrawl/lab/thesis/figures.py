"""What the thesis's crawlers found (sources.md T.7), shown beside ours.

No code uses it to make a world or to steer a crawl; a test sees to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from semcrawl.lab.thesis import stated

DOMAINS = stated.DOMAINS

#: RDF documents found in 2,000 requests, by domain.
FOUND: Mapping[str, tuple[int, int, int, int]] = {
    "rules-parents": (89, 726, 326, 975),
    "breadth-first": (17, 2, 2, 4),
}

#: Table 4-3, the union of the five crawls: success, redirect, refused, error by domain; RDF
#: documents and HTML parents of RDF. Its rows are the only sizes that the thesis gives; the made
#: domains have them as a whole, and crawls of ours meet a part.
MERGED: Mapping[str, tuple[int, int, int, int]] = {
    **stated.STATUS,
    "rossettiarchive": (5876, 32, 5, 144),
}
MERGED_URLS, MERGED_RDF, MERGED_PARENTS = 25111, stated.RDF, 2812

#: Table 4-4, what BC and FC-R+HR both met, by domain: documents, RDF among them.
MET_BY_BOTH: Mapping[str, tuple[int, int]] = {
    "dbtune": (378, 19), "openlylocal": (95, 2), "deri": (1440, 99),
    "rossettiarchive": (1027, 4),
}  # fmt: skip

#: Domain 4, crawler → depth: requests, RDF found (``None`` = not told).
DEPTHS: Mapping[str, Mapping[int, tuple[int, int | None]]] = {
    "breadth-first": {3: (1846, None)},
    "rules-parents": {3: (989, None), 4: (978, 971)},
}

#: FC-R+HR: label → per domain (predicted, fetched, right).
LABELS: Mapping[str, tuple[tuple[int, int, int], ...]] = {
    "R": ((375, 157, 89), (726, 726, 726), (437, 430, 324), (982, 975, 975)),
    "HR": ((278, 98, 89), (1225, 1225, 693), (182, 179, 177), (985, 982, 971)),
    "N": ((10, 6, 5), (860, 650, 647), (66, 8, 5), (986, 451, 451)),
}

#: Mean precision of FC-R+HR's labels over the domains, %. The copy's 83.08 for R comes from a
#: misprint (56.96 for 56.69); its counts give 83.01.
PRECISION: Mapping[str, float] = {"R": 83.08, "HR": 86.29, "N": 86.34}

#: FC-R2: links called N, RDF documents among them, precision of N in %.
CALLED_N = (223, 134, 40.0)

#: Share of the RDF that FC-R+HR found with an extension or a content type of RDF, %.
CLEAR = 84.0


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
