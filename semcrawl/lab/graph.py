"""A world's pages as a graph: each answer read once, with its links and worth."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from semcrawl import settings as defaults
from semcrawl.config.options import (
    EndpointOptions,
    LeadOptions,
    SitemapRules,
    read_options,
    robots_tags,
)
from semcrawl.config.scope import Scope, UrlPatterns
from semcrawl.config.targets import Targets
from semcrawl.crawl.courses import RetryRules
from semcrawl.crawl.lists import ListRules
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.redirects import RedirectOptions
from semcrawl.errors import UsageError
from semcrawl.lab.worlds import Answer, Negotiating, World
from semcrawl.links import ExtractionOptions, Link, Page, merge_links
from semcrawl.rdf import ReadOptions
from semcrawl.reading.answer import Answer as Reading
from semcrawl.reading.answer import AnswerOptions, AnswerReader, Form, Received
from semcrawl.reading.queryanswers import read_query
from semcrawl.reading.reader import Reader, at_once, discard
from semcrawl.relevance.focus import Counting, leads_on, read_focus
from semcrawl.settings.reader import Values, fill
from semcrawl.sources import Shelf, named_sitemaps
from semcrawl.sources.endpoints import (
    ROWS,
    EndpointWalk,
    Following,
    Row,
    Step,
    Triples,
    brings_triples,
    endpoint_of_seed,
    first_steps,
    names_endpoint,
)
from semcrawl.sources.negotiation import address_of, as_rdf, is_as_rdf, names_itself
from semcrawl.topics import (
    TEXT,
    Document,
    Judgement,
    Remembering,
    Topic,
    about,
    parts_of,
    threshold,
)
from semcrawl.topics.about import PageJudge
from semcrawl.topics.novelty import statement_hashes
from semcrawl.web.hosts import netloc_of
from semcrawl.web.robots import RobotsTags
from semcrawl.web.urls import resolve
from semcrawl.web.vocabulary import Kind

#: returns the links to a page's images, from its body, URL and content type
PageImageLinks = Callable[[bytes, str, str], Sequence[Link]]
_KINDS = {Form.RDF: Kind.RDF, Form.PAGE: Kind.HTML, Form.PAGE_AGAIN: Kind.HTML}


@dataclass(frozen=True, slots=True)
class Node:
    """The answer to a URL, with its links inside the world."""

    #: as the world gives it, with the kind that was read
    answer: Answer
    #: first links of a page, in document order; those of a list, of headers, of RDF
    links: tuple[Link, ...] = ()
    #: SHA-256 of the body, empty unless HTML or RDF; duplicates under other URLs have the same
    digest: bytes = b""
    #: RDF out of which not one statement can be read, for a fault of its own
    broken: bool = False
    #: RDF whose contexts are missing
    unread: bool = False
    #: judgement by the topic; ``None`` without a topic or a body
    judged: Judgement | None = None
    #: number of statements, and hashes of the distinct ones of an RDF document
    quads: int = 0
    statements: Sequence[int] = ()
    #: the links of a sitemap by shape
    shelves: tuple[Shelf, ...] = ()
    #: links of a page with those to the catalogue of its host; empty if it shows no software
    with_catalogue: tuple[Link, ...] = ()
    #: links of a page that its elements and headers have, without those of its data
    own_links: tuple[Link, ...] = ()
    #: those to the catalogue of its host
    signs: tuple[Link, ...] = ()
    #: those that its headers alone give, if its body is not taken
    header_links: tuple[Link, ...] = ()
    #: whether its headers say that its type varies, and its data of what type its address is
    varies: bool = False
    names_itself: bool = False
    #: it is a list of links, and no page
    is_list: bool = False
    #: it is a sitemap, perhaps without links
    is_sitemap: bool = False
    #: it has no body
    empty: bool = False
    #: whether its robots directives allow keeping a copy
    keeps: bool = True
    #: whether they allow following its links
    is_followed: bool = True

    @property
    def relevance(self) -> float | None:
        """Relevance to the topic, 0 to 1; ``None`` if it was not judged."""
        return None if self.judged is None else self.judged.relevance


@dataclass(frozen=True)
class NodeReader:
    """Reads the answers of a world."""

    world: World
    answers: AnswerReader
    topic: Topic | None
    #: whether the links of RDF documents are followed
    follow_rdf: bool
    inside: Callable[[str], bool]
    #: finds the links to a page's images, if images are targets
    images: PageImageLinks | None = None
    #: whether RDF documents lead to endpoints, even if their other links are not followed
    finds_endpoints: bool = False

    @cached_property
    def pages(self) -> PageJudge | None:
        """The judge of pages; ``None`` without a topic."""
        return None if self.topic is None else PageJudge(self.topic)

    def received(self, name: str, url: str) -> Received:
        """Return the world's answer with a name, as a crawl would get it from ``url``."""
        answer = self.world.fetch(name)
        # what shows images is judged by its headers; to draw them all takes long
        drawn = answer.content_type.startswith("image/") and answer.kind is Kind.OTHER
        body = b"" if drawn or not answer.is_success else self.world.body(name)
        return Received(url, body, answer.header_values, answer.status)

    def read(self, name: str, got: Received) -> Node:
        """Read the world's answer with a name, which was ``received``."""
        answer = self.world.fetch(name)
        if not answer.is_success:
            return Node(answer, varies=got.varies, empty=True)
        if answer.content_type.startswith("image/") and not got.body:
            read = self.answers.of_headers(got)
        else:
            read = at_once(self.answers.read(got))
        headers = self.answers.of_headers(got)
        node = Node(
            replace(answer, kind=_KINDS.get(read.form, Kind.OTHER)),
            self._followed(read, read.links),
            header_links=self._followed(headers, headers.links),
            varies=got.varies,
            empty=not got.body,
            is_list=read.form is Form.LIST,
            is_sitemap=read.form is Form.SITEMAP,
            keeps=self.answers.options.robots.keeps(read.rules),
            is_followed=read.is_followed,
        )
        body = got.body if isinstance(got.body, bytes) else b""
        try:
            if read.sitemap is not None:
                return self._sitemap(node, read.sitemap.shelves)
            if read.form is Form.RDF:
                return self._document(node, read, got.url, body)
            return self._page(node, read, got, body) if read.form is Form.PAGE else node
        finally:
            if read.data is not None:
                discard(read.data)

    def _document(self, node: Node, read: Reading, url: str, body: bytes) -> Node:
        """Add what an RDF document has."""
        data, links = read.data, node.links
        if data is None:
            return node
        if not self.follow_rdf:
            wanted = self.finds_endpoints
            links = tuple(link for link in links if wanted and names_endpoint(link))
        document = Document.of_rdf(url, data)
        return replace(
            node,
            links=links,
            digest=sha256(body).digest(),
            broken=data.error_count > 0 and not data.quads and not data.contexts_needed,
            unread=bool(data.contexts_needed),
            judged=None if self.topic is None else self.topic.judge(document),
            quads=data.quads,
            statements=array("Q", statement_hashes(document.statements())),
        )

    def _page(self, node: Node, read: Reading, got: Received, body: bytes) -> Node:
        """Add what a page has, its images among its links."""
        url, data = got.url, read.data
        shown = () if self.images is None else self.images(body, url, got.content_type)
        most = self.answers.reader.extraction.max_links
        plain = [*read.own, *read.data_links, *shown]
        links = self._followed(read, merge_links(plain, most))
        whole = self._followed(read, merge_links([*read.links, *shown], most))
        judged = None
        if self.pages is not None:
            judged = self.pages.judge(url, read.text, data, body)
        return replace(
            node,
            links=links,
            with_catalogue=whole if read.places else (),
            own_links=self._followed(read, read.own),
            signs=self._followed(read, read.places),
            digest=sha256(body).digest(),
            judged=judged,
            quads=0 if data is None else data.quads,
            names_itself=data is not None and names_itself(data.nquads, url),
        )

    def _followed(self, read: Reading, links: Sequence[Link]) -> tuple[Link, ...]:
        """Return the links that a crawl may follow."""
        if not read.is_followed:
            return ()
        passes_over = self.answers.options.robots.passes_over
        return tuple(link for link in links if self.inside(link.url) and not passes_over(link.rel))

    def _sitemap(self, node: Node, shelves: Sequence[Shelf]) -> Node:
        """Add the links of a sitemap by shape, without those outside the world."""
        kept = [
            replace(shelf, links=[link for link in shelf.links if self.inside(link.url)])
            for shelf in shelves
        ]
        kept = [shelf for shelf in kept if shelf.links]
        return replace(
            node, links=tuple(link for shelf in kept for link in shelf.links), shelves=tuple(kept)
        )


