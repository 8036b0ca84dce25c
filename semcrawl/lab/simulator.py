"""Crawls of a known site without requests: the crawl's decisions over a frontier in memory.

The offline simulator: runs a strategy on a world's link graph, one request at a time.
It keeps to the live crawler's order at concurrency 1 on one host: the best group's first link is
fetched, a redirect's target goes to the front of the same group, a page's links enter in their
order, and what was learned takes effect before the next request.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from semcrawl.crawl.courses import Course, course_of
from semcrawl.crawl.leadrules import Form, LeadRules, shows_rdf
from semcrawl.crawl.lists import ListRules, Portion, first_turn, outcome_of_list
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.crawl.querylinks import endpoints_among, first_links, links_after
from semcrawl.crawl.redirects import DEAD, Instead, RedirectRules
from semcrawl.frontier.links import LinkState
from semcrawl.items import FetchOutcome
from semcrawl.lab.graph import (
    Aim,
    IsTarget,
    LinkGraph,
    Node,
    QueryAnswer,
    Taken,
    is_rdf,
    take_answer,
    unread,
)
from semcrawl.lab.worlds import Answer, World
from semcrawl.links import Link, Page, folders_above
from semcrawl.links.twins import Twins
from semcrawl.rdf.detection import format_of_type
from semcrawl.relevance.contract import (
    Ascending,
    Citing,
    Label,
    Outcome,
    Ranked,
    Rekeying,
    Relevance,
)
from semcrawl.relevance.families import FamilyLedger, families, verdict
from semcrawl.relevance.focus import Grade, grade
from semcrawl.relevance.rules import body_wanted
from semcrawl.sources import Shelf
from semcrawl.sources.catalogues import CataloguePages, next_pages
from semcrawl.sources.endpoints import QUERIES, QUERIES_VALUE, EndpointWalk, Step, endpoint_of_seed
from semcrawl.sources.listing import FIRST, LAST, LISTS, PLACES, SEEDS, SITEMAPS, SOON
from semcrawl.sources.negotiation import (
    NegotiationBook,
    Wish,
    as_rdf,
    gave_nothing,
    is_as_rdf,
    other_form,
)
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import extension_of, path_of
from semcrawl.web.vocabulary import AMBIGUOUS_MEDIA_TYPES, RDF_EXTENSIONS, FoundBy, Kind

__all__ = ["Fetch", "Run", "simulate"]


@dataclass(frozen=True, slots=True)
class Waiting:
    """A waiting link."""

    url: str
    state: LinkState
    group: str

    @property
    def asked(self) -> str:
        """The URL before any redirect."""
        return self.state.link_url(self.url)

    @property
    def expects_rdf(self) -> bool:
        """Whether it is expected to lead to RDF."""
        return self.state.expects_rdf(self.url)

    @property
    def asks_for(self) -> Wish:
        """What its request asks for."""
        return self.state.asks_for(self.url, rdf=self.expects_rdf)

    @property
    def query(self) -> Step | None:
        """The step that it is, if it is a query to a SPARQL endpoint."""
        return Step.unpack(self.state.query) if self.state.query else None


class SimulatedFrontier:
    """Returns the best group's first link: largest value, then smallest key, then first in.

    The default value is 0. Of groups with equal values, the one whose first link has the smaller
    key, or else came earlier, is first. Every operation costs O(log n).
    """

    def __init__(self, family_tries: int = 0) -> None:
        """Withhold the links of a family after so many were barren; 0 = never."""
        self.families = FamilyLedger(family_tries)
        #: family → withheld links, each with its key and order of arrival
        self._withheld: dict[str, list[tuple[float, int, Waiting]]] = {}
        #: URL → order of its arrival
        self._seen: dict[str, int] = {}
        self._values: dict[str, float] = {}
        #: group → heap of (key, order of arrival, URL); stale entries are skipped
        self._links: dict[str, list[tuple[float, int, str]]] = {}
        #: (minus value, key and arrival of the first link, group); stale entries are skipped
        self._heads: list[tuple[float, float, int, str]] = []
        #: waiting URL → (key, order of arrival, link)
        self._waiting: dict[str, tuple[float, int, Waiting]] = {}
        self._arrived = 0
        #: key of the link that was taken last
        self.taken = 0.0

    def __len__(self) -> int:
        return len(self._waiting)

    def knows(self, url: str) -> bool:
        """Whether the URL was ever added."""
        return url in self._seen

    def add(self, link: Waiting, key: float) -> bool:
        """Add a link; return ``False`` if its URL was added before."""
        if link.url in self._seen:
            return False
        self._arrived += 1
        self._seen[link.url] = self._arrived
        self._put(key, self._arrived, link)
        return True

    def add_again(self, link: Waiting, key: float) -> None:
        """Add a link again, in the order in which it arrived first; if it still waits, it moves."""
        if not self.add(link, key):
            self._put(key, self._seen[link.url], link)
            self._file(link.group)

    def give_back(self, link: Waiting) -> None:
        """Add the link that was taken last again, in its place."""
        self.add_again(link, self.taken)

    def judge_family(self, outcome: Outcome) -> None:
        """Note the outcome of a link of a family; restore what need not be withheld."""
        name = outcome.family
        if name:
            self.families.judge(name, verdict(outcome), outcome.led_to)
        if name in self._withheld and not self.families.is_barren(name):
            self.families.restored(name)
            for key, arrived, link in self._withheld.pop(name):
                self._put(key, arrived, link)
                self._file(link.group)

    def set_values(self, values: Mapping[str, float]) -> None:
        """Give groups new values."""
        for group, value in values.items():
            if self._values.get(group, 0.0) != value:
                self._values[group] = value
                self._file(group)

    def rekey(self, keys: Mapping[str, float]) -> None:
        """Give new keys to waiting links; redirects in front and unknown URLs stay as they are."""
        for url, key in keys.items():
            entry = self._waiting.get(url)
            if entry is not None and entry[0] not in (key, -math.inf):
                self._put(key, entry[1], entry[2])
                self._file(entry[2].group)

    def take(self) -> Waiting | None:
        """Remove and return the first link; ``None`` if nothing waits."""
        while self._heads:
            head = heapq.heappop(self._heads)
            group = head[3]
            if head != self._head(group):
                continue
            url = heapq.heappop(self._links[group])[2]
            key, arrived, link = self._waiting.pop(url)
            self.taken = key
            self._file(group)
            state = link.state
            unasked = state.family and not (state.redirects or state.retries or state.wish)
            if unasked and self.families.withholds(state.family):
                self._withheld.setdefault(state.family, []).append((key, arrived, link))
                continue
            return link
        return None

    def _put(self, key: float, arrived: int, link: Waiting) -> None:
        self._waiting[link.url] = (key, arrived, link)
        heap = self._links.setdefault(link.group, [])
        heapq.heappush(heap, (key, arrived, link.url))
        if heap[0][1] == arrived:
            self._file(link.group)

    def _head(self, group: str) -> tuple[float, float, int, str] | None:
        """Return a group's position among the groups; ``None`` if the group is empty."""
        heap = self._links.get(group, [])
        while heap:
            key, arrived, url = heap[0]
            entry = self._waiting.get(url)
            if entry is not None and entry[:2] == (key, arrived):
                return -self._values.get(group, 0.0), key, arrived, group
            heapq.heappop(heap)
        return None

    def _file(self, group: str) -> None:
        """Record a group's position; earlier entries become stale."""
        head = self._head(group)
        if head is not None:
            heapq.heappush(self._heads, head)


