"""A world's link graph: every URL looked at once, its links extracted once."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import urlsplit

from semcrawl import rdf
from semcrawl.config.scope import Scope
from semcrawl.evaluation.judgement import Judge
from semcrawl.evaluation.world import Answer, World
from semcrawl.links import ExtractionOptions, Link, extract_links, merge_links
from semcrawl.rdf.linkproperties import EMBEDDED_PRESETS
from semcrawl.sources import Shelf, arrange, is_sitemap_name, links_of, read_sitemap
from semcrawl.topics.novelty import statement_hashes
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import resolve
from semcrawl.web.vocabulary import Kind

#: the day by which entries of sitemaps are old or new: figures do not change from day to day
_NOW = 1_767_225_600.0


@dataclass(frozen=True, slots=True)
class Node:
    """The answer to a URL, with the links of its page that stay inside the world."""

    answer: Answer
    #: first links of the page, duplicates kept, in document order; empty unless HTML
    links: tuple[Link, ...] = ()
    #: SHA-256 of the body (empty unless HTML or RDF): tells twins under two URLs apart
    digest: bytes = b""
    #: RDF out of which not one statement can be read, for a fault of its own
    broken: bool = False
    #: what the topic makes of it, 0 to 1; ``None`` without a topic, and for what has no body
    relevance: float | None = None
    #: hashes of the distinct statements of an RDF document
    statements: Sequence[int] = ()

    #: of a sitemap, its links by shape
    shelves: tuple[Shelf, ...] = ()


#: Is this document a target of the crawl?
IsTarget = Callable[[Node], bool]


def is_rdf(node: Node) -> bool:
    """The usual target: an RDF document served with status 200."""
    return node.answer.status == 200 and node.answer.kind is Kind.RDF


@dataclass
class LinkGraph:
    """A world that keeps its links, so that many strategies can run on it fast."""

    world: World
    #: at most so many links of a page are looked at
    max_links: int = 500
    #: judges documents by the topic of the crawl, if it has one
    judge: Judge | None = None
    #: properties of the data in pages whose values are links
    embedded_links: frozenset[str] = EMBEDDED_PRESETS["data"]
    #: whether sitemaps lead to links
    sitemaps: bool = False
    _nodes: dict[str, Node] = field(default_factory=dict, repr=False)
    _inside: dict[str, bool] = field(default_factory=dict, repr=False)
    #: what sitemaps name as sitemaps
    _named: set[str] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        self._scope = Scope.parse(",".join(sorted(self.world.hosts)) or "localhost")

    def look(self, url: str) -> Node:
        """Answer and links of a URL."""
        node = self._nodes.get(url)
        if node is None:
            node = self._nodes[url] = self._read(url)
        return node

    def inside(self, url: str) -> bool:
        """Whether the URL is in the crawl's scope."""
        host = netloc_of(url)
        known = self._inside.get(host)
        if known is None:
            known = self._inside[host] = self._scope.inside(url)
        return known

    def sitemap_of(self, url: str) -> str:
        """Where the sitemap of a URL's host is looked for; empty if it is not.

        The ``Sitemap:`` lines of robots.txt play no part, as robots.txt plays none.
        """
        parts = urlsplit(url)
        is_looked_for = self.sitemaps and any(
            urlsplit(start).netloc == parts.netloc for start in self.world.starts
        )
        return f"{parts.scheme}://{parts.netloc}/sitemap.xml" if is_looked_for else ""

    def _read_sitemap(self, url: str, answer: Answer) -> Node | None:
        """Return a sitemap with its links; ``None`` for what is none."""
        named = url in self._named or is_sitemap_name(url)
        if not self.sitemaps or answer.status != 200 or not named:
            return None
        file = read_sitemap([self.world.body(url)])
        if not file.form:
            return None
        links, _ = links_of(file.entries, url, self.inside, now=_NOW)
        self._named.update(link.url for link in links if link.is_sitemap)
        return Node(answer, tuple(links), shelves=tuple(arrange(links)))

    def _read(self, url: str) -> Node:
        answer = self.world.fetch(url)
        if answer.kind is Kind.OTHER and (sitemap := self._read_sitemap(url, answer)) is not None:
            return sitemap
        if answer.status != 200 or answer.kind not in (Kind.HTML, Kind.RDF):
            return Node(answer)
        body = self.world.body(url)
        digest = sha256(body).digest()
        relevance = None if self.judge is None else self.judge(url, answer, body)
        if answer.kind is Kind.RDF:
            reading = rdf.read(body, url, answer.content_type or None)
            statements = array("Q", statement_hashes((reading.nquads,)))
            broken = reading.error_count > 0 and not reading.quads and not reading.contexts_needed
            return Node(answer, (), digest, broken, relevance, statements)
        found: Sequence[Link] = extract_links(
            body,
            url,
            answer.content_type,
            ExtractionOptions(max_links=self.max_links),
            [value for name, value in answer.headers if name.lower() == "link"],
        )
        if self.embedded_links:
            data = rdf.read_embedded(body, url, answer.content_type)
            named = rdf.data_links(data.nquads, url, self.embedded_links, limit=self.max_links)
            found = merge_links([*found, *named], self.max_links)
        links = tuple(link for link in found if self.inside(link.url))
        return Node(answer, links, digest, relevance=relevance)

    def redirect(self, url: str, answer: Answer) -> str | None:
        """Where a redirect leads to, normalised; ``None`` when that is outside of the world."""
        target = resolve(url, answer.location) if answer.redirect else None
        return target if target is not None and self.inside(target) else None

    def follow(self, url: str, limit: int = 10) -> tuple[str, Node]:
        """The last URL and answer of a chain of at most ``limit`` redirects."""
        node = self.look(url)
        for _ in range(limit):
            target = self.redirect(url, node.answer)
            if target is None:
                break
            url = target
            node = self.look(url)
        return url, node


