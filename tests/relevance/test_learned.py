"""The strategy ``learned``: what it prefers and what it learns."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.links import Link, Page, folders_above
from semcrawl.relevance.contract import Label, Outcome, Relevance
from semcrawl.relevance.focus import Counting
from semcrawl.relevance.learned import Learned, LearnedOptions
from semcrawl.relevance.learned.model import page_index
from semcrawl.web.vocabulary import Kind
from tests.relevance.learning import HOME, fetch, keys, links, run


def test_meets_the_contract():
    assert isinstance(Learned.from_settings({}), Relevance)


def test_prefers_rdf_files_over_pages_and_pages_over_tables():
    key = keys(Learned(), [f"http://a.example/x.{e}" for e in ("ttl", "html", "csv")])
    assert key["http://a.example/x.ttl"] < key["http://a.example/x.html"]
    assert key["http://a.example/x.html"] < key["http://a.example/x.csv"]


def test_never_asks_for_images_styles_and_scripts():
    found = links("http://a.example/a.png", "http://a.example/b.css", "http://a.example/c.js")
    found += links("http://a.example/d", rel="stylesheet")
    ranked = Learned().rank(HOME, found)
    assert [r.group for r in ranked] == [None] * 4
    assert {r.label for r in ranked} == {Label.N}


def test_learns_which_pages_lead_to_rdf():
    strategy = Learned()
    good = [f"http://a.example/item/{i}.html" for i in range(6)]
    bad = [f"http://a.example/news/{i}.html" for i in range(6)]
    fetch(strategy, "http://a.example/", Kind.HTML, links(*good, *bad))
    for i in range(5):
        data = f"http://a.example/item/{i}.ttl"
        fetch(strategy, good[i], Kind.HTML, links(data), parent="http://a.example/")
        fetch(strategy, data, Kind.RDF, parent=good[i])
        fetch(strategy, bad[i], Kind.HTML, parent="http://a.example/")
    new = keys(strategy, ["http://a.example/item/77.html", "http://a.example/news/77.html"])
    assert new["http://a.example/item/77.html"] < new["http://a.example/news/77.html"]


@pytest.mark.parametrize("counting", [Counting.DOCUMENTS, Counting.BOTH])
def test_empty_documents_shut_out_what_leads_to_full_ones_only_if_documents_count(counting):
    strategy, gain = Learned(), counting.worth(0)
    pages = [f"http://a.example/item/{i}.html" for i in range(40)]
    fetch(strategy, "http://a.example/", Kind.HTML, links(*pages))
    for i, page in enumerate(pages):
        data = f"http://a.example/api/{i}.ttl"
        fetch(strategy, page, Kind.HTML, links(data), parent="http://a.example/")
        fetch(strategy, data, Kind.RDF, parent=page, gain=gain)
    new = keys(strategy, ["http://a.example/item/77.html", "http://a.example/downloads"])
    first = min(new, key=new.__getitem__)
    assert first.endswith("downloads") == (counting is Counting.BOTH)


def test_a_list_page_gets_its_due_when_what_it_lists_pays():
    strategy = Learned()
    lists = [f"http://a.example/list?page={i}" for i in range(3)]
    other = [f"http://a.example/blog?page={i}" for i in range(3)]
    fetch(strategy, "http://a.example/", Kind.HTML, links(*lists, *other))
    for n, (page, plain) in enumerate(zip(lists, other, strict=True)):
        items = [f"http://a.example/{n}{i}" for i in range(5)]
        fetch(strategy, page, Kind.HTML, links(*items), parent="http://a.example/")
        posts = links(*(f"http://a.example/post/{n}{i}" for i in range(5)))
        fetch(strategy, plain, Kind.HTML, posts, parent="http://a.example/")
        for item in items:
            fetch(strategy, item, Kind.HTML, links(item + ".ttl"), parent=page)
            fetch(strategy, item + ".ttl", Kind.RDF, parent=item)
        for post in posts:
            fetch(strategy, post.url, Kind.HTML, parent=plain)
    new = keys(strategy, ["http://a.example/list?page=9", "http://a.example/blog?page=9"])
    assert new["http://a.example/list?page=9"] < new["http://a.example/blog?page=9"]


def test_learns_that_what_a_long_list_names_first_pays():
    strategy = Learned()
    listed = [f"http://a.example/{i:03d}" for i in range(300)]
    fetch(strategy, HOME.url, Kind.HTML, links(*listed))
    for url in (*listed[33:60], *listed[200:227]):
        kind = Kind.RDF if url < listed[64] else Kind.HTML
        fetch(strategy, url, kind, parent=HOME.url)
    strategy.rekeyed()
    again = [listed[i] for i in (62, 63, 250, 251)]
    early, early2, late, late2 = (strategy.rank(HOME, links(url))[0].key for url in again)
    assert max(early, early2) < min(late, late2) - 0.03


def test_what_a_word_tells_apart_is_looked_into_however_often_its_extension_disappoints():
    strategy = Learned()
    files = [f"http://a.example/files/{i}.xml" for i in range(40)]
    fetch(strategy, HOME.url, Kind.HTML, links(*files, "http://a.example/foaf/1.xml"))
    for url in files[:30]:
        fetch(strategy, url, None, parent=HOME.url)
    new = links("http://a.example/files/77.xml", "http://a.example/foaf/77.xml")
    assert [r.label for r in strategy.rank(HOME, new)] == [Label.N, Label.R]


def test_waiting_links_get_new_keys_when_their_like_pays():
    strategy = Learned()
    waiting = [f"http://a.example/data/{i}" for i in range(10)]
    before = {r.link.url: r.key for r in fetch(strategy, HOME.url, Kind.HTML, links(*waiting))}
    fetch(strategy, waiting[0], Kind.RDF, parent=HOME.url)
    moved = strategy.rekeyed()
    assert waiting[0] not in moved
    assert all(moved[url] < before[url] for url in waiting[1:])
    assert strategy.rekeyed() == {}


#: no prediction of all links, but of the first ones of their hosts
SELDOM = {"refresh_always": 0, "refresh_every": 10**6, "refresh_all_surprise": 1e9}


@pytest.mark.parametrize("options", [{}, SELDOM, SELDOM | {"head": 64}])
def test_no_link_of_a_long_list_keeps_the_key_of_what_its_like_was_worth(options):
    strategy = Learned(LearnedOptions(**options))
    found = links(*(f"http://a.example/list/{i}" for i in range(600)))
    key = {r.link.url: r.key for r in fetch(strategy, HOME.url, Kind.HTML, found)}
    asked = []
    for _ in range(90):
        url = min(key, key=key.__getitem__)
        asked.append(url)
        del key[url]
        fetch(strategy, url, Kind.HTML, parent=HOME.url)
        key.update(strategy.rekeyed())
    assert min(key.values()) > -0.1
    assert asked == [link.url for link in found[:90]]


def test_links_of_a_list_that_are_worth_the_same_keep_its_order():
    found = links(*(f"http://a.example/list/{i}" for i in range(30)))
    for seed in range(5):
        ranked = Learned(LearnedOptions(seed=seed)).rank(HOME, found)
        assert len({r.key for r in ranked}) == 1


def test_seeds_order_places_that_are_worth_the_same_differently():
    places = [f"http://a.example/{name}/x/1" for name in "abcdefgh"]
    orders = set()
    for seed in range(5):
        key = keys(Learned(LearnedOptions(seed=seed)), places)
        orders.add(tuple(sorted(places, key=key.__getitem__)))
    assert len(orders) > 1


def test_of_pages_that_bring_as_much_the_one_that_brings_it_soon_is_worth_more():
    sure, pages = [1.0], [0.5] * 100
    assert page_index(np.array(sure)) > page_index(np.array(pages))
    near, far = page_index(np.array([0.5] * 2), 5), page_index(np.array([0.34] * 100), 5)
    assert near > far
    assert page_index(np.array(pages), 5) < page_index(np.array(pages))
    assert page_index(np.array([0.9] * 100), 5) == pytest.approx(0.9 * 5 / 6)
    assert page_index(np.array([0.4]), 1) == page_index(np.array([0.4]))


def test_the_best_link_of_all_hosts_goes_first():
    strategy = Learned()
    found = links("http://b.example/x.ttl", "http://a.example/y")
    ranked = fetch(strategy, HOME.url, Kind.HTML, found)
    assert [r.group for r in ranked] == ["b.example", "a.example"]
    assert ranked[0].key < ranked[1].key
    assert strategy.values() == {}


def test_links_in_flight_lower_the_bonus_of_their_like():
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links("http://a.example/x/1", "http://a.example/x/2"))
    before = keys(strategy, ["http://a.example/x/3"])
    strategy.taken(["http://a.example/x/1", "http://a.example/x/2"])
    after = keys(strategy, ["http://a.example/x/3"])
    assert after["http://a.example/x/3"] > before["http://a.example/x/3"]


def test_same_seed_and_answers_give_the_same_order():
    assert run(1) == run(1)
    assert run(1) != run(2)


def test_media_types_as_targets_change_what_comes_first():
    csv, ttl = "http://a.example/x.csv", "http://a.example/x.ttl"
    key = keys(Learned.from_settings({"SEMCRAWL_TARGETS": "text/csv"}), [csv, ttl])
    assert key[csv] < key[ttl]
    image = Learned(LearnedOptions(targets="image/png")).rank(HOME, links("http://a.example/i.png"))
    assert image[0].group is not None


def test_explains_what_speaks_for_a_link():
    strategy = Learned()
    found = links(*(f"http://a.example/data/{i}" for i in range(9)))
    fetch(strategy, HOME.url, Kind.HTML, found)
    fetch(strategy, "http://a.example/data/0", Kind.RDF, parent=HOME.url)
    rows = strategy.explain(HOME, found[1])
    assert {"index", "exploration bonus", "prior", "for"} <= {topic for topic, _ in rows}
    assert any("data" in text for topic, text in rows if topic == "for")


@given(st.lists(st.floats(0, 1), max_size=30))
def test_a_page_is_worth_no_more_than_its_best_link(values):
    index = page_index(np.array(values))
    assert 0 <= index <= max(values, default=0.0) + 1e-9
    assert page_index(np.array([*values, 1.0])) >= index - 1e-9


@pytest.mark.parametrize(
    ("known", "twin", "other"),
    [
        ("a.example/doc", "a.example/doc.html", "a.example/dot.html"),
        ("a.example/doc", "www.a.example/doc", "www.a.example/dot"),
        ("www.a.example/doc", "a.example/doc", "a.example/dot"),
    ],
)
def test_an_address_whose_page_is_known_under_another_comes_late_until_that_one_fails(
    known: str, twin: str, other: str
):
    strategy = Learned()
    known, twin, other = (f"http://{address}" for address in (known, twin, other))
    ranked = fetch(strategy, HOME.url, Kind.HTML, links(known, twin, other))
    before = {r.link.url: r.key for r in ranked}
    assert before[twin] > before[other]
    fetch(strategy, known, None, parent=HOME.url)
    assert strategy.rekeyed()[twin] < before[twin] - 0.03


def test_links_outside_the_seeds_folder_come_after_those_below_it():
    strategy = Learned()
    seed = "http://a.example/people/project/index"
    inside, near, out = (f"http://a.example/{x}/y.html" for x in ("people/project", "people", "x"))
    ranked = fetch(strategy, seed, Kind.HTML, links(out, near, inside))
    key = {r.link.url: r.key for r in ranked}
    assert key[inside] < key[near] < key[out]


def test_a_seeds_folder_may_be_written_with_escapes():
    strategy = Learned()
    inside, out = "http://a.example/J%C3%BCrgen%20K/y.html", "http://a.example/x/y.html"
    ranked = fetch(strategy, "http://a.example/J%C3%BCrgen%20K/", Kind.HTML, links(out, inside))
    assert ranked[1].key < ranked[0].key - 0.05


def key_of_a_link_on(page: str, link: str, *, copy: bool) -> float:
    """Key of a link after its page was fetched, a copy of ``/c/`` or not."""
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links("http://a.example/c/"))
    fetch(strategy, "http://a.example/c/", Kind.HTML, links(page), parent=HOME.url)
    found = strategy.rank(Page(page), links(link))
    strategy.learn(
        Outcome(page, Kind.HTML, False, page, HOME.url, duplicate=copy, new_links=tuple(found))
    )
    return strategy.rekeyed().get(link, found[0].key)


def test_links_of_a_page_had_under_another_address_are_doubted():
    place = "http://a.example/c", "http://a.example/x"
    assert key_of_a_link_on(*place, copy=True) > key_of_a_link_on(*place, copy=False) + 0.02


def test_links_of_a_copy_in_another_folder_are_links_like_any_other():
    """The manual of another version, say: its relative links lead to that version's data."""
    place = "http://a.example/v2/c.html", "http://a.example/v2/x"
    assert key_of_a_link_on(*place, copy=True) == key_of_a_link_on(*place, copy=False)