def is_place(waiting: Waiting) -> bool:
    """Whether a link is a well-known place, which no strategy judges."""
    return waiting.group.startswith(PLACES)


class SimulatedLeads:
    """Does in memory what :class:`semcrawl.spiders.leads.Leads` does."""

    def __init__(
        self,
        graph: LinkGraph,
        frontier: SimulatedFrontier,
        policy: LinkPolicy,
        enter: Callable[[Page, Sequence[Link]], tuple[Ranked, ...]],
    ) -> None:
        """Add links to the frontier by ``enter``."""
        self._graph = graph
        self._frontier = frontier
        self._policy = policy
        self._enter = enter
        options = graph.leads
        self._rules = LeadRules(options)
        self._book = NegotiationBook(options.tries if options.negotiation else 0)
        self._pages = CataloguePages(options.most_pages)

    def links_of(self, waiting: Waiting, node: Node) -> Sequence[Link]:
        """Return the links of a document to follow."""
        if node.answer.kind is Kind.HTML:  # its next pages are usual links
            if node.signs and self._rules.seeks_software(waiting.url):
                self._rules.note_software(waiting.url)
                return node.with_catalogue
            return node.links
        return self.bounded(waiting.url, node.links)

    def bounded(self, url: str, links: Sequence[Link]) -> Sequence[Link]:
        """Leave out further pages of a catalogue of which enough pages were followed."""
        further = next_pages(url, links)
        left = {link.url for link in further if not self._pages.may_follow(link.url)}
        return [link for link in links if link.url not in left] if left else links

    def shows_rdf(self, waiting: Waiting, node: Node) -> bool:
        """Whether a page links to RDF that is new; ask before its links are followed."""
        own = node.own_links
        if self._rules.seeks_software(waiting.url):
            own = (*own, *node.signs)
        asks = self._graph.leads.asks_as_rdf
        return asks and shows_rdf(waiting.url, own, self._frontier.knows)

    def note_page(self, waiting: Waiting, node: Node, *, shows_rdf: bool, target: bool) -> None:
        """After reading a page, add its RDF form and, if it is a target, well-known places."""
        if not shows_rdf:
            form = self._rules.form_of_page(
                waiting.url,
                waiting.state,
                varies=node.varies,
                rdf=waiting.expects_rdf,
                links=node.own_links,
                names_itself=lambda url: node.names_itself,
            )
            self._ask_for(waiting, form)
        if waiting.asks_for is Wish.PAGE:
            self._note_answered(waiting)
        if target:
            self.look_at_host(waiting.url)

    def note_rdf(self, waiting: Waiting, *, whole: bool, target: bool) -> None:
        """After reading RDF, add well-known places and RDF forms of pages of the same shape."""
        if target:
            self.look_at_host(waiting.url)
        if whole and is_as_rdf(waiting.asked):
            for url in self._book.note_found(waiting.asked):
                self._put_in(waiting, url)
        if whole:
            self._note_answered(waiting)

    def after_redirect(self, waiting: Waiting, node: Node) -> Waiting:
        """Add the RDF form of an address that redirects; return the link as it goes on."""
        state, form = self._rules.after_redirect(
            waiting.url, waiting.state, varies=node.varies, rdf=waiting.expects_rdf
        )
        self._ask_for(waiting, form)
        return replace(waiting, state=state)

    def note_dead_end(self, waiting: Waiting, target: str = "") -> None:
        """Ask for RDF in another way where a redirect that depends on the type led to nothing."""
        self._ask_for(waiting, self._rules.after_dead_end(waiting.url, waiting.state, target))

    def note_known_target(self, waiting: Waiting, target: str) -> None:
        """After a redirect to a known address, ask for RDF in another way."""
        if not is_as_rdf(waiting.asked):
            self.note_dead_end(waiting, target)
        elif extension_of(path_of(target)) not in RDF_EXTENSIONS:
            self.ask_again(waiting)

    def gave_nothing(self, waiting: Waiting, node: Node) -> bool:
        """Whether an answer says, or suggests, that other types may give more."""
        return gave_nothing(
            node.answer.status,
            varies=node.varies,
            expects_rdf=waiting.expects_rdf,
            empty=node.empty and format_of_type(node.answer.content_type) is None,
        )

    def ask_again(self, waiting: Waiting) -> bool:
        """Put the link that was taken last back with its next wish; return whether it went."""
        again = self._rules.again(waiting.url, waiting.state, rdf=waiting.expects_rdf)
        if again is None or (again.counts and not self._book.may_ask_again(waiting.asked)):
            return False
        if again.instead is not None:
            first = Waiting(again.instead.url, again.state, waiting.group)
            self._frontier.add_again(first, -math.inf)
        else:
            self._frontier.give_back(replace(waiting, state=again.state))
        return True

    def look_at_host(self, url: str) -> None:
        """Add the well-known places of a target's origin, or move them forward."""
        places = self._rules.after_target(url)
        if places is None:
            return
        links = [each for each in places.links if self._policy.may_fetch(each[0])]
        if links or not places.links:
            self._frontier.set_values({places.group: places.value})
        for number, (place, state) in enumerate(links):
            self._frontier.add(Waiting(place, state, places.group), float(number))

    def _note_answered(self, waiting: Waiting) -> None:
        """Note that a link gave what it was asked for; it counts if it had been asked again."""
        if waiting.state.wish:
            self._book.note_answered(waiting.asked)

    def _ask_for(self, waiting: Waiting, form: Form | None) -> None:
        """Add an RDF form that there is evidence for, or let it wait for the answers of others."""
        if form is None or not (form.is_likely or self._book.gives_forms(form.url)):
            return
        if self._book.ask(form.url):
            self._put_in(waiting, form.url, form.wish)

    def _put_in(self, waiting: Waiting, url: str, wish: str = Wish.ONLY_RDF) -> None:
        if not self._frontier.knows(as_rdf(url)):
            self._enter(Page(url, waiting.state.depth), [other_form(url, wish)])


