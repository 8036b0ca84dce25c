"""Two reference crawlers that know the whole site in advance.

``omniscient`` knows the link graph and always takes the cheapest path to the richest page; areas
are given relative to its area. ``perfect-links`` fetches only targets, as if each were a seed.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque

from semcrawl.evaluation.graph import SiteMap

REFERENCES = ("omniscient", "perfect-links")


def reference_curve(name: str, site: SiteMap, budget: int) -> list[int]:
    """Return the curve of a reference, one of :data:`REFERENCES`."""
    return {"omniscient": omniscient, "perfect-links": perfect_links}[name](site, budget)


def perfect_links(site: SiteMap, budget: int) -> list[int]:
    """Return the targets after each of ``budget`` requests if every request is a target."""
    total = len(site.target_depth)
    return [min(i + 1, total) for i in range(budget)]


def omniscient(site: SiteMap, budget: int) -> list[int]:
    """Return the targets after each request of a greedy crawler that knows the graph.

    Each step takes the page with the most new targets per request: g / (p + g) for its g unfetched
    targets and the p unfetched pages on the shortest path to it, itself included. Then it fetches
    the path and those targets. Ties go to the page nearest to the start. Targets that are starts
    come first. A page may also be a target.
    """
    parent: dict[str, str | None] = dict.fromkeys(site.starts)
    queue = deque(site.starts)
    while queue:
        page = queue.popleft()
        for child in site.pages.get(page, ((), ()))[0]:
            if child not in parent:
                parent[child] = page
                queue.append(child)

    paths: dict[str, list[str]] = {}  # rich page → pages to fetch, itself first
    below: dict[str, list[str]] = defaultdict(list)  # page → rich pages whose path it is on
    holders: dict[str, list[str]] = defaultdict(list)  # target → rich pages
    for page in parent:
        targets = site.pages.get(page, ((), ()))[1]
        if not targets:
            continue
        path = paths[page] = []
        step: str | None = page
        while step is not None:
            path.append(step)
            below[step].append(page)
            step = parent[step]
        for target in targets:
            holders[target].append(page)

    rank = {page: number for number, page in enumerate(paths)}
    cost = {page: len(path) for page, path in paths.items()}
    gain = {page: len(site.pages[page][1]) for page in paths}

    def worth(page: str) -> tuple[float, int, str]:
        return -gain[page] / (cost[page] + gain[page]), rank[page], page

    fetched: set[str] = set()
    had: set[str] = set()
    curve: list[int] = []
    changed: set[str] = set()

    def fetch(document: str) -> None:
        """Fetch a page, a target, or a page that is a target."""
        if document in parent:
            fetched.add(document)
            for rich in below[document]:
                cost[rich] -= 1
                changed.add(rich)
        if document in site.target_depth:
            had.add(document)
            for rich in holders[document]:
                gain[rich] -= 1
                changed.add(rich)
        curve.append(len(had))

    for target, depth in site.target_depth.items():
        if not depth:
            fetch(target)
    heap = [worth(page) for page in paths if gain[page]]
    heapq.heapify(heap)
    while heap and len(curve) < budget:
        entry = heapq.heappop(heap)
        best = entry[2]
        if not gain[best] or entry != worth(best):
            continue  # stale: the current entry comes later
        changed.clear()
        for page in reversed(paths[best]):
            if page not in fetched:
                fetch(page)
        for target in site.pages[best][1]:
            if target not in had:
                fetch(target)
        for rich in changed:
            if gain[rich]:
                heapq.heappush(heap, worth(rich))
    curve = curve[:budget]
    return curve + [curve[-1] if curve else 0] * (budget - len(curve))
