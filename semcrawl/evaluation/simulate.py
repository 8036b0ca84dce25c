"""The offline simulator: runs a strategy on a world's link graph, one request at a time.

It keeps to the live crawler's order at concurrency 1 on one host: the best group's first link is
fetched, a redirect's target goes to the front of the same group, a page's links enter in their
order, and what was learned takes effect before the next request.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from semcrawl.crawl.courses import Course, course_of
from semcrawl.crawl.lists import ListRules
from semcrawl.crawl.querylinks import first_links
from semcrawl.crawl.redirects import DEAD, Instead, RedirectRules
from semcrawl.evaluation._simulatedleads import SimulatedLeads, is_place
from semcrawl.evaluation._simulatedlists import SimulatedEndpoints, SimulatedLists, is_listed
from semcrawl.evaluation.graph import IsTarget, LinkGraph, is_rdf
from semcrawl.evaluation.judgement import Aim
from semcrawl.evaluation.nodes import Node
from semcrawl.evaluation.queries import QueryAnswer, unread
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.evaluation.run import Fetch, Run
from semcrawl.evaluation.world import Answer, World
from semcrawl.frontier.links import LinkState
from semcrawl.items import FetchOutcome
from semcrawl.links import Link, Page, folders_above
from semcrawl.relevance.bodytypes import body_wanted
from semcrawl.relevance.contract import (
    Ascending,
    Citing,
    Outcome,
    Ranked,
    Rekeying,
    Relevance,
)
from semcrawl.relevance.families import families
from semcrawl.relevance.focus import Grade, grade
from semcrawl.sources.endpointsteps import endpoint_of_seed
from semcrawl.sources.listing import FIRST, SEEDS
from semcrawl.sources.negotiation import Wish, is_as_rdf
from semcrawl.web.vocabulary import AMBIGUOUS_MEDIA_TYPES, Kind

__all__ = ["Fetch", "Run", "simulate"]

T = TypeVar("T")

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
        self.ascends = isinstance(strategy, Ascending) and strategy.ascends
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
        if self.aim is not None and not (waiting.state.is_seed or self.aim.leads_on(node)):
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
            return grade(self.is_target(node), None, 1.0)
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
            gain=None if self.aim is None else graded.gain,
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
