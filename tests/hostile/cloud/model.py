"""Data nodes: their rules for robots, and what is at their addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rdflib import Dataset, Graph, URIRef
from rdflib.namespace import RDF

from semcrawl.lab.demo.model import Request, Response, Stream
from semcrawl.lab.demo.web import negotiate
from semcrawl.web.hosts import host_of

#: seconds between two requests to a host whose robots.txt does not say
DEFAULT_DELAY = 0.3


@dataclass
class Resource:
    """The resource at an address: an answer for each media type, and its content."""

    variants: tuple[tuple[str, Response], ...]
    #: the quads of an RDF document, its default graph under its address
    quads: Dataset | None = None
    #: the triples embedded in a page
    embedded: Graph | None = None
    #: addresses that it links to, those in its RDF not counted
    links: frozenset[str] = frozenset()
    #: contexts that are needed to read it
    contexts: tuple[str, ...] = ()
    #: how often it answers 503 before it answers
    failures: int = 0

    @property
    def targets(self) -> set[str]:
        """Addresses of documents that it links to."""
        found = set(self.links)
        if self.quads is not None:
            for subject, predicate, object_, _ in self.quads.quads():
                places = (subject,) if predicate == RDF.type else (subject, object_)
                found.update(str(place) for place in places if isinstance(place, URIRef))
        return {target.partition("#")[0] for target in found}


@dataclass
class Node:
    """A host: its rules, its pace, its resources by path."""

    host: str
    #: seconds between two requests that it asks for
    delay: float = DEFAULT_DELAY
    #: its robots.txt; ``None``: there is none
    robots: str | None = None
    #: where its robots.txt redirects to
    robots_at: str = "/robots.txt"
    #: beginnings and endings of paths that its robots.txt forbids
    forbidden: tuple[tuple[str, str], ...] = ()
    resources: dict[str, Resource] = field(default_factory=dict)

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    def forbids(self, path: str) -> bool:
        return any(path.startswith(begin) and path.endswith(end) for begin, end in self.forbidden)

    def needed_gap(self, earlier: str, later: str) -> float:
        """Seconds that must be between two requests, by their paths."""
        # nobody can know the delay before the rules are there
        unknown = later == self.robots_at != earlier
        return min(DEFAULT_DELAY, self.delay) if unknown else self.delay

    async def __call__(self, request: Request, out: Stream) -> None:
        """Answer a request."""
        path = request.path
        if path == "/robots.txt" and self.robots_at != path:
            await out.whole(302, [("Location", self.robots_at)], b"")
        elif path == self.robots_at and self.robots is not None:
            await out.whole(200, [("Content-Type", "text/plain")], self.robots.encode())
        elif (resource := self.resources.get(path)) is None:
            await out.whole(404, [("Content-Type", "text/html")], b"")
        elif resource.failures > 0:
            resource.failures -= 1
            await out.whole(503, [("Content-Type", "text/html")], b"")
        else:
            response = negotiate(resource.variants, request.headers.get("accept", "*/*"))
            await out.whole(response.status, response.headers, response.body)


@dataclass
class Cloud:
    """All nodes by host; a crawl begins at ``start`` and stays on the hosts of ``scope``."""

    nodes: dict[str, Node]
    start: str
    scope: frozenset[str]

    def find(self, url: str) -> Resource | None:
        """The resource at an address."""
        node = self.nodes.get(host_of(url))
        return node.resources.get("/" + url.split("/", 3)[3]) if node else None

    def may_ask(self, url: str) -> bool:
        """Whether the rules of its host allow an address."""
        node = self.nodes.get(host_of(url))
        return node is None or not node.forbids("/" + url.split("/", 3)[3])


def page(links: Iterable[str], body: str = "", head: str = "") -> Response:
    """A page with links."""
    items = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = f"<!DOCTYPE html><title>A page</title>{head}<body>{body}<ul>{items}</ul>"
    return Response(200, (("Content-Type", "text/html; charset=utf-8"),), text.encode())


def redirect(target: str, status: int = 303) -> Response:
    return Response(status, (("Location", target), ("Vary", "Accept")))


def datasets(cloud: Cloud, urls: Iterable[str]) -> Iterator[Dataset]:
    """The quads of the documents at addresses."""
    for url in urls:
        resource = cloud.find(url)
        if resource is not None and resource.quads is not None:
            yield resource.quads