@dataclass(frozen=True)
class Aim:
    """The topic of a crawl, and the least relevance of a target."""

    judge: Topic
    threshold: float
    #: kinds of documents that may be targets
    targets: Targets
    #: whether the links of documents that only miss the threshold are ignored
    hard: bool = False

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Aim | None:
        """Read the topic, its threshold and the targets; return ``None`` without a topic.

        The default targets are RDF, and also pages if the topic reads texts. Raises ``UsageError``
        for wrong values.
        """
        topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
        if topic is None:
            return None
        if any(isinstance(part, Remembering) for part in parts_of(topic)):
            raise UsageError(
                f"about: {topic.name}: what is new depends on the order of requests; "
                "evaluate counts distinct statements for every strategy instead"
            )
        names = settings.get("SEMCRAWL_TARGETS") or ("rdf,html" if TEXT in topic.needs else "rdf")
        hard = read_focus(settings).hard
        return cls(topic, threshold(settings), Targets.parse(names), hard)

    def counts(self, node: Node) -> bool:
        """Whether a document is of a kind that may be a target."""
        answer = node.answer
        if self.targets.images and answer.content_type.startswith("image/"):
            return True
        return self.targets.include(answer.kind or Kind.OTHER, answer.content_type, node.quads)

    def leads_on(self, node: Node) -> bool:
        """Whether the links of a document are followed."""
        if node.judged is None:
            return True
        counts = node.keeps and self.counts(node)
        return leads_on(self.hard, counts, node.judged.deciding, self.threshold)

    def reached(self, node: Node) -> bool:
        """Whether a document is relevant enough to be a target."""
        relevance = node.relevance
        reached = relevance is not None and relevance >= self.threshold
        return reached and node.answer.is_success and self.counts(node)


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """The answer to a query, without its body."""

    node: Node
    rows: list[Row] | bool | None = None
    #: ``None`` if the answer is not RDF
    triples: Triples | None = None
    #: number of readable statements
    quads: int = 0


