"""Targets behind tunnels, found by the layers of the pages on the way."""

from __future__ import annotations

import random
from itertools import pairwise

from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.simulator import simulate
from semcrawl.lab.worlds import BuiltWorld, SiteBuilder
from semcrawl.links import Link, Page
from semcrawl.relevance import Outcome, load_strategy
from semcrawl.web.vocabulary import Kind

D = "http://d.example"


def tunnels(count: int = 12, decoys: int = 60) -> BuiltWorld:
    """Targets at the ends of tunnels of three pages, among others; one tunnel is met early."""
    chance = random.Random(1)
    site = SiteBuilder("tunnels.example")
    home, more = site.page("/", "Home"), site.page("/more/", "More")
    for hub, tunnels_here, others in ((home, 1, 5), (more, count, decoys)):
        names = [("t", n) for n in range(tunnels_here)] + [("d", n) for n in range(others)]
        chance.shuffle(names)
        for kind, number in names:
            words = ("archive", "volume", "issue") if kind == "t" else ("news", "story", "comment")
            page = hub
            for word in words:
                to = site.page(f"{hub.path}{kind}{number}/{len(word)}{word[0]}/", "A page")
                site.link(page, to, f"{word} page")
                page = to
            if kind == "t":
                site.link(page, site.rdf(f"{page.path}it.ttl"), "data")
            elif hub is home and number == 0:
                site.link(page, more, "more")
    return BuiltWorld("tunnels", "tunnels.example", site.documents)


def test_it_finds_targets_behind_tunnels_before_others() -> None:
    """After the first tunnel, the others are taken first."""
    graph = LinkGraph(tunnels())
    found = {
        name: simulate(graph, load_strategy(name, {}), 100).found
        for name in ("breadth-first", "context-graph")
    }
    assert found["breadth-first"] == 1
    assert found["context-graph"] >= 10


def test_redirects_in_a_circle_end() -> None:
    """Pages that are one another's parents by redirects."""
    strategy = load_strategy("context-graph", {})
    one, other = f"{D}/1", f"{D}/2"
    strategy.learn(Outcome(one, Kind.HTML, False, final_url=other, parent=other))
    strategy.learn(Outcome(other, Kind.HTML, False, final_url=one, parent=one))
    strategy.learn(Outcome(f"{D}/it.ttl", Kind.RDF, True, parent=one))


def test_each_page_on_the_way_to_a_target_has_its_layer() -> None:
    """A nearer target moves a page into a nearer layer, and waiting links are judged again."""
    strategy = load_strategy("context-graph", {})
    way = ["", "/years", "/volume", "/it.ttl"]
    for depth, (path, to) in enumerate(pairwise(way)):
        links = [Link(D + to, anchor=to.strip("/.")), Link(f"{D}/news{depth}", anchor="news")]
        new = tuple(strategy.rank(Page(D + path, depth), links))
        parent = D + way[depth - 1] if depth else None
        strategy.learn(Outcome(D + path, Kind.HTML, False, parent=parent, new_links=new))
    strategy.learn(Outcome(f"{D}/news0", Kind.HTML, False, parent=D))
    assert not strategy.rekeyed()
    strategy.learn(Outcome(f"{D}/it.ttl", Kind.RDF, True, parent=f"{D}/volume"))
    assert set(strategy.rekeyed()) == {f"{D}/news1", f"{D}/news2"}
    links = [Link(f"{D}/{name}/x", anchor=name) for name in ("volume", "years", "news")]
    keys = [ranked.key for ranked in strategy.rank(Page(D), links)]
    assert keys == sorted(keys)
    assert dict(strategy.explain(Page(D), links[0]))["expected layer"].endswith("1 targets known")