@dataclass(frozen=True)
class SiteMap:
    """The whole of a world, document by document, as breadth-first search sees it."""

    #: the start pages
    starts: tuple[str, ...]
    #: page → (pages, targets) that it links to, each once, in link order
    pages: dict[str, tuple[list[str], list[str]]]
    #: links from the nearest start to each page
    depth: dict[str, int]
    #: the same for targets
    target_depth: dict[str, int]

    @property
    def parents(self) -> int:
        """Number of pages that link to a target."""
        return sum(1 for _, targets in self.pages.values() if targets)


def map_site(graph: LinkGraph, is_target: IsTarget = is_rdf, cap: int = 60_000) -> SiteMap:
    """Walk the whole world, at most ``cap`` pages.

    Documents are known by their identity: several addresses of one count as one, and redirects
    cost nothing.
    """
    starts: list[str] = []
    depth: dict[str, int] = {}
    target_depth: dict[str, int] = {}
    pages: dict[str, tuple[list[str], list[str]]] = {}
    queue: deque[tuple[str, Node]] = deque()

    def name(url: str, node: Node) -> str:
        return node.answer.document or url

    for start in graph.world.starts:
        url, node = graph.follow(start)
        if is_target(node):
            target_depth.setdefault(name(url, node), 0)
        if node.answer.kind is Kind.HTML and name(url, node) not in depth:
            starts.append(name(url, node))
            depth[name(url, node)] = 0
            queue.append((name(url, node), node))
    for url in dict.fromkeys(filter(None, map(graph.sitemap_of, graph.world.starts))):
        node = graph.look(url)
        if node.shelves:
            depth[url] = 1
            queue.append((url, node))
    while queue and len(pages) < cap:
        page, node = queue.popleft()
        to_pages: dict[str, None] = {}
        to_targets: dict[str, None] = {}
        linked: list[str] = []
        targets: list[str] = []
        pages[page] = (linked, targets)
        for link in node.links:
            url, child = graph.follow(link.url)
            if child.answer.status != 200:
                continue
            document = name(url, child)
            if is_target(child):
                to_targets.setdefault(document)
                target_depth.setdefault(document, depth[page] + 1)
            if child.answer.kind is Kind.HTML or child.shelves:
                to_pages.setdefault(document)
                if document not in depth:
                    depth[document] = depth[page] + 1
                    queue.append((document, child))
        linked.extend(to_pages)
        targets.extend(to_targets)
    return SiteMap(tuple(starts), pages, depth, target_depth)
