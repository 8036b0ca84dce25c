"""The demonstration web: hosts, answers to requests, the list of its documents, and its server.

Serves the demonstration web on loopback: an HTTP/1.1 server that is also a proxy for its hosts.
Requests have the absolute form of the target, as to a proxy, or a Host header. Every request is
logged as one line of JSON when its answer ends.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TextIO
from urllib.parse import urlsplit

from semcrawl.lab.demo import (
    _archive,
    _blog,
    _catalogue,
    _definitions,
    _elsewhere,
    _members,
    _society,
)
from semcrawl.lab.demo.model import (
    Handler,
    Host,
    Prose,
    Request,
    Resource,
    ResourceKind,
    Response,
    Stream,
)
from semcrawl.loopback import LoopbackServer
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


class DemoServer(LoopbackServer):
    """Serves a web on 127.0.0.1 as a context manager; ``port`` 0 means a free one.

    ``handlers`` answer all requests to their hosts. Raises ``OSError`` if the port is taken or the
    log cannot be written.
    """

    def __init__(
        self,
        web: DemoWeb,
        *,
        port: int = 0,
        log: Path | str | None = None,
        handlers: Mapping[str, Handler] | None = None,
    ) -> None:
        super().__init__(port)
        self._web = web
        self._handlers: Mapping[str, Handler] = handlers or {}
        self._log_path = Path(log) if log is not None else None
        self._log: TextIO | None = None
        self._answered = 0
        self._progress = threading.Condition()

    #: the address to set ``http_proxy`` to
    proxy_url = LoopbackServer.address

    def wait_until_answered(self, count: int, timeout: float) -> bool:
        """Wait in another thread until ``count`` requests have ended, at most ``timeout`` seconds.

        Returns whether they have.
        """
        with self._progress:
            return self._progress.wait_for(lambda: self._answered >= count, timeout)

    async def start(self) -> None:
        """Begin to listen. Raises ``OSError`` if the port is taken or the log is unwritable."""
        if self._log_path is not None:
            self._log = self._log_path.open("a", encoding="utf-8", buffering=1)
        await super().start()

    async def stop(self) -> None:
        """Stop listening and end the open connections."""
        await super().stop()
        if self._log is not None:
            self._log.close()

    async def exchange(
        self, method: str, target: str, headers: Mapping[str, str], writer: asyncio.StreamWriter
    ) -> bool:
        """Answer one request; return whether the connection may carry another one."""
        try:
            request = Request.of(method, target, headers)
        except ValueError:
            return False
        stream = Stream(writer)
        arrived, cut = time.time(), True
        try:
            await self._answer(request, stream)
            cut = False
        finally:
            self._note(request, stream, arrived, cut or stream.closing)
        return not stream.closing and request.headers.get("connection", "").lower() != "close"

    async def _answer(self, request: Request, stream: Stream) -> None:
        if request.method == "CONNECT":
            stream.closing = True
            await stream.whole(502, [], b"no TLS here\n")
        elif (handler := self._handlers.get(request.host)) is not None:
            await handler(request, stream)
        else:
            response = self._web.answer(request.host, request.path, request.headers)
            await stream.whole(
                response.status,
                response.headers,
                response.body,
                omit_body=request.method == "HEAD",
            )

    def _note(self, request: Request, stream: Stream, arrived: float, cut: bool) -> None:
        with self._progress:
            self._answered += 1
            self._progress.notify_all()
        if self._log is None:
            return
        resource = self._web.find(request.host, request.path)
        line = {
            "t": arrived,
            "m": request.method,
            "host": request.host,
            "path": request.path,
            "status": stream.status,
            "kind": self._kind(request),
            "file": resource.url if resource else None,
            "bytes": stream.sent,
            "ua": request.headers.get("user-agent", ""),
            "accept": request.headers.get("accept", ""),
            "cut": cut,
        }
        self._log.write(json.dumps(line) + "\n")

    def _kind(self, request: Request) -> str:
        if request.host in self._handlers:
            return "handler"
        resource = self._web.find(request.host, request.path)
        return resource.kind.value if resource else "missing"


#: serves a web from a thread within a context
serve = DemoServer