def test_a_section_that_ran_dry_comes_after_one_that_nothing_is_known_of():
    strategy = Learned()
    trap = [f"http://a.example/calendar/{i}" for i in range(300)]
    fetch(strategy, HOME.url, Kind.HTML, links(*trap, "http://a.example/other/1"))
    for url in trap[:250]:
        fetch(strategy, url, Kind.HTML, parent=HOME.url)
    strategy.rekeyed()
    told = {r.link.url: r.key for r in strategy.rank(HOME, links("http://a.example/new/2"))}
    moved = strategy._memory.scores(np.array([strategy._memory.table.ids[trap[-1]]]))
    assert -told["http://a.example/new/2"] > moved[0]


def test_a_section_that_grows_with_every_fruitless_fetch_runs_dry_twice_as_fast():
    strategy = Learned(LearnedOptions(use_exploration=False))
    pages = [f"http://a.example/{place}/{i}" for place in ("list", "maze") for i in range(32)]
    fetch(strategy, HOME.url, Kind.HTML, links(*pages))
    for url in pages:
        found = (f"{url}/{way}" for way in ("left", "right") if "maze" in url)
        fetch(strategy, url, Kind.HTML, links(*found), parent=HOME.url)
    sections = strategy._memory.sections
    places = np.array([sections.numbers[f"a.example/{place}"] for place in ("list", "maze")])
    assert sections.dryness(places) == pytest.approx(np.log2([1 + 1, 1 + 2]))


