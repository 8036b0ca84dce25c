"""Runs the real spiders live, in their own process, over loopback HTTP.

The server's log has the requests; the crawl's records have labels and rules.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from semcrawl.errors import SemcrawlError
from semcrawl.items import FetchOutcome
from semcrawl.lab.graph import Aim, IsTarget, LinkGraph, is_rdf, unread
from semcrawl.lab.serve import Asked, WorldServer
from semcrawl.lab.simulator import Fetch, Run
from semcrawl.lab.study import Crawl, Plan, Progress
from semcrawl.lab.worlds import World
from semcrawl.relevance import Label
from semcrawl.settings.reader import as_settings
from semcrawl.sources.negotiation import address_of
from semcrawl.web.urls import normalise
from semcrawl.web.vocabulary import FoundBy

#: Settings for one request at a time without waiting, so that only the strategy sets the order.
LIVE_SETTINGS: Mapping[str, Any] = {
    "CONCURRENT_REQUESTS": 1,
    "SEMCRAWL_CONCURRENCY_PER_HOST": 1,
    "SEMCRAWL_CRAWL_DELAY": 0,
    "SEMCRAWL_MAX_RETRY_AFTER": 0,
    "SEMCRAWL_HOST_FAILURES": 0,
    "SEMCRAWL_HOST_FORBIDDEN": 0,
    "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": True,
    "SEMCRAWL_CONTEXT_HOSTS": [],
    "SEMCRAWL_PROGRESS": "off",
    "LOG_LEVEL": "ERROR",
}

#: Outcomes of fetches whose body the crawler discarded although the server sent it.
_NOT_TAKEN: frozenset[str] = frozenset(each for each in FetchOutcome if not each.means.taken)

#: Seconds per allowed request after which a live run is stopped.
_SECONDS_PER_REQUEST = 0.5


class Judged(NamedTuple):
    """A URL in the crawl's records."""

    label: Label = Label.H
    rules: tuple[str, ...] = ()
    parent: str | None = None
    depth: int = 0
    outcome: str = ""
    found_by: FoundBy = FoundBy.LINK


def live(plan: Plan, report: Callable[[Progress], None]) -> Crawl:
    """Return a function that crawls with the real spiders."""
    changed = {name: plan.settings[name] for name in plan.chosen if name in plan.settings}

    def crawl(
        graph: LinkGraph, name: str, settings: Mapping[str, Any], pages: int, seed: int
    ) -> Run:
        thesis = {k: v for k, v in settings.items() if plan.settings.get(k) != v}
        aim = Aim.from_settings(settings)
        return crawl_live(
            graph,
            name,
            pages,
            seed,
            settings={**changed, **thesis},
            is_target=plan.truth_of(graph.world, aim),
            aim=aim,
        )

    return crawl


def crawl_live(
    graph: LinkGraph,
    strategy: str,
    pages: int = 2000,
    seed: int = 0,
    *,
    settings: Mapping[str, Any] | None = None,
    is_target: IsTarget = is_rdf,
    aim: Aim | None = None,
) -> Run:
    """Crawl a world with the spider ``html`` for at most ``pages`` requests.

    ``settings`` override :data:`LIVE_SETTINGS`. Raises ``SemcrawlError`` with the crawler's last
    line of output if it fails.
    """
    chosen = {**LIVE_SETTINGS, "SEMCRAWL_RANDOM_SEED": seed, **(settings or {})}
    with (
        tempfile.TemporaryDirectory(prefix="semcrawl-live-") as folder,
        WorldServer(graph.world, rules=False) as server,
    ):
        chosen |= {
            "SEMCRAWL_JOBDIR": folder,
            "SEMCRAWL_RELEVANCE": strategy,
            "SEMCRAWL_PAGES": pages,
            "SEMCRAWL_MAX_LINKS_PER_PAGE": graph.max_links,
            "SEMCRAWL_FAMILY_TRIES": graph.family_tries,
            "SEMCRAWL_ROBOTS_TAGS": sorted(graph.robots_tags.obeyed),
            "SEMCRAWL_INCLUDE": json.dumps([each.text for each in graph.patterns.include]),
            "SEMCRAWL_EXCLUDE": json.dumps([each.text for each in graph.patterns.exclude]),
            "DEPTH_LIMIT": graph.depth_limit,
            **graph.redirects.as_settings(),
            **graph.retries.as_settings(),
            **as_settings(graph.sitemaps),
            **as_settings(graph.leads),
            **as_settings(graph.endpoints),
        }
        _spawn(graph, chosen, server.address, folder, 60 + pages * _SECONDS_PER_REQUEST)
        asked = [one for one in server.log if not one.robots]
        judged = _judged(Path(folder) / "crawl.db")
    return run_of(graph, strategy, seed, asked, judged, is_target, aim)