class Taken(NamedTuple):
    """What a crawl takes from the answer to a query."""

    #: real type of the answer; ``None`` if the query failed
    kind: Kind | None
    #: whether the triples are kept
    kept: bool
    following: Following


def ask(nodes: NodeReader, name: str, step: Step, url: str) -> QueryAnswer:
    """Read a world's answer with a name; ``url`` is the address that gave it."""
    answer = nodes.world.fetch(name)
    if not answer.is_success:
        return QueryAnswer(Node(answer))
    got = nodes.received(name, url)
    read = at_once(read_query(nodes.answers.reader, got, step, answer.document))
    kind = None if read.detection is None else read.detection.kind
    if read.data is None:
        return QueryAnswer(Node(replace(answer, kind=kind or Kind.OTHER)), read.rows)
    document = Document.of_rdf(url, read.data)
    keeps = nodes.answers.options.robots.keeps(nodes.answers.of_headers(got).rules)
    node = Node(
        replace(answer, kind=kind),
        judged=None if nodes.topic is None else nodes.topic.judge(document),
        quads=read.data.quads,
        statements=array("Q", statement_hashes(document.statements())),
        keeps=keeps,
    )
    discard(read.data)
    return QueryAnswer(node, triples=read.triples, quads=read.data.quads)


def take_answer(walk: EndpointWalk, step: Step, answer: QueryAnswer) -> Taken:
    """Return what follows from an answer, as in :class:`semcrawl.spiders.endpoints.EndpointReader`.

    ``step``: as it was asked; what follows fits to the pages that its endpoint gives.
    """
    step = walk.fitted(step)
    status = answer.node.answer.status
    if not answer.node.answer.is_success:
        following = walk.after_refusal(step, f"HTTP status {status}", status)
        kind, kept = None, False
    elif step.ask in ROWS:
        following = walk.after_rows(step, answer.rows)
        kind, kept = Kind.OTHER, False
    elif answer.triples is None:
        following = walk.after_refusal(step, "its answer is no RDF")
        kind, kept = None, False
    else:
        following = walk.after_triples(step, answer.triples)
        wanted = brings_triples(step, following, answer.quads)
        kind, kept = Kind.RDF if wanted else Kind.OTHER, wanted and answer.node.keeps
        if wanted and not kept:
            following = Following()
    walk.settle(step, following)
    return Taken(kind, kept, following)


