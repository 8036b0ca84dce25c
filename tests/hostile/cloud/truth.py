"""The best possible result of a crawl of the cloud, and the time that politeness forces."""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from rdflib import Dataset

from hostile.cloud.model import Cloud
from semcrawl.web.hosts import host_of


@dataclass
class Truth:
    """The data that HTTP and the rules of the hosts allow."""

    #: the quads of all RDF documents, and those embedded in pages
    documents: Dataset = field(default_factory=Dataset)
    embedded: Dataset = field(default_factory=Dataset)
    #: addresses that must be asked, with the earliest second at which they can be known
    addresses: dict[str, float] = field(default_factory=dict)
    #: seconds that no polite crawl can do without
    forced: float = 0.0
    #: requests of a crawl that asks for nothing twice, robots.txt included
    requests: int = 0


def best_crawl(cloud: Cloud) -> Truth:
    """Find what can be reached from the start, allowed and in scope, each at its earliest second.

    A document cannot be known before what links to it was asked for, and that not before its
    host's rules, one delay earlier. A host's last request cannot come before any of its addresses
    was known, plus one delay for each that is then left.
    """
    truth = Truth()
    begun: dict[str, float] = {}
    waiting = [(0.0, cloud.start, False)]
    while waiting:
        known, url, is_context = heapq.heappop(waiting)
        host = host_of(url)
        node = cloud.nodes.get(host)
        if url in truth.addresses or node is None or not cloud.may_ask(url):
            continue
        if not is_context and host not in cloud.scope:
            continue
        rules = 2 if node.robots_at != "/robots.txt" else 1
        begun.setdefault(host, known)
        truth.addresses[url] = asked = max(known, begun[host] + rules * node.delay)
        resource = cloud.find(url)
        if resource is None:
            continue
        for target in sorted(resource.targets):
            if urlsplit(target).scheme == "http":
                heapq.heappush(waiting, (asked, target, False))
        for context in resource.contexts:
            heapq.heappush(waiting, (asked, context, True))
        if resource.quads is not None:
            for quad in resource.quads.quads():
                truth.documents.add(quad)
        if resource.embedded is not None:
            for triple in resource.embedded:
                truth.embedded.add((*triple, resource.embedded.identifier))
    _add_up(truth, cloud, begun)
    return truth


def _add_up(truth: Truth, cloud: Cloud, begun: dict[str, float]) -> None:
    times: defaultdict[str, list[float]] = defaultdict(list)
    for url, known in truth.addresses.items():
        resource = cloud.find(url)
        times[host_of(url)] += [known] * (1 + (resource.failures if resource else 0))
    for host, known in times.items():
        node = cloud.nodes[host]
        known += [begun[host]] * (2 if node.robots_at != "/robots.txt" else 1)
        known.sort()
        truth.requests += len(known)
        last = max(at + (len(known) - 1 - n) * node.delay for n, at in enumerate(known))
        truth.forced = max(truth.forced, last)
