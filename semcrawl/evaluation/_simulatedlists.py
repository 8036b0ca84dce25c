"""Sitemaps in the simulator: when they are looked for, and how their links go in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from semcrawl.evaluation.graph import LinkGraph, Node
from semcrawl.evaluation.queue import SimulatedFrontier, Waiting
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.sources import GUESSED_AFTER, NEXT, Shelf, UntriedShapes, turn

#: group of sitemaps before all pages but the starts, and of what waits until nothing else does
_FRONT, _REST = "sitemaps", "lists"
_VALUES = {_FRONT: 5e8, _REST: -1e12}


def is_judged(waiting: Waiting) -> bool:
    """Whether a link waits where its strategy put it."""
    return waiting.group not in _VALUES


class SimulatedLists:
    """The lists of sitemaps, as :class:`semcrawl.spiders.sitemaps.Sitemaps` treats them."""

    def __init__(
        self,
        graph: LinkGraph,
        frontier: SimulatedFrontier,
        enter: Callable[[Page, Sequence[Link]], tuple[Ranked, ...]],
        learn: Callable[[Outcome], None],
    ) -> None:
        """Put links in by ``enter``, and have the strategy ``learn`` of them."""
        self._graph = graph
        self._frontier = frontier
        self._frontier.set_values(_VALUES)
        self._enter = enter
        self._learn = learn
        self._looked: set[str] = set()
        #: by sitemap
        self._lists: dict[str, tuple[Sequence[Shelf], Page]] = {}
        self._untried = UntriedShapes()
        #: link → list, number of its shelf, and the place in that to go on from
        self._more: dict[str, tuple[str, int, int]] = {}
        #: places of lists that were gone on from
        self._passed: set[tuple[str, int, int]] = set()

    def fetched(self, waiting: Waiting, *, paid: bool) -> None:
        """Take in that a link was fetched, and whether it was a target."""
        self._look_up(waiting.url)
        if untried := self._untried.note(waiting.url):
            self._put_in(*untried, 0, 1)
        if paid and waiting.asked in self._more:
            self._go_on(*self._more.pop(waiting.asked))

    def keep(self, waiting: Waiting, node: Node) -> None:
        """Keep the links of a sitemap until the host has nothing else to ask for."""
        if node.shelves:
            self._lists[waiting.url] = node.shelves, Page(waiting.url, waiting.depth)
            self._untried.add(waiting.url, waiting.url, node.shelves)
            self._frontier.add_again(replace(waiting, group=_REST, turn=1), 1.0)

    def take_turn(self, waiting: Waiting) -> None:
        """Put some links of each shape of a list in; twice as many the next time."""
        shelves, _ = self._lists[waiting.url]
        new, number = 0, waiting.turn
        while not new:
            start, end = turn(number - 1)
            if all(start >= len(shelf.links) for shelf in shelves):
                return
            new = sum(self._put_in(waiting.url, i, start, end) for i in range(len(shelves)))
            number += 1
        self._frontier.add_again(replace(waiting, turn=number), float(number))

    def _look_up(self, url: str) -> None:
        """Look for the sitemap of a host, when the host has nothing else to ask for or later."""
        sitemap = self._graph.sitemap_of(url)
        if not sitemap or sitemap in self._looked:
            return
        parent = sitemap.removesuffix("sitemap.xml")
        waiting = Waiting(sitemap, sitemap, Label.H, ("sitemap",), parent, 1, _REST)
        if self._frontier.add(waiting, 0.0):
            return
        if self._untried.answers(url) >= GUESSED_AFTER:
            self._looked.add(sitemap)
            if self._frontier.waits(sitemap):
                self._frontier.add_again(replace(waiting, group=_FRONT), 0.0)

    def _put_in(self, name: str, number: int, start: int, end: int) -> int:
        """Put links of a shelf in; return how many were new."""
        shelves, page = self._lists[name]
        links = shelves[number].links[start:end]
        for link in links:
            self._more[link.url] = name, number, end
        entered = self._enter(page, links) if links else ()
        if entered:
            self._learn(
                Outcome(
                    *(page.url, None, False, page.url, page.url, page.depth),
                    duplicate=True,
                    new_links=entered,
                )
            )
        return len(entered)

    def _go_on(self, name: str, number: int, place: int) -> None:
        """Put more of a shelf in, some that are new if there are any left."""
        links = self._lists[name][0][number].links
        while place < len(links) and (name, number, place) not in self._passed:
            self._passed.add((name, number, place))
            if self._put_in(name, number, place, place + NEXT):
                return
            place += NEXT