def worth_of_another_list(fruitless, size=10, *, tried=False, bonus=0.1):
    """The worth of a list's link after the start page and so many useless ones."""
    strategy = Learned(LearnedOptions(explore_lists=bonus))
    dull = links(*(f"http://a.example/dull/{n}.html" for n in range(100)))
    other = links(*(f"http://a.example/other/{n}/" for n in range(size)), tag_path="tr/td.2/a")
    fetch(strategy, HOME.url, Kind.HTML, dull + other)
    if tried:
        fetch(strategy, other[0].url, Kind.HTML, parent=HOME.url)
    for link in dull[:fruitless]:
        fetch(strategy, link.url, Kind.HTML, parent=HOME.url)
    resumed = Learned(strategy.options)
    resumed.load_state(strategy.dump_state())
    # (which knows of lists and fruitless fetches what the first one does, and predicts all again)
    memory = resumed._memory
    assert memory.clusters.untried_lists == strategy._memory.clusters.untried_lists
    return memory.scores(np.array([memory.table.ids[other[-1].url]])).item()


@pytest.mark.parametrize(("fruitless", "bonus"), [(15, 0.0), (23, 0.05), (31, 0.1), (60, 0.1)])
def test_a_list_that_was_never_tried_is_tried_when_nothing_else_brings_anything(fruitless, bonus):
    more = worth_of_another_list(fruitless) - worth_of_another_list(fruitless, bonus=0.0)
    assert more == pytest.approx(bonus, abs=0.001)