#: returns the final address and the answer of a query
Asks = Callable[[Step], tuple[str, QueryAnswer]]


class Asked(NamedTuple):
    """One query in the walk through an endpoint."""

    name: str
    #: name of the query whose answer led to it; empty for the first one
    parent: str
    #: number of queries on the way to it
    depth: int
    node: Node
    kept: bool
    leads_on: bool


def walk_through(first: Step, walk: EndpointWalk, ask: Asks) -> Iterator[Asked]:
    """Yield a first query and all that follow from it, in the order of a crawl.

    Documents are named as those of links are; lists are named by their queries.
    """
    waiting = deque([(first, "", 0)])
    seen = {first.url}
    while waiting:
        step, parent, depth = waiting.popleft()
        url, answer = ask(step)
        taken = take_answer(walk, step, answer)
        name = (answer.node.answer.document if taken.kept else "") or url
        steps = [one for one in taken.following.steps if one.url not in seen]
        seen.update(one.url for one in steps)
        yield Asked(name, parent, depth, answer.node, taken.kept, bool(steps))
        waiting.extend((one, name, depth + 1) for one in steps)


def unread(node: Node) -> Node:
    """Return the answer to a query whose triples are not kept: it is not a document."""
    return replace(node, answer=replace(node.answer, kind=Kind.OTHER))


#: fixed "now" for the age of sitemap entries, so that figures do not change from day to day
_NOW = 1_767_225_600.0


#: only links in pages and in their headers
NO_LEADS = LeadOptions(catalogues=False, negotiation="never", well_known=())
NO_SITEMAPS = SitemapRules("never")

#: whether a document is a target of the crawl
IsTarget = Callable[[Node], bool]


def is_rdf(node: Node) -> bool:
    """Whether it is the usual target: an RDF document served with success."""
    return node.answer.is_success and node.answer.kind is Kind.RDF and node.keeps