T = TypeVar("T")


class Enter(Protocol):
    """Judges links and adds the new ones; ``more``: where a list goes on if they pay."""

    def __call__(
        self, page: Page, links: Sequence[Link], *, more: str = ""
    ) -> tuple[Ranked, ...]: ...


def is_listed(waiting: Waiting) -> bool:
    """Whether a link is a sitemap in a group that no strategy ranks."""
    return waiting.group == LISTS or waiting.group.startswith(SITEMAPS)


class SimulatedLists:
    """Does in memory what :class:`semcrawl.spiders.sitemaps.Sitemaps` does."""

    def __init__(
        self,
        graph: LinkGraph,
        frontier: SimulatedFrontier,
        rules: ListRules,
        enter: Enter,
        learn: Callable[[Outcome], None],
        begin: Callable[[Page, Sequence[Link]], Sequence[Link]],
    ) -> None:
        """Add links to the frontier by ``enter``, and report them to the strategy by ``learn``.

        ``begin`` starts the endpoints among links, and returns the other links.
        """
        self._graph = graph
        self._frontier = frontier
        self._frontier.set_values({LISTS: LAST})
        self._rules = rules
        self._enter = enter
        self._learn = learn
        self._begin = begin
        #: name of a list → its shelves, and its page
        self._lists: dict[str, tuple[Sequence[Shelf], Page]] = {}

    def fetched(self, waiting: Waiting, *, paid: bool) -> None:
        """Note that a link was fetched, and whether it was a target."""
        url, more = waiting.url, waiting.state.more
        if origin := self._rules.seeks(url):
            links = self._rules.found(origin, self._graph.robots_name(origin))
            group = SITEMAPS + netloc_of(url)
            if links:
                self._frontier.set_values({group: LAST})
            for number, (sitemap, state) in enumerate(links):
                self._frontier.add(Waiting(sitemap, state, group), float(number))
        if (untried := self._rules.note_answer(url)) is not None:
            self._put_in(untried)
        if group := self._rules.due(url):
            self._frontier.set_values({group: SOON})
        if paid and more:
            self._add(self._rules.go_on(more, self._lengths(more)))

    def keep(self, waiting: Waiting, node: Node) -> None:
        """Keep the links of a sitemap, and let it wait for its first turn."""
        if self._rules.why_enough(waiting.url) or not node.is_sitemap:
            return
        name = str(len(self._lists)) if node.shelves else ""
        self._rules.note_read(waiting.url, name, node.shelves)
        if node.shelves:
            self._lists[name] = node.shelves, Page(waiting.url, waiting.state.depth)
            self._wait_again(waiting, first_turn(name))

    def is_enough(self, waiting: Waiting) -> bool:
        """Whether it is a sitemap that is not fetched, as enough of its host were read."""
        return waiting.state.is_sitemap and bool(self._rules.why_enough(waiting.url))

    def take_turn(self, waiting: Waiting) -> None:
        """Add some links of each shelf of a sitemap; each turn takes more than the one before."""
        turn = waiting.state.turn
        if turn := self._add(self._rules.take_turn(turn, self._lengths(turn))):
            self._wait_again(waiting, turn)

    def _lengths(self, place: str) -> list[int]:
        return [len(shelf.links) for shelf in self._lists[place.partition(".")[0]][0]]

    def _wait_again(self, waiting: Waiting, turn: str) -> None:
        """Let a sitemap wait for its next turn, behind those that went back less often."""
        key = self._frontier.taken + 1 if waiting.group == LISTS else 0.0
        state = replace(waiting.state, turn=turn, retries=0)
        self._frontier.add_again(Waiting(waiting.url, state, LISTS), key)

    def _add(self, portions: Generator[Portion, int, T]) -> T:
        """Add portions of lists, as long as the rules ask for more; return what they conclude."""
        try:
            portion = next(portions)
            while True:
                portion = portions.send(self._put_in(portion))
        except StopIteration as end:
            concluded: T = end.value
            return concluded

    def _put_in(self, portion: Portion) -> int:
        """Add the links of a portion; return how many were new."""
        place = portion.place
        shelves, page = self._lists[place.name]
        links = shelves[place.shelf].links[place.number : portion.end]
        rest = str(place._replace(number=portion.end))
        links = self._begin(page, links)
        new = self._enter(page, links, more=rest) if links else ()
        if new:
            self._learn(outcome_of_list(page, new))
        return len(new)