@pytest.mark.parametrize("known", [{"size": 7}, {"tried": True}])
def test_some_links_or_a_list_that_was_tried_are_no_list_that_was_never_tried(known):
    more = worth_of_another_list(60, **known) - worth_of_another_list(60, **known, bonus=0.0)
    assert more == 0


def test_another_scheme_of_a_known_address_waits_until_that_one_has_failed():
    strategy = Learned()
    page, again = "http://a.example/data/x.ttl", "https://a.example/data/x.ttl"
    ranked = fetch(strategy, HOME.url, Kind.HTML, links(page, again, "http://a.example/p.html"))
    before = {r.link.url: r.key for r in ranked}
    assert before[again] > before["http://a.example/p.html"] > before[page]
    fetch(strategy, page, None, parent=HOME.url)
    assert strategy.rekeyed()[again] < before[again] - 0.5


def test_a_list_whose_links_all_fail_falls_behind_although_they_look_like_targets():
    strategy = Learned()
    gone = [f"http://a.example/old/{name}/v.ttl" for name in "abcdefghijkl"]
    fetch(strategy, HOME.url, Kind.HTML, links(*gone))
    page = keys(strategy, ["http://a.example/about/"])["http://a.example/about/"]
    waiting = {}
    for url in gone[:10]:
        fetch(strategy, url, None, parent=HOME.url)
        waiting |= strategy.rekeyed()
    assert waiting[gone[-1]] > page
    # and a saved crawl goes on with what it knows
    second = Learned()
    second.load_state(strategy.dump_state())
    new = ["http://a.example/old/z/v.ttl"]
    assert keys(second, new) == pytest.approx(keys(strategy, new))


