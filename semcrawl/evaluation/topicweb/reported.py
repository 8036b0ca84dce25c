"""Figures that S and K report (sources.md), to be shown beside ours.

No code uses it to make a world or to steer a crawl.
"""

from __future__ import annotations

#: S's result; no numbers of it are known here
TOPIC = (
    "S compared breadth-first, PageRank and IPageRank on 20 travel sites and 60 others, more than "
    "20,000 pages, at 500, 1,000, … 4,000 pages: IPageRank was best in precision and discovery."
)

#: precision and recall in %, by query: of the traditional crawler, of the focused one
KEYWORDS = (
    ((70, 82), (80, 81)),
    ((82, 85), (88, 82)),
    ((77, 84), (85, 81)),
    ((79, 86), (86, 84)),
    ((76, 84), (85, 83)),
    ((71, 86), (88, 82)),
)