class SimulatedEndpoints:
    """Simulates :class:`semcrawl.spiders.endpoints.EndpointReader` without requests."""

    def __init__(self, graph: LinkGraph, frontier: SimulatedFrontier, policy: LinkPolicy) -> None:
        """Add queries to ``frontier``."""
        self._graph = graph
        self._options = graph.endpoints
        self._frontier = frontier
        self._policy = policy
        self._frontier.set_values({QUERIES: QUERIES_VALUE})
        self._walk = EndpointWalk(self._options.skipped)

    def take_found(self, page: Page, links: Sequence[Link]) -> Sequence[Link]:
        """Begin to query the endpoints among a document's links; return the other links."""
        found, others = endpoints_among(self._options, self._policy, page, links)
        for first, then in found:
            if not self.put_in(*first):
                self.put_in(*then)
        return others

    def put_in(self, url: str, state: LinkState) -> bool:
        """Add a query; return whether it is new."""
        return self._frontier.add(Waiting(url, state, QUERIES), 0.0)

    def answer_to(self, waiting: Waiting) -> QueryAnswer | None:
        """Return the answer to a waiting query; ``None`` if it is not a query."""
        step = waiting.query
        if step is None:
            return None
        rdf_first = waiting.state.label is Label.R
        return self._graph.ask(step, waiting.url, rdf_first=rdf_first)

    def take(self, waiting: Waiting, answer: QueryAnswer) -> Taken:
        """Process the answer to a query."""
        step = waiting.query
        if step is None:
            raise ValueError(f"{waiting.url} is not a query")
        return take_answer(self._walk, step, answer)

    def follow(self, waiting: Waiting, taken: Taken) -> None:
        """Add the queries that follow."""
        for url, state in links_after(waiting.url, waiting.state, taken.following):
            self.put_in(url, state)


