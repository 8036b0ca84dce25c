"""Two references that no crawler can beat: they know the site.

``omniscient`` knows the whole link graph and goes, again and again, by the cheapest path to the
richest page: the bound that areas are related to. ``perfect-links`` fetches targets and nothing
else, as if every one had been a seed.
"""

from __future__ import annotations

import heapq
from collections import defaultdict, deque

from semcrawl.evaluation.graph import SiteMap

REFERENCES = ("omniscient", "perfect-links")


def reference_curve(name: str, site: SiteMap, budget: int) -> list[int]:
    """Curve of a reference by name (one of :data:`REFERENCES`)."""
    return {"omniscient": omniscient, "perfect-links": perfect_links}[name](site, budget)


def perfect_links(site: SiteMap, budget: int) -> list[int]:
    """Targets after each of ``budget`` requests, of which every one is a target."""
    total = len(site.target_depth)
    return [min(i + 1, total) for i in range(budget)]


def omniscient(site: SiteMap, budget: int) -> list[int]:
    """Targets after each of ``budget`` requests of the greedy crawler that knows the graph.

    Each step takes the page with most new targets per request: g / (p + g) for g unfetched targets
    of its own and p unfetched pages on the shortest path to it, itself included; then
    fetches the path and those targets. Ties go to the page nearest to the start. Targets that are
    starts themselves come first. A page may be a target itself.
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
        """Ask for a page or a target, or for what is both."""
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
            continue  # out of date; the current entry is further down
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