def spider_command(
    world: World, settings: Mapping[str, Any], *, follow_rdf: bool = False
) -> list[str]:
    """Return the command that crawls a world with the spider ``html``."""
    command = [sys.executable, "-m", "semcrawl", "crawl", "html"]
    command += ["-a", "seeds=" + ",".join(world.starts)]
    command += ["-a", "scope=" + ",".join(sorted(world.hosts))]
    command += ["-a", "follow_rdf=1"] if follow_rdf else []
    for name, value in settings.items():
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        command += ["-s", f"{name}={text}"]
    return command


def spider_environment(proxy: str) -> dict[str, str]:
    """Return the environment that sends all of a crawl's traffic through the proxy."""
    kept = {k: v for k, v in os.environ.items() if k.lower() not in _PROXY_VARIABLES}
    kept.pop("REDIS_URL", None)
    return kept | {"http_proxy": proxy, "https_proxy": proxy}


def _spawn(
    graph: LinkGraph,
    settings: Mapping[str, Any],
    proxy: str,
    folder: str,
    timeout: float,
) -> None:
    """Run ``semcrawl crawl html`` with all its traffic through the proxy."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and package
            spider_command(graph.world, settings, follow_rdf=graph.follow_rdf),
            env=spider_environment(proxy),
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SemcrawlError(f"the live crawl did not end within {timeout:.0f} s") from None
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise SemcrawlError(f"the live crawl failed: {said[-1] if said else done.returncode}")


_PROXY_VARIABLES = frozenset({"http_proxy", "https_proxy", "all_proxy", "no_proxy"})


def _judged(records: Path) -> list[tuple[str, Judged]]:
    """Return the URL, label, rules, parent, depth and outcome of every request, in order."""
    if not records.is_file():
        return []
    connection = sqlite3.connect(f"{records.absolute().as_uri()}?mode=ro", uri=True)
    try:
        rows = connection.execute(
            "SELECT url, label, rules, parent_url, depth, outcome, found_by FROM fetch ORDER BY id"
        )
        return [
            (
                url,
                Judged(
                    label=Label(label or "H"),
                    rules=_rules(rules),
                    parent=parent,
                    depth=depth,
                    outcome=outcome,
                    found_by=FoundBy(found_by or FoundBy.LINK),
                ),
            )
            for url, label, rules, parent, depth, outcome, found_by in rows
        ]
    finally:
        connection.close()


def _rules(text: str | None) -> tuple[str, ...]:
    return tuple((text or "").replace(",", " ").split())


def run_of(
    graph: LinkGraph,
    strategy: str,
    seed: int,
    asked: Sequence[Asked],
    judged: Sequence[tuple[str, Judged]],
    is_target: IsTarget,
    aim: Aim | None = None,
) -> Run:
    """Convert the server's log into the form of a simulated run.

    ``asked`` has the requests that count, ``judged`` the crawl's records, both in order. An address
    that was requested several times, as a page and as RDF, has a record for each.
    """
    run = Run(graph.world.name, strategy, seed)
    records: defaultdict[str, deque[tuple[str, Judged]]] = defaultdict(deque)
    for name, record in judged:
        records[address_of(name)].append((name, record))
    origin: dict[str, str] = {}  # target of a redirect → the link that led there
    known = set(graph.world.starts)  # URLs that waited on their own
    for one in asked:
        url = normalise(one.url) or one.url
        of_address = records[url]
        url, found = of_address[0] if of_address else (url, Judged())
        if len(of_address) > 1:  # the last record is that of all further requests
            of_address.popleft()
        node = graph.look(url, one.rdf_first)
        label, rules, parent, depth, outcome, found_by = found
        if found_by is FoundBy.ENDPOINT and outcome == FetchOutcome.FETCHED_OTHER:
            node = unread(node)
        answer = node.answer
        foreseen = url not in known and url.removesuffix("/") in known
        if foreseen and found_by is not FoundBy.FOLDER:  # a foreseen redirect
            origin.setdefault(url, url.removesuffix("/"))
        link = origin.get(url, url)
        target = graph.redirect(url, answer)
        if target is not None and target not in known:
            origin.setdefault(target, link)
        known.update(found.url for found in node.links)
        taken = 200 <= one.status < 300 and outcome not in _NOT_TAKEN
        kept = (
            taken
            and node.keeps
            and not node.is_list
            and (is_target(node) if aim is None else aim.reached(node))
        )
        fetch = Fetch(
            url=url,
            asked=link,
            status=one.status,
            kind=answer.kind if taken else None,
            label=label,
            rules=rules,
            parent=parent,
            depth=depth,
            filtered=outcome == FetchOutcome.FILTERED_TYPE,
            kept=kept,
            found_by=found_by,
        )
        run.add(fetch, node, is_target)
        if parent is not None and found_by is not FoundBy.ENDPOINT:
            run.judged.setdefault(link, (label, rules, parent))
    return run
