"""The demonstration web: hosts, answers to requests, and the list of its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from urllib.parse import urlsplit

from semcrawl.demo import _archive, _blog, _catalogue, _definitions, _elsewhere, _members, _society
from semcrawl.demo.model import Host, Resource, ResourceKind, Response
from semcrawl.demo.prose import Prose
from semcrawl.sources.negotiation import as_rdf
from semcrawl.web.vocabulary import FoundBy

_BUILDERS: tuple[Callable[[Prose, float], Host], ...] = (
    _society.build,
    _members.build,
    _definitions.build,
    _catalogue.build,
    _blog.build,
    _archive.build,
)

#: Answer for hosts outside of the demonstration web.
_NOT_HERE = b"Not in the demonstration web. It is reached with http_proxy set to this server.\n"
_ELSEWHERE_ROBOTS = b"User-agent: *\nDisallow: /\n"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a perfect, polite crawler finds from the start page.

    URLs are final. The scope is the start page's pay-level domain, RDF elsewhere, and redirectors
    of persistent identifiers.
    """

    #: numbers of quads of RDF documents, and of pages that are RDF too by the URL of that form
    documents: Mapping[str, int]
    #: documents and pages that no link leads to, by how they are found
    announced: Mapping[FoundBy, frozenset[str]]
    #: HTML pages
    pages: frozenset[str]
    #: numbers of quads embedded in HTML pages
    embedded: Mapping[str, int]
    #: URLs that redirect
    redirects: frozenset[str]
    #: statuses of linked URLs that answer with an error
    dead: Mapping[str, int]
    #: linked URLs that robots.txt forbids
    disallowed: frozenset[str]
    #: URLs that are neither HTML nor RDF
    other: frozenset[str]
    #: HTML pages out of scope
    outside: frozenset[str]

    @property
    def quads(self) -> int:
        """Number of quads of all documents."""
        return sum(self.documents.values())


class DemoWeb:
    """Some 300 pages on eight hosts. The same ``seed`` gives the same bytes.

    ``crawl_delay`` is that of each host's robots.txt, in seconds.
    """

    #: where a crawl begins
    start = "http://www.demo.example/"

    def __init__(self, seed: int = 1, *, crawl_delay: float = 0.1) -> None:
        prose = Prose(Random(seed))
        hosts = [build(prose, crawl_delay) for build in _BUILDERS]
        hosts += _elsewhere.build(prose, crawl_delay)
        self.hosts = frozenset(host.name for host in hosts)
        self._resources = {resource.url: resource for host in hosts for resource in host}
        self._answerers = {url: each for host in hosts for url, each in host.answerers.items()}

    def __iter__(self) -> Iterator[Resource]:
        """Iterate over all resources, host by host."""
        return iter(self._resources.values())

    def find(self, host: str, path: str) -> Resource | None:
        """Return the resource at a path (with its query); unknown query parameters are ignored."""
        url = f"http://{host.lower()}{path}"
        return self._resources.get(url) or self._resources.get(url.partition("?")[0])

    def answer(self, host: str, path: str, headers: Mapping[str, str]) -> Response:
        """Answer a request; header names are lower-case.

        Hosts outside of this web have only a robots.txt, which forbids everything.
        """
        bare, _, query = path.partition("?")
        answerer = self._answerers.get(f"http://{host.lower()}{bare}")
        if answerer is not None and (answer := answerer(query)):
            return answer
        resource = self.find(host, path)
        if resource is not None:
            return negotiate(resource.variants, headers.get("accept", "*/*"))
        if host.lower() not in self.hosts and urlsplit(path).path == "/robots.txt":
            return Response(200, (("Content-Type", "text/plain"),), _ELSEWHERE_ROBOTS)
        return Response(404, (("Content-Type", "text/plain"),), _NOT_HERE)

    def manifest(self) -> Manifest:
        """Return what there is to find from :attr:`start`."""

        def urls(kind: ResourceKind) -> Iterator[Resource]:
            return (resource for resource in self if resource.kind is kind)

        beyond = f"http://{_elsewhere.OBSERVATORY}/"
        pages = {resource.url for resource in urls(ResourceKind.HTML)}
        outside = {url for url in pages if url.startswith(beyond)}
        documents = {r.url: r.quads for r in urls(ResourceKind.RDF)}
        documents |= {as_rdf(r.url): r.quads for r in urls(ResourceKind.HTML) if r.quads}
        return Manifest(
            documents=documents,
            announced=_archive.ANNOUNCED,
            pages=frozenset(pages - outside),
            embedded={r.url: r.embedded for r in urls(ResourceKind.HTML) if r.embedded},
            redirects=frozenset(r.url for r in urls(ResourceKind.REDIRECT)),
            dead={r.url: r.variants[0][1].status for r in urls(ResourceKind.DEAD)},
            disallowed=frozenset(r.url for r in urls(ResourceKind.DISALLOWED)),
            other=frozenset(r.url for r in urls(ResourceKind.OTHER)),
            outside=frozenset(outside),
        )


def demo_web(seed: int = 1, *, crawl_delay: float = 0.1) -> DemoWeb:
    """Generate the demonstration web; ``crawl_delay`` is in seconds."""
    return DemoWeb(seed, crawl_delay=crawl_delay)


def negotiate(variants: tuple[tuple[str, Response], ...], accept: str) -> Response:
    """Return the variant whose media type the Accept header prefers, the first of equals.

    If none is accepted, it returns the first, as most servers do.
    """
    wishes = list(_wishes(accept))

    def quality(media_type: str) -> float:
        matches = [
            (specificity, q)
            for pattern, q in wishes
            if (specificity := _specificity(pattern, media_type)) >= 0
        ]
        return max(matches)[1] if matches else 0.0

    return max(variants, key=lambda variant: quality(variant[0]))[1]


def _wishes(accept: str) -> Iterator[tuple[str, float]]:
    for part in accept.split(","):
        pattern, *parameters = (piece.strip().lower() for piece in part.split(";"))
        weight = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        try:
            yield pattern, float(weight)
        except ValueError:
            yield pattern, 0.0


def _specificity(pattern: str, media_type: str) -> int:
    """Return how specific a match is: 2 exact, 1 ``type/*``, 0 ``*/*``, -1 none."""
    if pattern == media_type:
        return 2
    if pattern.endswith("/*") and media_type.startswith(pattern[:-1]):
        return 1
    return 0 if pattern == "*/*" else -1