@dataclass
class LinkGraph:
    """A world with its links cached, so that many strategies run on it fast."""

    world: World
    #: most links of a page that are read
    max_links: int = 500
    #: judges documents by the topic of the crawl, if it has one
    judge: Topic | None = None
    #: how RDF and the data in pages are read
    reading: ReadOptions = field(default_factory=ReadOptions)
    #: characters of a page's text that the topic reads
    text: int = defaults.SEMCRAWL_ABOUT_MAX_SIZE
    #: which sitemaps lead to links
    sitemaps: SitemapRules = NO_SITEMAPS
    #: ways to data besides links
    leads: LeadOptions = NO_LEADS
    #: whether the links of RDF documents are followed
    follow_rdf: bool = False
    #: finds the links to a page's images, if images are targets
    images: PageImageLinks | None = None
    #: which SPARQL endpoints are read
    endpoints: EndpointOptions = field(default_factory=EndpointOptions)
    #: links of a family in an RDF document that are tried before the others are withheld; 0 = all
    family_tries: int = 0
    #: the robots directives of pages that are obeyed
    robots_tags: RobotsTags = field(default_factory=RobotsTags)
    #: whether links and pages are told apart by kind
    kinds: bool = False
    #: addresses that are requested or not (``SEMCRAWL_INCLUDE``, ``SEMCRAWL_EXCLUDE``)
    patterns: UrlPatterns = field(default_factory=UrlPatterns)
    #: most links from a seed to a page; 0 = no limit (``DEPTH_LIMIT``)
    depth_limit: int = 0
    #: what counts without a topic
    counting: Counting = Counting.BOTH
    #: which redirects are followed, and foreseen
    redirects: RedirectOptions = field(default_factory=RedirectOptions)
    #: which failures are tried again
    retries: RetryRules = field(default_factory=RetryRules)
    _nodes: dict[str, Node] = field(default_factory=dict, repr=False)
    _answers: dict[str, QueryAnswer] = field(default_factory=dict, repr=False)
    _inside: dict[str, bool] = field(default_factory=dict, repr=False)
    #: sitemap named by another sitemap → host whose pages it lists
    _named: dict[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        text = self.text if self.judge is not None and TEXT in self.judge.needs else 0
        extraction = ExtractionOptions(self.max_links, text=text, kinds=self.kinds)
        self._answers_of = AnswerReader(
            Reader(extraction, self.reading, here=True),
            AnswerOptions(
                catalogues=self.leads.catalogues,
                signposts=self.leads.signposts,
                list_bytes=self.leads.most_bytes,
                sitemaps=self.uses_sitemaps,
                sitemap_limits=self.sitemaps.limits,
                robots=self.robots_tags,
                now=_NOW,
            ),
        )
        self._reader = NodeReader(
            world=self.world,
            answers=self._answers_of,
            topic=self.judge,
            follow_rdf=self.follow_rdf,
            inside=self.inside,
            images=self.images,
            finds_endpoints=self.endpoints.allowed == "found",
        )
        self._scope = Scope.parse(",".join(sorted(self.world.hosts)) or "localhost")

    def policy(self) -> LinkPolicy:
        """Return what a crawl may follow: links inside the world."""
        hosts = set[str]().union(*map(Scope.roots_of, self.world.starts))
        policy = LinkPolicy(
            scope=replace(self._scope, roots=hosts),
            patterns=self.patterns,
            robots_tags=self.robots_tags,
            depth_limit=self.depth_limit,
        )
        policy.only_sitemaps = self.sitemaps.use == "only"
        return policy

    @property
    def uses_sitemaps(self) -> bool:
        """Whether sitemaps lead to links."""
        return self.sitemaps.use != "never"

    def look(self, url: str, rdf_first: bool = False) -> Node:
        """Return the answer and links of a URL, requested as RDF first or as a page."""
        name = self._form_of(url, rdf_first)
        node = self._nodes.get(name)
        if node is None:
            node = self._nodes[name] = self._read(name)
        return node

    def ask(self, step: Step, url: str, *, rdf_first: bool = True) -> QueryAnswer:
        """Return a SPARQL endpoint's answer to a query at a URL."""
        name = self._form_of(url, rdf_first)
        answer = self._answers.get(name)
        if answer is None:
            answer = ask(self._reader, name, step, url)
            self._answers[name] = answer
        return answer

    def endpoints_among(self, links: Sequence[Link]) -> list[Link]:
        """Return the links that name endpoints; none unless found endpoints are read."""
        found = self.endpoints.allowed == "found"
        return [link for link in links if found and names_endpoint(link)]

    def has_forms(self, url: str) -> bool:
        """Whether a URL has another answer for requests that prefer RDF."""
        return self._form_of(url, True) != self._form_of(url, False)

    def _form_of(self, url: str, rdf_first: bool) -> str:
        address = address_of(url)
        if not isinstance(self.world, Negotiating):
            return address
        return self.world.form_of(address, rdf_first=rdf_first or is_as_rdf(url))

    def inside(self, url: str) -> bool:
        """Whether the URL is in the crawl's scope."""
        host = netloc_of(url)
        known = self._inside.get(host)
        if known is None:
            known = self._inside[host] = self._scope.inside(url)
        return known

    def sitemaps_of(self, url: str) -> list[str]:
        """Return the sitemaps that a crawl asks a URL's host for."""
        rules = ListRules(self.sitemaps, self.policy())
        origin = rules.seeks(url)
        return [url for url, _ in rules.found(origin, self.robots_name(origin))] if origin else []

    @cached_property
    def _by_robots(self) -> dict[str, str]:
        """The sitemaps named in robots.txt files, with the host of the robots.txt."""
        return {
            sitemap: host
            for host in sorted(self.world.hosts)
            for scheme in ("http", "https")
            for sitemap in self.robots_name(f"{scheme}://{host}")
        }

    def robots_name(self, origin: str) -> list[str]:
        """Return the sitemaps in scope that the robots.txt of an origin names."""
        named = named_sitemaps(self.world.robots(origin.partition("://")[2]).encode())
        found = (resolve(f"{origin}/robots.txt", name) for name in named)
        return list(dict.fromkeys(each for each in found if each and self.inside(each)))

    def expect_sitemap(self, url: str, named_by: str) -> None:
        """Note that a sitemap leads to another address, which is one too."""
        self._named.setdefault(url, self._by_robots.get(named_by, self._named.get(named_by, "")))

    def _read(self, name: str) -> Node:
        url = address_of(name)
        of = (self._by_robots.get(url) or self._named.get(url)) if self.uses_sitemaps else None
        got = replace(
            self._reader.received(name, url),
            is_sitemap=of is not None,
            is_seed=url in self.world.starts,
            hosts=frozenset((of,) if of else ()),
        )
        node = self._reader.read(name, got)
        if node.shelves:
            host = of or netloc_of(url)
            self._named.update((link.url, host) for link in node.links if link.is_sitemap)
        return node

    def redirect(self, url: str, answer: Answer) -> str | None:
        """Return the normalised target of a redirect; ``None`` outside the world."""
        target = resolve(url, answer.location) if answer.redirect else None
        return target if target is not None and self.inside(target) else None

    def follow(self, url: str, limit: int = 10, *, rdf_first: bool = False) -> tuple[str, Node]:
        """Return the last URL and answer of a chain of at most ``limit`` redirects."""
        node = self.look(url, rdf_first)
        for _ in range(limit):
            target = self.redirect(url, node.answer)
            if target is None:
                break
            url = target
            node = self.look(url, rdf_first)
        return url, node

    def led_to(self, page: str, node: Node) -> Iterator[str]:
        """Yield the addresses that a document leads to, without endpoints."""
        links, _ = self.policy().followed(Page(page), node.with_catalogue or node.links)
        endpoints = self.endpoints_among(links)
        for link in links:
            if link in endpoints:
                continue
            yield link.url
            if self.has_forms(link.url):
                yield as_rdf(link.url)
        if self.has_forms(page):
            yield as_rdf(page)

    def well_known(self, url: str) -> list[str]:
        """Return the well-known places of a target's host."""
        parts = urlsplit(url)
        root = f"{parts.scheme}://{parts.netloc}/.well-known/"
        return [root + name for name in self.leads.well_known if self.inside(root)]


@dataclass(frozen=True)
class SiteMap:
    """All documents of a world, as breadth-first search finds them."""

    #: the start pages
    starts: tuple[str, ...]
    #: page → the distinct (pages, targets) that it links to, in link order
    pages: dict[str, tuple[list[str], list[str]]]
    #: page → number of links from the nearest start
    depth: dict[str, int]
    #: the same for targets
    target_depth: dict[str, int]

    @property
    def parents(self) -> int:
        """Number of pages that link to a target."""
        return sum(1 for _, targets in self.pages.values() if targets)


def map_site(graph: LinkGraph, is_target: IsTarget = is_rdf, cap: int = 60_000) -> SiteMap:
    """Walk the whole world, up to ``cap`` pages.

    Several addresses of one document count as one, and redirects add no depth.
    """
    starts: list[str] = []
    depth: dict[str, int] = {}
    target_depth: dict[str, int] = {}
    pages: dict[str, tuple[list[str], list[str]]] = {}
    queue: deque[tuple[str, Node]] = deque()
    #: hosts with a target
    hosts: set[str] = set()

    def name(url: str, node: Node) -> str:
        return node.answer.document or url

    def ask(step: Step) -> tuple[str, QueryAnswer]:
        url, _ = graph.follow(step.url, rdf_first=True)
        return url, graph.ask(step, url)

    def walk_endpoint(endpoint: str, steps: int, page: str = "") -> None:
        """Walk an endpoint: a start, or named by a page."""
        first = first_steps(endpoint, graph.endpoints.page, graph.endpoints.most)[0]
        for one in walk_through(first, EndpointWalk(graph.endpoints.skipped), ask):
            linked, targets = pages.get(one.parent or page, (starts, []))
            at = steps + one.depth
            if one.kept and is_target(one.node):
                target_depth.setdefault(one.name, at)
                targets.append(one.name)
            if one.leads_on:
                depth.setdefault(one.name, at)
                pages.setdefault(one.name, ([], []))
                linked.append(one.name)
            if len(pages) >= cap:
                return

    def leads_on(node: Node) -> bool:
        return node.answer.kind is Kind.HTML or node.is_list or bool(node.shelves or node.links)

    addresses = [start for start in graph.world.starts if not endpoint_of_seed(start)]
    endpoints = [one for one in map(endpoint_of_seed, graph.world.starts) if one]
    for start in addresses:
        url, node = graph.follow(start)
        if is_target(node):
            target_depth.setdefault(name(url, node), 0)
        if leads_on(node) and name(url, node) not in depth:
            starts.append(name(url, node))
            depth[name(url, node)] = 0
            queue.append((url, node))
    mapped: set[str] = set()

    def look_for_sitemaps(address: str, steps: int) -> None:
        """Queue the sitemaps of a host, once."""
        if graph.uses_sitemaps and netloc_of(address) not in mapped:
            mapped.add(netloc_of(address))
            for url in graph.sitemaps_of(address):
                node = graph.look(url)
                if node.shelves and depth.setdefault(name(url, node), steps) == steps:
                    queue.append((url, node))

    for endpoint in endpoints:
        walk_endpoint(endpoint, 0)
    for start in (*addresses, *endpoints):
        look_for_sitemaps(start, 1)
    while queue and len(pages) < cap:
        address, node = queue.popleft()
        page = name(address, node)
        look_for_sitemaps(address, depth[page] + 1)
        to_pages: dict[str, None] = {}
        to_targets: dict[str, None] = {}
        linked: list[str] = []
        targets: list[str] = []
        pages[page] = (linked, targets)
        for link in graph.endpoints_among(node.with_catalogue or node.links):
            walk_endpoint(link.url, depth[page] + 1, page)
        ways = deque(graph.led_to(address, node))
        while ways:
            way = ways.popleft()
            url, child = graph.follow(way, rdf_first=is_as_rdf(way))
            if not child.answer.is_success:
                continue
            document = name(url, child)
            if is_target(child):
                to_targets.setdefault(document)
                target_depth.setdefault(document, depth[page] + 1)
                if netloc_of(url) not in hosts:
                    hosts.add(netloc_of(url))
                    ways.extend(graph.well_known(url))
            if leads_on(child):
                to_pages.setdefault(document)
                if document not in depth:
                    depth[document] = depth[page] + 1
                    queue.append((url, child))
        linked.extend(to_pages)
        targets.extend(to_targets)
    return SiteMap(tuple(starts), pages, depth, target_depth)


def graph_of(
    world: World,
    settings: Mapping[str, Any],
    aim: Aim | None,
    *,
    follow_rdf: bool,
) -> LinkGraph:
    """Return the graph; raise ``UsageError`` if settings are wrong or forbid a seed.

    Without ``SEMCRAWL_SIGNPOSTING``, ``SEMCRAWL_ENDPOINTS`` or ``SEMCRAWL_SITEMAPS``, their ways to
    data are not used.
    """
    leads = NO_LEADS
    if "SEMCRAWL_SIGNPOSTING" in settings:
        leads = fill(LeadOptions, settings)
    sitemaps = NO_SITEMAPS
    if "SEMCRAWL_SITEMAPS" in settings:
        sitemaps = fill(SitemapRules, settings)
    endpoints = EndpointOptions()
    if "SEMCRAWL_ENDPOINTS" in settings:
        endpoints = fill(EndpointOptions, settings)
    endpoints.check(world.starts)
    return LinkGraph(
        world,
        int(settings.get("SEMCRAWL_MAX_LINKS_PER_PAGE") or 10_000),
        aim.judge if aim is not None else None,
        sitemaps=sitemaps,
        leads=leads,
        reading=read_options(settings),
        text=Values(settings)["SEMCRAWL_ABOUT_MAX_SIZE"],
        follow_rdf=follow_rdf,
        images=page_image_links(settings),
        endpoints=endpoints,
        family_tries=int(settings.get("SEMCRAWL_FAMILY_TRIES") or 0),
        robots_tags=robots_tags(settings),
        kinds=Values(settings)["SEMCRAWL_LINK_KINDS"],
        patterns=UrlPatterns.from_settings(settings),
        depth_limit=int(settings.get("DEPTH_LIMIT") or 0),
        counting=Counting(Values(settings)["SEMCRAWL_WORTH"]),
        redirects=RedirectOptions.from_settings(settings),
        retries=RetryRules.from_settings(settings),
    )


def page_image_links(settings: Mapping[str, Any]) -> PageImageLinks | None:
    """Return the function that finds a page's images; ``None`` if images are not targets."""
    if not Targets.parse(settings.get("SEMCRAWL_TARGETS") or "rdf").images:
        return None
    from semcrawl.images.imageitems import ImageOptions, image_links, near_text_judge
    from semcrawl.images.places import PlaceOptions, image_places

    topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
    judge = near_text_judge(topic) if topic is not None else None
    usual = ImageOptions()
    options = PlaceOptions(min_width=usual.min_width, min_height=usual.min_height)

    def links(body: bytes, url: str, content_type: str) -> Sequence[Link]:
        return list(image_links(image_places(body, url, content_type, options).shown, judge))

    return links
