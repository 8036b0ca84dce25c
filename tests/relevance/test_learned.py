"""The strategy ``learned``: what it prefers, what it learns, what it survives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Relevance
from semcrawl.relevance.learned import Learned, LearnedOptions, Patience
from semcrawl.relevance.learned.model import page_index
from semcrawl.vocabulary import Kind

HOME = Page("http://a.example/")


def links(*urls: str, **texts: str) -> list[Link]:
    return [Link(url, position=i, **texts) for i, url in enumerate(urls)]


def fetch(strategy, url, kind, found=(), parent=None):
    """Tell the strategy that ``url`` was fetched, and held the links ``found``."""
    ranked = strategy.rank(Page(url), found)
    outcome = Outcome(
        url, kind, kind is Kind.RDF, url, parent,
        new_links=tuple(r for r in ranked if r.group is not None),
    )  # fmt: skip
    strategy.learn(outcome)
    return ranked


def keys(strategy, urls, parent="http://a.example/"):
    return {r.link.url: r.key for r in strategy.rank(Page(parent), links(*urls))}


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


def test_no_link_of_a_long_list_keeps_the_key_of_what_its_like_was_worth():
    strategy = Learned()
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


def run(seed):
    strategy = Learned(LearnedOptions(seed=seed))
    heard = []
    for n in range(30):
        found = links(*(f"http://a.example/{n}/{i}/{'x' * i}.html" for i in range(6)))
        fetch(strategy, f"http://a.example/{n}", Kind.HTML, found)
        heard.append(dict(strategy.rekeyed()))
    return heard


def test_same_seed_and_answers_give_the_same_order():
    assert run(1) == run(1)
    assert run(1) != run(2)


def test_hearing_an_outcome_twice_changes_nothing():
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links("http://a.example/x"))
    before = strategy.dump_state()
    fetch(strategy, HOME.url, Kind.HTML, links("http://a.example/x"))
    assert strategy.dump_state() == before


def test_state_goes_on_where_it_was():
    first = Learned()
    fetch(first, HOME.url, Kind.HTML, links(*(f"http://a.example/d/{i}" for i in range(9))))
    fetch(first, "http://a.example/d/0", Kind.RDF, parent=HOME.url)
    second = Learned()
    second.load_state(first.dump_state())
    probe = ["http://a.example/d/77", "http://a.example/q"]
    assert keys(first, probe) == pytest.approx(keys(second, probe))
    fetch(first, "http://a.example/d/1", Kind.RDF, parent=HOME.url)
    fetch(second, "http://a.example/d/1", Kind.RDF, parent=HOME.url)
    assert keys(first, probe) == pytest.approx(keys(second, probe), abs=1e-5)


@pytest.mark.parametrize("damage", [
    lambda s: b"", lambda s: s[:-10], lambda s: s[:25], lambda s: b"other" + s,
    lambda s: s[:60] + bytes([s[60] ^ 1]) + s[61:], lambda s: s.replace(b"-1\n", b"-0\n", 1),
])  # fmt: skip
def test_a_damaged_or_foreign_state_is_refused(damage):
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links("http://a.example/x"))
    with pytest.raises(UsageError):
        Learned().load_state(damage(strategy.dump_state()))


def test_a_state_of_another_table_size_is_refused():
    state = Learned(LearnedOptions(table_bits=10)).dump_state()
    with pytest.raises(UsageError, match="2\\^10"):
        Learned().load_state(state)


@pytest.mark.parametrize("settings", [
    {"SEMCRAWL_TARGETS": "nonsense"}, {"SEMCRAWL_RANDOM_SEED": "x"},
    {"SEMCRAWL_LEARNED_OPTIONS": {"table_bits": 99}}, {"SEMCRAWL_LEARNED_OPTIONS": {"no": 1}},
    {"SEMCRAWL_LEARNED_OPTIONS": 3}, {"SEMCRAWL_LEARNED_OPTIONS": {"families": "anchors"}},
])  # fmt: skip
def test_wrong_settings_are_refused(settings):
    with pytest.raises(UsageError):
        Learned.from_settings(settings)


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


ODD = st.one_of(
    st.text(max_size=60), st.sampled_from(["http://[", "http://a.example:99999999/", "//"])
)


@given(st.lists(st.builds(Link, ODD, ODD, ODD, ODD, ODD, ODD, ODD, ODD, ODD), max_size=8))
def test_any_link_gets_a_judgement(found):
    strategy = Learned(LearnedOptions(table_bits=10))
    assert [r.link for r in fetch(strategy, HOME.url, Kind.HTML, found)] == found
    strategy.rekeyed()


def test_megabyte_long_urls_and_texts_are_survived():
    long = "x1/" * 400_000
    found = [Link("http://a.example/" + long, anchor=long, title=long, before=long, after=long,
                  tag_path=long, type=long, rel=long)]  # fmt: skip
    fetch(Learned(), HOME.url, Kind.HTML, found)


def test_links_beyond_the_bound_are_forgotten_worst_first():
    strategy = Learned(LearnedOptions(max_links=1000))
    for n in range(4):
        found = links(
            *(f"http://a.example/{n}/{i}.{'csv' if i % 2 else 'ttl'}" for i in range(600))
        )
        fetch(strategy, f"http://a.example/{n}", Kind.HTML, found)
    strategy.rekeyed()
    table = strategy._memory.table
    assert table.size <= 1000
    assert sum(url.endswith(".ttl") for url in table.urls) > 0.9 * table.size


def test_an_address_whose_page_is_known_under_another_comes_late_until_that_one_fails():
    strategy = Learned()
    known, twin, other = (f"http://a.example/{x}" for x in ("doc", "doc.html", "dot.html"))
    fetch(strategy, HOME.url, Kind.HTML, links(known, twin, other))
    before = strategy.rekeyed()
    assert before[twin] > keys(strategy, [other])[other]
    fetch(strategy, known, None, parent=HOME.url)
    assert strategy.rekeyed()[twin] < before[twin] - 0.03


def test_links_outside_the_seeds_folder_come_after_those_below_it():
    strategy = Learned()
    seed = "http://a.example/people/project/index"
    inside, near, out = (f"http://a.example/{x}/y.html" for x in ("people/project", "people", "x"))
    ranked = fetch(strategy, seed, Kind.HTML, links(out, near, inside))
    key = {r.link.url: r.key for r in ranked}
    assert key[inside] < key[near] < key[out]


def test_little_is_in_flight_until_something_is_known_but_sure_targets_do_not_wait():
    strategy = Learned()
    pages = [f"http://a.example/{i}" for i in range(60)]
    fetch(strategy, HOME.url, Kind.HTML, links(*pages, "http://a.example/x.ttl"))
    assert strategy.room(0) == 2
    strategy.taken(["http://a.example/x.ttl", pages[0]])
    assert strategy.room(2) == 0
    eager = Learned(LearnedOptions(ramp=10))
    fetch(eager, HOME.url, Kind.HTML, links(*pages))
    for page in pages[:30]:
        fetch(eager, page, Kind.HTML, parent=HOME.url)
    assert eager.room(0) == 4
    assert Learned(LearnedOptions(ramp=0)).room(8) > 1000


def test_what_never_came_back_does_not_stop_the_crawl():
    strategy = Learned()
    pages = [f"http://a.example/{i}" for i in range(10)]
    fetch(strategy, HOME.url, Kind.HTML, links(*pages))
    strategy.taken(pages[:9])
    assert strategy.room(0) >= 1


def test_another_crawls_model_gives_weights_but_no_links():
    first = Learned()
    fetch(first, HOME.url, Kind.HTML, links(*(f"http://a.example/d/{i}" for i in range(9))))
    for i in range(5):
        fetch(first, f"http://a.example/d/{i}", Kind.RDF, parent=HOME.url)
    second = Learned()
    second.load_model(first.dump_state())
    assert second.expected_remaining() == 0
    probe = "http://b.example/d/1"
    assert keys(second, [probe])[probe] < keys(Learned(), [probe])[probe]


def test_more_targets_are_expected_where_more_wait():
    few, many = Learned(), Learned()
    fetch(few, HOME.url, Kind.HTML, links("http://a.example/1.ttl"))
    fetch(many, HOME.url, Kind.HTML, links(*(f"http://a.example/{i}.ttl" for i in range(20))))
    assert few.expected_remaining() < many.expected_remaining() <= 20
    assert many.expected_next(5) <= 5


def test_links_of_a_copy_of_a_page_are_doubted():
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links("http://a.example/b", "http://a.example/c"))
    found = strategy.rank(Page("http://a.example/b"), links("http://a.example/b/x"))
    before = found[0].key
    outcome = Outcome("http://a.example/b", Kind.HTML, False, "http://a.example/b", HOME.url,
                      duplicate=True, new_links=tuple(found))  # fmt: skip
    strategy.learn(outcome)
    assert strategy.rekeyed()["http://a.example/b/x"] > before


def test_starts_from_a_model_file(tmp_path):
    first, file = Learned(), tmp_path / "model"
    fetch(first, HOME.url, Kind.HTML, links("http://a.example/d/1", "http://a.example/d/2"))
    fetch(first, "http://a.example/d/1", Kind.RDF, parent=HOME.url)
    file.write_bytes(first.dump_state())
    warm = Learned.from_settings({"SEMCRAWL_MODEL": str(file)})
    probe = "http://a.example/d/3"
    assert keys(warm, [probe])[probe] < keys(Learned(), [probe])[probe]
    with pytest.raises(UsageError, match="nowhere"):
        Learned.from_settings({"SEMCRAWL_MODEL": str(tmp_path / "nowhere")})


def test_patience_ends_when_nothing_came_and_nothing_is_expected():
    patience = Patience(3)
    for target in (False, False, True, False, False):
        patience.note(target=target)
    assert not patience.is_over(0.0)
    patience.note(target=False)
    assert patience.is_over(0.5)
    assert patience.is_over()
    assert not patience.is_over(1.5)
    with pytest.raises(UsageError):
        Patience(0)


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


def test_hosts_that_collide_in_the_table_keep_their_own_groups():
    strategy = Learned(LearnedOptions(table_bits=8))
    urls = [f"http://h{i}.example/x{i}.html" for i in range(2000)]
    ranked = fetch(strategy, HOME.url, Kind.HTML, links(*urls))
    assert len({r.group for r in ranked}) == 2000


@pytest.mark.slow
def test_a_page_with_a_hundred_thousand_links_is_ranked_and_learned():
    strategy = Learned()
    urls = [f"http://a.example/{i % 97}/{i}.html" for i in range(100_000)]
    assert len(fetch(strategy, HOME.url, Kind.HTML, links(*urls))) == 100_000
    fetch(strategy, urls[0], Kind.RDF, parent=HOME.url)
    assert strategy.rekeyed()


def test_a_fetch_of_something_useless_is_learned_from_like_any_other():
    strategy = Learned()
    for url in ("http://a.example/x.png", "http://a.example/y.css"):
        strategy.learn(Outcome(url, None, False, url))
    assert strategy.rank(HOME, [Link("http://a.example/z.png", element="seed")])[0].group