@dataclass(frozen=True, slots=True)
class Fetch:
    """One request of a run."""

    url: str
    #: the link's URL, which differs from ``url`` after a redirect
    asked: str
    status: int
    #: real type of the body; ``None`` without one, after a redirect, an error or the filter
    kind: Kind | None
    label: Label
    rules: tuple[str, ...]
    parent: str | None
    depth: int
    #: whether it found a new target
    new_target: bool = False
    #: abandoned after its headers (the content-type filter)
    filtered: bool = False
    #: the crawl took it for a target
    kept: bool = False
    #: how it was found
    found_by: FoundBy = FoundBy.LINK


@dataclass
class Run:
    """One strategy's run in a world."""

    world: str
    strategy: str
    seed: int = 0
    fetches: list[Fetch] = field(default_factory=list)
    #: number of distinct targets after each request
    curve: list[int] = field(default_factory=list)
    #: URL of each judged link → (label, rules, parent) of the judgement that counted
    judged: dict[str, tuple[Label, tuple[str, ...], str]] = field(default_factory=dict)
    #: number of judged links, with duplicates, and the strategy's total seconds
    ranked: int = 0
    seconds: float = 0.0
    #: number of distinct statements in the RDF documents
    statements: int = 0
    #: why the run failed; empty if it did not
    error: str = ""
    #: names of the targets, and hashes of the statements
    _targets: set[str] = field(default_factory=set, repr=False, compare=False)
    _said: set[int] = field(default_factory=set, repr=False, compare=False)

    def add(self, fetch: Fetch, node: Node, is_target: IsTarget) -> None:
        """Record a request, and whether it found a new target."""
        if fetch.kind is Kind.RDF:
            self._said.update(node.statements)
            self.statements = len(self._said)
        if fetch.kind is not None and is_target(node):
            document = node.answer.document or fetch.url
            if document not in self._targets:
                self._targets.add(document)
                fetch = replace(fetch, new_target=True)
        self.fetches.append(fetch)
        self.curve.append(len(self._targets))

    @property
    def order(self) -> list[str]:
        """URLs in the order of their requests."""
        return [fetch.url for fetch in self.fetches]

    @property
    def found(self) -> int:
        """Distinct targets found."""
        return self.curve[-1] if self.curve else 0

    @property
    def requests(self) -> int:
        """Requests made; fewer than allowed if the frontier became empty."""
        return len(self.fetches)


#: status of a foreseen redirect
_MOVED = 301


def simulate(
    world: World | LinkGraph,
    strategy: Relevance,
    pages: int = 2000,
    seed: int = 0,
    *,
    is_target: IsTarget = is_rdf,
    aim: Aim | None = None,
    ambiguous_types: Collection[str] = AMBIGUOUS_MEDIA_TYPES,
    progress: Callable[[Run], None] | None = None,
) -> Run:
    """Run a strategy for at most ``pages`` requests, without robots.txt and delays.

    Give a :class:`LinkGraph` to share its parsed pages between runs. ``seed`` is only recorded in
    the result: a strategy gets its seed when it is made. With an ``aim``, a strategy learns of
    documents that reach its threshold, whatever counts as found. ``ambiguous_types`` are media
    types whose bodies are read whatever the label. ``progress`` is called after every request. An
    exception of the strategy ends the run and is recorded in ``Run.error``.
    """
    graph = world if isinstance(world, LinkGraph) else LinkGraph(world)
    run = Run(graph.world.name, strategy.name, seed)
    crawl = _Crawl(graph, strategy, run, is_target, aim, frozenset(ambiguous_types))
    try:
        crawl.plant()
        while len(run.fetches) < pages and crawl.step():
            if progress is not None:
                progress(run)
    except Exception as error:  # whatever a strategy under test may raise
        run.error = f"{type(error).__name__}: {error}".splitlines()[0]
    run.seconds = crawl.seconds
    return run


