"""What the thesis states about its four domains (sources.md T.7): the inputs of the made worlds.

``figures.py`` has what its crawlers found. No code that makes a world uses those figures, and a
test compares the numbers in the sources of both.
"""

from __future__ import annotations

from collections.abc import Mapping

DOMAINS = ("dbtune", "openlylocal", "deri", "rossettiarchive")

#: URLs of the merged crawl graph: success, redirect, refused, error. The thesis gives no other
#: sizes. Domain 4 has four errors less than reported, as its depths add up to so many URLs.
STATUS: Mapping[str, tuple[int, int, int, int]] = {
    "dbtune": (1063, 5458, 25, 684),
    "openlylocal": (6840, 197, 11, 700),
    "deri": (3448, 366, 37, 229),
    "rossettiarchive": (5876, 32, 5, 140),
}

#: RDF documents of all domains
RDF = 2915

#: Domain 4 by depth: URLs and RDF documents.
DEPTHS: Mapping[int, tuple[int, int]] = {
    0: (1, 0), 1: (20, 0), 2: (133, 0), 3: (2043, 35), 4: (2665, 1191), 5: (605, 1), 6: (508, 0),
    7: (47, 0), 8: (28, 0), 9: (3, 0),
}  # fmt: skip

#: Domain 3, the trap: documents that look like XML, and how many of them are RDF.
XML_LIKE, XML_RDF = 2978, 326


def rdf_of(name: str) -> int:
    """Return the number of a domain's RDF documents.

    The thesis gives those of domains 3 and 4, and the sum: the others share the rest by the number
    of their documents.
    """
    last = sum(rdf for _, rdf in DEPTHS.values())
    if name == "deri":
        return XML_RDF
    if name == "rossettiarchive":
        return last
    rest = RDF - XML_RDF - last
    first, second = STATUS["dbtune"][0], STATUS["openlylocal"][0]
    share = round(rest * first / (first + second))
    return share if name == "dbtune" else rest - share


def depths_of(name: str) -> dict[int, tuple[int, int]]:
    """Return URLs and RDF documents by depth: as in domain 4, in proportion to the domain's size.

    The thesis gives the depths of domain 4 only.
    """
    urls = _scaled({d: n for d, (n, _) in DEPTHS.items()}, sum(STATUS[name]))
    rdf = _scaled({d: n for d, (_, n) in DEPTHS.items()}, rdf_of(name))
    return {depth: (urls[depth], rdf[depth]) for depth in DEPTHS}


def _scaled(counts: Mapping[int, int], total: int) -> dict[int, int]:
    """Scale counts to a sum by largest remainders; the start page stays one."""
    start = counts[0]
    factor = (total - start) / (sum(counts.values()) - start)
    exact = {key: count * factor for key, count in counts.items() if key}
    whole = {key: int(value) for key, value in exact.items()}
    missing = total - start - sum(whole.values())
    for key in sorted(exact, key=lambda key: whole[key] - exact[key])[:missing]:
        whole[key] += 1
    return {0: start, **whole}
