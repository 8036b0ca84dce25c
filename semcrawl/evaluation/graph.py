"""A world's link graph: every URL is fetched once, and its links are extracted once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import urlsplit

from semcrawl import settings as defaults
from semcrawl.config.leadoptions import EndpointOptions, LeadOptions, SitemapRules
from semcrawl.config.scope import Scope
from semcrawl.config.urlpatterns import UrlPatterns
from semcrawl.crawl.courses import RetryRules
from semcrawl.crawl.lists import ListRules
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.redirects import RedirectOptions
from semcrawl.evaluation.nodes import Node, NodeReader, PageImageLinks
from semcrawl.evaluation.queries import QueryAnswer, ask, walk_through
from semcrawl.evaluation.world import Answer, Negotiating, World
from semcrawl.links import ExtractionOptions, Link, Page
from semcrawl.rdf import ReadOptions
from semcrawl.reading.answer import AnswerOptions, AnswerReader
from semcrawl.reading.reader import Reader
from semcrawl.sources import named_sitemaps
from semcrawl.sources.endpointpaging import first_steps
from semcrawl.sources.endpointsteps import Step, endpoint_of_seed, names_endpoint
from semcrawl.sources.endpointwalk import EndpointWalk
from semcrawl.sources.negotiation import address_of, as_rdf, is_as_rdf
from semcrawl.topics import TEXT, Topic
from semcrawl.web.hosts import netloc_of
from semcrawl.web.robotstags import RobotsTags
from semcrawl.web.urls import resolve
from semcrawl.web.vocabulary import Kind

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
