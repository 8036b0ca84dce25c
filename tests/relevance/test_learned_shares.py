"""The strategy ``learned`` in a crawl for RDF about a topic."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semcrawl.links import Page
from semcrawl.relevance.contract import Outcome
from semcrawl.relevance.learned import Learned
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.pagelevels import (
    FAR,
    HOLDS,
    NAMES,
    UNKNOWN,
    PageLevels,
    level_of,
)
from semcrawl.topics import about
from semcrawl.web.vocabulary import Kind
from tests.relevance.learning import HOME, keys, links

TOPIC = "vocabulary:schema:"


@pytest.fixture
def strategy() -> Learned:
    """One for RDF that uses schema.org; it has heard of a page with two lists of RDF."""
    strategy = Learned(topic=about(TOPIC, {}))
    found = links(*(f"http://a.example/{where}/{n}.ttl" for n in range(20) for where in "ab"))
    ranked = strategy.rank(HOME, found)
    strategy.learn(Outcome(HOME.url, Kind.HTML, False, HOME.url, None, new_links=tuple(ranked)))
    return strategy


def judged(strategy: Learned, url: str, relevance: float) -> None:
    """Tell of an RDF document that the topic judged."""
    strategy.learn(
        Outcome(url, Kind.RDF, relevance >= 0.5, url, HOME.url, relevance=relevance, gain=relevance)
    )


def test_what_lies_beside_documents_about_the_topic_comes_first(strategy):
    for n in range(4):
        judged(strategy, f"http://a.example/a/{n}.ttl", 0.0)
        judged(strategy, f"http://a.example/b/{n}.ttl", 1.0)
    dict(strategy.rekeyed())
    found = keys(strategy, ["http://a.example/a/90.ttl", "http://a.example/b/90.ttl"])
    assert found["http://a.example/b/90.ttl"] < found["http://a.example/a/90.ttl"] - 0.2


def test_rdf_off_the_topic_shows_where_rdf_is(strategy):
    """A link to RDF stays before one to a page, though nothing was about the topic."""
    for n in range(8):
        judged(strategy, f"http://a.example/a/{n}.ttl", 0.0)
    found = keys(strategy, ["http://a.example/a/90.ttl", "http://a.example/a/page.html"])
    assert found["http://a.example/a/90.ttl"] < found["http://a.example/a/page.html"]


def test_a_crawl_that_goes_on_knows_what_is_about_the_topic(strategy):
    for n in range(4):
        judged(strategy, f"http://a.example/b/{n}.ttl", 1.0)
    other = Learned(topic=about(TOPIC, {}))
    other.load_state(strategy.dump_state())
    assert (other._memory.shares.judged, other._memory.shares.gained) == (4, 4)
    urls = ["http://a.example/a/90.ttl", "http://a.example/b/90.ttl"]
    assert keys(other, urls) == pytest.approx(keys(strategy, urls))


def test_explains_how_much_is_about_the_topic(strategy):
    rows = dict(strategy.explain(Page(HOME.url), links("http://a.example/b/1.ttl")[0]))
    assert rows["about the topic"] == "50% of what it leads to; at best 62%"
    plain = dict(Learned().explain(Page(HOME.url), links("http://a.example/b/1.ttl")[0]))
    assert "about the topic" not in plain


def test_where_all_was_off_the_topic_the_unknown_comes_first(strategy):
    """Not where nothing is to be explored; what is expected does not count on it."""
    plain = Learned(LearnedOptions(use_exploration=False), topic=about(TOPIC, {}))
    plain.load_state(strategy.dump_state())
    urls = ["http://a.example/a/90.ttl", "http://a.example/elsewhere/page.ttl"]
    gaps = []
    for each in (strategy, plain):
        for n in range(8):
            judged(each, f"http://a.example/a/{n}.ttl", 0.0)
        dict(each.rekeyed())
        found = keys(each, urls)
        gaps.append(found[urls[0]] - found[urls[1]])
    assert gaps[0] > gaps[1] + 0.05
    table = strategy._memory.table
    waiting = table.waiting()
    assert (table["hope"][waiting] > table["share"][waiting]).all()
    indexes = table["index"][waiting] * table["share"][waiting]
    assert strategy.expected_next(len(waiting)) == pytest.approx(float(indexes.sum()), rel=1e-5)


def test_what_is_new_is_not_hoped_for():
    """It hangs on what was read before, not on where a document is; most is taken to be new."""
    (link,) = links("http://a.example/a.ttl")
    rows = dict(Learned(topic=about("new", {})).explain(HOME, link))
    assert rows["about the topic"].startswith("73%")
    options = Learned(topic=about("new", {})).options
    assert (options.explore_topic, options.links_weight, options.usual_share) == (0, 0, 0)
    assert options.page_levels == 0
    assert Learned(topic=about(f"all({TOPIC}, new)", {})).options.explore_topic == 0
    assert Learned(topic=about(TOPIC, {})).options == LearnedOptions()
    chosen = {"SEMCRAWL_ABOUT": "new", "SEMCRAWL_LEARNED_OPTIONS": '{"new_share": 0}'}
    rows = dict(Learned.from_settings(chosen).explain(HOME, link))
    assert rows["about the topic"].startswith("50%")


def test_a_copy_says_nothing_of_the_topic(strategy):
    urls = ["http://a.example/a/90.ttl"]
    before = keys(strategy, urls)
    copy = Outcome(
        "http://a.example/a/1.ttl", Kind.RDF, True, "http://a.example/a/1.ttl", HOME.url,
        duplicate=True, relevance=1.0, gain=1.0,
    )  # fmt: skip
    shares = strategy._memory.shares.model.weights.copy()
    strategy.learn(copy)
    assert (strategy._memory.shares.model.weights == shares).all()
    assert before.keys() == keys(strategy, urls).keys()


def test_what_a_page_near_the_topic_links_comes_first(strategy):
    """Links on it, and those that look like links to it."""
    url = "http://a.example/c/1.ttl"
    pages = (Page(HOME.url, relevance=relevance) for relevance in (0.4, 0.0))
    near, far = (strategy.rank(page, links(url))[0].key for page in pages)
    assert near < far - 0.1
    page = Outcome("http://a.example/d/1.html", Kind.HTML, False, "", HOME.url)
    strategy.learn(replace(page, relevance=0.0))
    assert share_of(strategy, "http://a.example/d/2.html") == 50
    strategy.learn(replace(page, url="http://a.example/d/3.html", relevance=0.4))
    assert 55 <= share_of(strategy, "http://a.example/d/2.html") <= 90


def test_a_page_teaches_what_its_links_are_believed_to_be(strategy):
    """So that its like are not asked for one after the other for documents that nobody wants."""
    plain = Learned(LearnedOptions(links_weight=0), topic=about(TOPIC, {}))
    plain.load_state(strategy.dump_state())
    shares = []
    for each in (strategy, plain):
        for n in range(4):
            judged(each, f"http://a.example/a/{n}.ttl", 0.0)
        for n in range(12):
            page = Page(f"http://a.example/photos/{n}", depth=1, relevance=0.0)
            (found,) = each.rank(page, links(f"http://a.example/a/9{n}.ttl"))
            told = Outcome(page.url, Kind.HTML, False, page.url, HOME.url, new_links=(found,))
            each.learn(replace(told, relevance=0.0))
        shares.append(share_of(each, "http://a.example/photos/90"))
    assert shares[0] < 0.8 * shares[1]


def test_where_nearly_all_is_off_the_topic_one_more_teaches_little(strategy):
    plain = Learned(LearnedOptions(usual_share=0), topic=about(TOPIC, {}))
    plain.load_state(strategy.dump_state())
    for each in (strategy, plain):
        for n in range(20):
            judged(each, f"http://a.example/a/{n}.ttl", 0.0)
    beside = "http://a.example/b/90.ttl"
    assert share_of(strategy, beside) > 1.5 * share_of(plain, beside)


def taught_by_pages(strategy: Learned, *, naming_fit: bool) -> None:
    """Tell of pages that name the topic and of others, each with a document."""
    for n in range(6):
        for where, relevance in (("defined", 0.4), ("plain", 0.0)):
            page = Page(f"http://a.example/{where}/{n}", depth=1, relevance=relevance)
            (found,) = strategy.rank(page, links(f"http://a.example/data/{where}-{n}.ttl"))
            told = Outcome(page.url, Kind.HTML, False, page.url, HOME.url, new_links=(found,))
            strategy.learn(replace(told, relevance=relevance))
            gain = float((where == "defined") == naming_fit)
            url = found.link.url
            told = Outcome(url, Kind.RDF, gain > 0, url, page.url, relevance=gain, gain=gain)
            strategy.learn(told)


@pytest.mark.parametrize("naming_fit", [False, True])
def test_whether_pages_that_name_the_topic_lead_to_it_is_learned(strategy, naming_fit):
    """A page that defines terms names them too, though its data does not use them."""
    plain = Learned(LearnedOptions(page_levels=0), topic=about(TOPIC, {}))
    plain.load_state(strategy.dump_state())
    gaps = []
    for each in (strategy, plain):
        taught_by_pages(each, naming_fit=naming_fit)
        pages = (Page("http://a.example/elsewhere/", relevance=one) for one in (0.4, 0.0))
        url = "http://a.example/elsewhere/new.ttl"
        naming, other = (each.rank(page, links(url))[0].key for page in pages)
        gaps.append(naming - other)
        assert (naming < other) == naming_fit or each is plain
    assert gaps[0] < gaps[1] - 0.05 if naming_fit else gaps[0] > gaps[1] + 0.2
    other = Learned(topic=about(TOPIC, {}))
    other.load_state(strategy.dump_state())
    assert (other._memory.shares.levels.counts == strategy._memory.shares.levels.counts).all()


def test_pages_that_name_the_topic_are_trusted_as_far_as_their_documents_fit(strategy):
    levels = strategy._memory.shares.levels
    assert levels.reliability(NAMES) == 1
    taught_by_pages(strategy, naming_fit=False)
    assert levels.reliability(NAMES) == pytest.approx(1 / 7)
    assert levels.corrections()[UNKNOWN] == 0


def test_levels_with_the_same_share_need_no_correction():
    levels = PageLevels(3.0)
    for level in (FAR, NAMES):
        for gain in (1.0, 0.0, 0.0, 0.0):
            levels.add(level, gain)
    assert levels.corrections() == pytest.approx([0, 0, 0, 0], abs=1e-6)
    assert [level_of(each) for each in (None, 0.0, 0.3, 0.4, 1.0)] == [
        *(UNKNOWN, FAR, FAR, NAMES, HOLDS)
    ]


def share_of(strategy: Learned, url: str) -> int:
    """Return the share about the topic that is expected behind a link, in percent."""
    rows = dict(strategy.explain(HOME, links(url)[0]))
    return int(rows["about the topic"].partition("%")[0])


def test_folders_named_after_the_topic_come_first(strategy):
    named, other = "http://a.example/docs/Schema/x.ttl", "http://a.example/docs/Other/x.ttl"
    found = keys(strategy, [named, other])
    assert found[named] < found[other] - 0.1