def test_folders_above_pages_are_asked_after_named_links_like_them_and_sooner_once_one_paid():
    strategy = Learned()
    page = "http://a.example/2002/07/note.html"
    guesses = folders_above(page)
    assert [guess.url for guess in guesses] == [
        "http://a.example/2002/07/", "http://a.example/2002/", "http://a.example/"
    ]  # fmt: skip
    fetch(strategy, HOME.url, Kind.HTML, links(page))
    named = links("http://a.example/2003/", "http://a.example/2004/")
    guess = next(g for g in guesses if g.url.endswith("/2002/"))
    ranked = fetch(strategy, page, Kind.HTML, [*named, guess], parent=HOME.url)
    before = {r.link.url: r.key for r in ranked}
    assert before[guess.url] > before["http://a.example/2003/"]
    data = links(*(f"http://a.example/2002/{name}.rdf" for name in "abc"))
    fetch(strategy, guess.url, Kind.HTML, data, parent=page)
    for link in data:
        fetch(strategy, link.url, Kind.RDF, parent=guess.url)
    other = [Link("http://a.example/1999/", element="folder", tag_path="folder")]
    assert strategy.rank(Page(page), other)[0].key < before[guess.url]


def test_a_heading_tells_which_bare_addresses_pay():
    strategy = Learned(LearnedOptions(jitter=0.0))
    sections = {"maps": [], "books": []}
    for section, found in sections.items():
        found += [Link(f"http://a.example/{section[0]}{n}", heading=section) for n in range(9)]
    fetch(strategy, HOME.url, Kind.HTML, [*sections["books"], *sections["maps"]])
    for n in range(4):
        fetch(strategy, sections["maps"][n].url, Kind.RDF)
        fetch(strategy, sections["books"][n].url, Kind.HTML)
    rank = {r.link.heading: r.key for r in strategy.rank(HOME, [
        Link("http://a.example/x", heading="maps"), Link("http://a.example/y", heading="books"),
    ])}  # fmt: skip
    assert rank["maps"] < rank["books"]


def test_a_folder_without_a_fetch_comes_before_another_page_of_one_that_gave_nothing():
    """However deep the folders are."""
    strategy = Learned(LearnedOptions(jitter=0.0))
    deep = "http://a.example/docs/en"
    fetch(strategy, HOME.url, Kind.HTML, links(f"{deep}/old/1", f"{deep}/old/2", f"{deep}/new/1"))
    fetch(strategy, f"{deep}/old/1", Kind.HTML)
    told = keys(strategy, [f"{deep}/old/3", f"{deep}/new/3"])
    assert told[f"{deep}/new/3"] < told[f"{deep}/old/3"]


@pytest.mark.parametrize(("fruitless", "bonus"), [(63, 0.0), (95, 0.5), (127, 1.0), (200, 1.0)])
def test_links_near_a_seed_are_tried_when_long_nothing_was_found(fruitless, bonus):
    """In full on the seed's page, by half behind its links; a state keeps what it goes by."""

    def worth(explore_near: float) -> list[float]:
        strategy = Learned(LearnedOptions(explore_near=explore_near, explore_lists=0))
        front = links(*(f"http://a.example/s/{n}.html" for n in range(fruitless + 1)))
        fetch(strategy, HOME.url, Kind.HTML, front)
        below = links("http://a.example/s/below.html")
        for n, link in enumerate(front[:fruitless]):
            fetch(strategy, link.url, Kind.HTML, below if not n else (), parent=HOME.url)
        resumed = Learned(strategy.options)
        resumed.load_state(strategy.dump_state())
        memory = resumed._memory
        urls = (front[-1].url, below[0].url)
        memory.table["index"][:] = 0.2  # so that all are worth a try
        return memory.scores(np.array([memory.table.ids[url] for url in urls])).tolist()

    more = np.subtract(worth(0.1), worth(0.0)).tolist()
    assert more == pytest.approx([0.1 * bonus, 0.05 * bonus], abs=0.001)