class _Crawl:
    """The state of one run."""

    def __init__(
        self,
        graph: LinkGraph,
        strategy: Relevance,
        run: Run,
        is_target: IsTarget,
        aim: Aim | None,
        ambiguous_types: frozenset[str],
    ) -> None:
        self.graph = graph
        self.strategy = strategy
        self.run = run
        self.is_target = is_target
        self.aim = aim
        self.ambiguous_types = ambiguous_types
        self.twins = Twins()
        self.ascends = isinstance(strategy, Ascending) and strategy.ascends
        self.guesses = isinstance(strategy, Ascending) and strategy.guesses
        self.frontier = SimulatedFrontier(graph.family_tries)
        self.frontier.set_values({SEEDS: FIRST})
        self.policy = graph.policy()
        self.endpoints = SimulatedEndpoints(graph, self.frontier, self.policy)
        self.lists = SimulatedLists(
            graph=graph,
            frontier=self.frontier,
            rules=ListRules(graph.sitemaps, self.policy),
            enter=self._enter,
            learn=self._learn_more,
            begin=self.endpoints.take_found,
        )
        self.leads = SimulatedLeads(graph, self.frontier, self.policy, self._enter)
        self.redirects = RedirectRules(self.policy, graph.redirects)
        #: whether the last fetch was a target
        self.paid = False
        self.had: set[bytes] = set()
        self.seconds = 0.0

    def plant(self) -> None:
        """Add the seeds."""
        starts = self.graph.world.starts
        for url in starts:
            if not endpoint_of_seed(url):
                self._plant(url)
        for endpoint in filter(None, map(endpoint_of_seed, starts)):
            (url, first), then = first_links(self.graph.endpoints, endpoint)
            if not self._plant(url, first):
                self.endpoints.put_in(*then)
        self._apply()

    def _plant(self, url: str, state: LinkState = LinkState()) -> bool:  # noqa: B008 - frozen
        """Add a seed; return whether it is new."""
        page, link = Page(url, depth=-1), Link(url, element="seed")
        ranked = self.strategy.rank(page, [link])[0]
        group = ranked.group if ranked.group is not None else SEEDS
        state = replace(state, label=ranked.label, rules=ranked.rules)
        return self.frontier.add(Waiting(url, state, group), ranked.key)

    def step(self) -> bool:
        """Make one request; return ``False`` if nothing waits."""
        waiting = self.frontier.take()
        if waiting is None:
            return False
        if waiting.state.turn:
            self.lists.take_turn(waiting)
            return True
        self.paid = False
        listed = is_listed(waiting)
        if not listed and not is_place(waiting):
            self._timed(lambda: self.strategy.taken([waiting.asked]))
        if self.lists.is_enough(waiting):
            self._learn(waiting, Node(Answer(0)), None)
            return True
        if (folder := self.redirects.foreseen(waiting.url, waiting.state)) is not None:
            self._go_ahead(waiting, folder)
            return True
        answer = self.endpoints.answer_to(waiting)
        rdf_first = waiting.asks_for is not Wish.PAGE
        node = answer.node if answer else self.graph.look(waiting.url, rdf_first)
        state, status = waiting.state, node.answer.status
        course = course_of(state, status, node.answer.location)
        if course is Course.MOVED:
            self._redirected(waiting, node)
        elif course is Course.NO_SITEMAP:
            self._note(waiting, node, None)
        elif course is Course.GUESSED_WRONG:
            self._note(waiting, node, None)
            if not state.is_sitemap:
                self._learn(waiting, node, None)
        elif answer is not None:
            self._read_query(waiting, answer)
        elif course is not Course.BODY:
            self._failed(waiting, node)
        else:
            self.redirects.note_folder(waiting.url, state, added=state.foreseen)
            self._arrived(waiting, waiting.url)
            if node.is_sitemap or (state.is_sitemap and state.is_guess):
                self._note(waiting, node, node.answer.kind)
                self.lists.keep(waiting, node)
            else:
                self._read(waiting, node)
        self.lists.fetched(waiting, paid=self.paid)
        return True

    def _learn_more(self, outcome: Outcome) -> None:
        """Report the links of a list to the strategy."""
        self._timed(partial(self.strategy.learn, outcome))
        self._apply()

    def _redirected(self, waiting: Waiting, node: Node) -> None:
        """Put what a redirect leads to in the place of its link."""
        self._note(waiting, node, None)
        waiting = self.leads.after_redirect(waiting, node)
        move = self.redirects.after_move(waiting.url, waiting.state, node.answer.location)
        self.twins.redirected(waiting.asked, move.target)
        if move.target and is_listed(waiting):
            self.graph.expect_sitemap(move.target, waiting.url)
        if move.instead is not None and self._put(waiting, move.instead):
            return
        if move.instead is not None:
            self._arrived(waiting, move.target)
        known = move.outcome is FetchOutcome.REDIRECTED
        led_to = move.target if known else ""
        self._learn(waiting, node, None, duplicate=known, led_to=led_to)
        if known:
            self.leads.note_known_target(waiting, move.target)

    def _arrived(self, waiting: Waiting, url: str) -> None:
        """Take the site that a seed's redirects lead to into the scope."""
        if waiting.state.redirects or url != waiting.url:
            self.policy.scope.roots |= self.redirects.roots_of(waiting.state, url)

    def _go_ahead(self, waiting: Waiting, folder: Instead) -> None:
        """Put a foreseen folder in the link's place."""
        if not self._put(waiting, folder):
            moved = Node(Answer(_MOVED))
            self._learn(waiting, moved, None, duplicate=True, led_to=folder.url)

    def _put(self, waiting: Waiting, way: Instead) -> bool:
        """Put an address in the place of a link; return whether it was not known before."""
        link = replace(waiting, url=way.url, state=way.state)
        if way.seen:
            self.frontier.add_again(link, -math.inf)
            return True
        if self.frontier.add(link, -math.inf):
            return True
        if isinstance(self.strategy, Rekeying) and self.strategy.rekeys:
            self.frontier.rekey({way.url: -math.inf})
        return False

    def _failed(self, waiting: Waiting, node: Node) -> None:
        """Process an answer without a document: ask in another way, or give up."""
        self._note(waiting, node, None)
        url, state, status = waiting.url, waiting.state, node.answer.status
        if back := self.graph.retries.after_status(state, status, None):
            self.frontier.give_back(replace(waiting, state=back.state))
            return
        if any(self._put(waiting, way) for way in self.redirects.after_error(url, state, status)):
            return
        if self.leads.gave_nothing(waiting, node) and self.leads.ask_again(waiting):
            return
        self.redirects.note_dead(url, state, status)
        if status in DEAD:
            self.leads.note_dead_end(waiting)
        self._learn(waiting, node, None)

    def _read_query(self, waiting: Waiting, answer: QueryAnswer) -> None:
        """Process the answer of an endpoint."""
        failed, status = not answer.node.answer.is_success, answer.node.answer.status
        if failed and not self.graph.retries.is_left(waiting.state, status):
            self._failed(waiting, answer.node)
            return
        taken = self.endpoints.take(waiting, answer)
        if failed and not taken.following.steps:
            self._failed(waiting, answer.node)
            return
        node = answer.node if taken.kept else unread(answer.node)
        self._note(waiting, node, taken.kind)
        graded = self._grade(waiting, node) if taken.kept else Grade(False, 0.0)
        self.paid = graded.target
        self._learn(waiting, node, taken.kind, graded)
        self.endpoints.follow(waiting, taken)

    def _read(self, waiting: Waiting, node: Node) -> None:
        """Process the answer of a URL."""
        answer = node.answer
        kind: Kind | None = answer.kind
        filtered = kind is not None and not (
            body_wanted(answer.content_type, waiting.state.label, self.ambiguous_types)
            or self._is_image(node)
        )
        if filtered:
            kind = None
        self._note(waiting, node, kind, filtered)
        nothing = not filtered and self.leads.gave_nothing(waiting, node)
        if nothing and self.leads.ask_again(waiting):
            return
        if kind is Kind.HTML and is_as_rdf(waiting.url):  # the page again
            if not self.leads.ask_again(waiting):
                self._learn(waiting, node, kind, duplicate=True)
            return
        known = kind in (Kind.HTML, Kind.RDF) and bool(node.digest) and node.digest in self.had
        if kind in (Kind.HTML, Kind.RDF):
            self.had.add(node.digest)
        shows_rdf = kind is Kind.HTML and self.leads.shows_rdf(waiting, node)
        follows = kind in (Kind.HTML, Kind.OTHER) or filtered or self.graph.follow_rdf
        links: Sequence[Link]
        if filtered:
            links = self.leads.bounded(waiting.url, node.header_links)
        else:
            links = self.leads.links_of(waiting, node)
        if self.ascends and kind is Kind.HTML and (node.links or not node.own_links):
            links = [*links, *folders_above(waiting.url)]
        leads_on = self.aim is None or waiting.state.is_seed or self.aim.leads_on(node)
        if self.guesses and kind in (Kind.HTML, Kind.RDF) and (leads_on or not node.is_followed):
            whole = kind is Kind.RDF and node.keeps and not node.broken
            led_by = (waiting.state.parent if whole else None) or ""
            suggested_by, followed = self.twins.suggested_by, node.is_followed
            guesses = suggested_by(links, waiting.asked, waiting.url, led_by, followed=followed)
            links = [*links, *guesses]
        if not leads_on:
            links = ()
        links = self.endpoints.take_found(Page(waiting.url, waiting.state.depth), links)
        entered = self._rank(waiting, node, links) if follows and links else ()
        graded = Grade(False, 0.0)
        if kind is not None and node.keeps and not node.broken and not node.is_list:
            graded = self._grade(waiting, node)
        self.paid = graded.target
        if node.is_list:  # to the strategy, it is a page of links
            kind = Kind.HTML if node.links else Kind.OTHER
        elif kind is Kind.HTML:
            self.leads.note_page(waiting, node, shows_rdf=shows_rdf, target=graded.target)
        elif kind is Kind.RDF:
            self.leads.note_rdf(waiting, whole=node.keeps and not node.broken, target=graded.target)
        self._learn(waiting, node, kind, graded, duplicate=known, new_links=entered)

    def _is_image(self, node: Node) -> bool:
        """Whether it is an image in a crawl for images."""
        return self.graph.images is not None and node.answer.content_type.startswith("image/")

    def _grade(self, waiting: Waiting, node: Node) -> Grade:
        """Return how the crawl grades a document as a target."""
        if self.aim is None:
            target, gain = grade(self.is_target(node), None, 1.0)
            if node.answer.kind is Kind.RDF:
                gain *= self.graph.counting.worth(node.quads, unread=node.unread)
            return Grade(target, gain)
        relevance = self._relevance(waiting, node) or 0.0
        counts = self.aim.counts(node)
        if node.judged is None or self._is_image(node):
            return grade(counts, relevance, self.aim.threshold)
        return grade(counts, node.judged.deciding, self.aim.threshold, node.judged.worth)

    def _relevance(self, waiting: Waiting, node: Node) -> float | None:
        return waiting.state.near_text if self._is_image(node) else node.relevance

    def _learn(
        self,
        waiting: Waiting,
        node: Node,
        kind: Kind | None,
        graded: Grade = Grade(False, 0.0),  # noqa: B008 - frozen
        *,
        duplicate: bool = False,
        new_links: tuple[Ranked, ...] = (),
        led_to: str = "",
    ) -> None:
        """Report an outcome to the strategy."""
        if not led_to:  # the document, as other links may lead to it too
            led_to = node.digest.hex() if kind is Kind.HTML else ""
            led_to = waiting.url if waiting.state.redirects else led_to
        outcome = Outcome(
            url=waiting.asked,
            kind=kind,
            target=graded.target,
            final_url=waiting.url,
            parent=waiting.state.parent,
            depth=waiting.state.depth,
            status=node.answer.status or None,
            label=waiting.state.label,
            rules=waiting.state.rules,
            group=waiting.group,
            duplicate=duplicate,
            new_links=new_links,
            relevance=None if kind is None or node.broken else self._relevance(waiting, node),
            gain=graded.gain if self.aim is not None or graded.gain < graded.target else None,
            family=waiting.state.family,
            led_to=led_to,
        )
        self._timed(lambda: self.strategy.learn(outcome))
        self._apply()
        self.frontier.judge_family(outcome)  # new keys are not for links that come back now

    def _rank(self, waiting: Waiting, node: Node, links: Sequence[Link]) -> tuple[Ranked, ...]:
        """Judge a document's links; add the new ones to the frontier."""
        rdf = node.answer.kind is Kind.RDF
        return self._enter(
            Page(waiting.url, waiting.state.depth, rdf, node.relevance), links, votes=True
        )

    def _enter(
        self, page: Page, links: Sequence[Link], *, more: str = "", votes: bool = False
    ) -> tuple[Ranked, ...]:
        """Judge the links that may be followed; add the new ones to the frontier.

        ``more``: where a long list goes on if they pay. ``votes``: whether the strategy may count
        them as votes of the page.
        """
        possible, others = self.policy.followed(page, links)
        if votes and isinstance(self.strategy, Citing):
            cited, counted = self.strategy.cited, self.policy.votes(possible, others)
            self._timed(lambda: cited(page, counted))
        if not possible:
            return ()
        links = possible
        ranked = self._timed(lambda: self.strategy.rank(page, links))
        self.run.ranked += len(ranked)
        entered = []
        family = self._families(page, ranked) if page.rdf else {}
        for link in ranked:
            url = link.link.url
            if self.frontier.knows(url):
                continue
            self.run.judged[url] = (link.label, link.rules, page.url)
            if link.group is None:
                continue
            state = LinkState.of_link(page, link, family=family.get(url, ""), more=more)
            self.frontier.add(Waiting(url, state, link.group), link.key)
            entered.append(link)
        return tuple(entered)

    def _families(self, page: Page, ranked: Sequence[Ranked]) -> dict[str, str]:
        """Name the families of the new links of an RDF document."""
        urls = [each.link.url for each in ranked if each.group is not None]
        urls = [url for url in urls if not self.frontier.knows(url)]
        tries = self.graph.family_tries
        if not 0 < tries < len(urls):
            return {}
        return {url: family.name for url, family in families(page.url, urls, tries).items()}

    def _apply(self) -> None:
        """Apply the learned values."""
        values = self._timed(self.strategy.values)
        if values:
            self.frontier.set_values(values)
        keys = self._timed(self.strategy.rekeyed)
        if keys:
            self.frontier.rekey(keys)

    def _note(
        self, waiting: Waiting, node: Node, kind: Kind | None, filtered: bool = False
    ) -> None:
        """Record the request."""
        kept = kind is not None and node.keeps and self._grade(waiting, node).target
        fetch = Fetch(
            url=waiting.url,
            asked=waiting.asked,
            status=node.answer.status,
            kind=kind,
            label=waiting.state.label,
            rules=waiting.state.rules,
            parent=waiting.state.parent,
            depth=waiting.state.depth,
            kept=kept,
            filtered=filtered,
            found_by=waiting.state.way,
        )
        self.run.add(fetch, node, self.is_target)

    def _timed(self, work: Callable[[], T]) -> T:
        """Call a function of the strategy, and add up its CPU time."""
        started = time.thread_time()
        try:
            return work()
        finally:
            self.seconds += time.thread_time() - started
