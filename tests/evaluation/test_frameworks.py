"""The two frameworks of the thesis, crawled in worlds whose RDF links on."""

from __future__ import annotations

from itertools import pairwise

import pytest

from semcrawl.lab.frameworks import FRAMEWORKS, Framework, FrameworkCrawl, framework_figures
from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.simulator import simulate
from semcrawl.lab.study import THESIS_SETTINGS
from semcrawl.lab.thesis import build
from semcrawl.lab.worlds import SiteBuilder
from semcrawl.relevance import load_strategy


def site(chain: int = 3):
    """Ten pages of which one leads to RDF; from it a chain of RDF leads to another page."""
    made = SiteBuilder("small.example")
    home = made.page("/")
    pages = [made.page(f"/p/{n}") for n in range(10)]
    for page in pages:
        made.link(home, page)
    documents = [made.rdf(f"/d/{n}.rdf") for n in range(chain)]
    made.alternate(pages[0], documents[0])
    for one, two in pairwise(documents):
        made.see_also(one, two)
    return made.build("small")


def curve_of(framework, world=None, turns=20):
    graph = LinkGraph(world or site(), follow_rdf=framework.follow_rdf)
    crawl = FrameworkCrawl(graph, framework)
    after = crawl.run(turns)
    return crawl.curve, after


def test_the_html_crawler_does_not_follow_links_in_rdf():
    curve, _ = curve_of(Framework("html", follow_rdf=False))
    assert (curve[-1], len(curve)) == (1, 12)


def test_one_queue_takes_rdf_first():
    curve, _ = curve_of(Framework("one"))
    assert curve[:5] == [0, 0, 1, 2, 3]
    assert len(curve) == 14


def test_two_queues_take_turns():
    """A turn of an empty queue goes to the other one."""
    curve, after = curve_of(Framework("two", rdf_queue="R"))
    assert curve == after[: len(curve)]
    assert curve[:8] == [0, 0, 0, 1, 1, 2, 2, 3]


def test_two_spiders_find_more_in_the_same_time_and_no_more_per_request():
    one = Framework("one pace", rdf_queue="inside")
    own = Framework("own pace", rdf_queue="inside", own_pace=True)
    (slow, _), (fast, after) = curve_of(one, site(6)), curve_of(own, site(6))
    assert after.index(6) < slow.index(6)
    assert fast.index(6) >= slow.index(6) - 1


def test_what_many_documents_cite_comes_first_where_it_is_asked_for():
    made = SiteBuilder("cited.example")
    home = made.page("/")
    first = made.rdf("/first.rdf")
    made.alternate(home, first)
    often, others = made.rdf("/often.rdf"), [made.rdf(f"/{n}.rdf") for n in range(5)]
    for other in (*others, often):
        made.see_also(first, other)
    for other in others:
        made.see_also(other, often)
    world = made.build("cited")
    graph = LinkGraph(world, follow_rdf=True)
    places = []
    for cited in (False, True):
        crawl = FrameworkCrawl(graph, Framework("x", rdf_queue="R", cited_first=cited))
        orders = []
        fetch = crawl._fetch
        crawl._fetch = lambda url, fetch=fetch, orders=orders: (orders.append(url), fetch(url))
        crawl.run(9)
        places.append(orders.index("http://cited.example/often.rdf"))
    assert places == [7, 3]


@pytest.mark.slow
def test_the_html_crawler_alone_is_the_strategy_rules_parents():
    """Two programs, one by T.5 and T.6 and one by the simulator, request the same."""
    for name in ("openlylocal", "deri"):
        graph = LinkGraph(build(name), max_links=500)
        strategy = load_strategy("rules-parents", THESIS_SETTINGS)
        run = simulate(graph, strategy, 800, ambiguous_types=[])
        crawl = FrameworkCrawl(graph, FRAMEWORKS[0])
        crawl.run(800)
        assert crawl.curve == run.curve


@pytest.mark.slow
def test_links_in_rdf_pay():
    figures = framework_figures([build("rossettiarchive", linked=True)])
    alone, one_queue = (figures[framework.title] for framework in FRAMEWORKS[:2])
    assert one_queue[1] > 1.2 * alone[1]
