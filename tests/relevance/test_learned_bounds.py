"""The strategy ``learned``: what it keeps, what it expects, what it survives."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.errors import UsageError
from semcrawl.links import Link
from semcrawl.relevance.contract import Outcome
from semcrawl.relevance.learned import Learned, LearnedOptions, Patience
from semcrawl.web.vocabulary import Kind
from tests.relevance.learning import HOME, fetch, keys, links


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


def test_texts_that_are_no_unicode_do_not_keep_a_crawl_from_being_saved():
    first, second = Learned(), Learned()
    odd = "http://a.example/\ud800/"
    fetch(first, HOME.url, Kind.HTML, links(f"{odd}1", tag_path="a/\udfff"))
    second.load_state(first.dump_state())
    assert keys(second, [f"{odd}2"]) == pytest.approx(keys(first, [f"{odd}2"]))


def test_a_section_that_ran_dry_is_dry_after_a_restart():
    first, second = Learned(), Learned()
    trap = [f"http://a.example/calendar/{i}" for i in range(300)]
    fetch(first, HOME.url, Kind.HTML, links(*trap))
    for url in trap[:250]:
        fetch(first, url, Kind.HTML, parent=HOME.url)
    second.load_state(first.dump_state())
    probe = ["http://a.example/calendar/new", "http://a.example/other"]
    assert keys(second, probe) == pytest.approx(keys(first, probe))


def test_a_state_that_leaves_links_out_keeps_those_in_flight_and_which_hosts_answer():
    options = LearnedOptions(saved_links=2)
    first, second = Learned(options), Learned(options)
    found = links(*(f"http://{host}.example/{i}" for host in ("good", "gone") for i in range(9)))
    fetch(first, HOME.url, Kind.HTML, found)
    fetch(first, "http://good.example/0", Kind.RDF, parent=HOME.url)
    fetch(first, "http://gone.example/0", None, parent=HOME.url)
    first.taken(["http://gone.example/8"])
    second.load_state(first.dump_state())
    probe = ["http://good.example/x", "http://gone.example/x"]
    assert keys(second, probe) == pytest.approx(keys(first, probe))
    assert second.room(0) == first.room(0)
    assert "http://gone.example/8" in second._memory.table.ids


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
    {"SEMCRAWL_LEARNED_OPTIONS": '{"max_links": Infinity}'},
    {"SEMCRAWL_LEARNED_OPTIONS": '{"learning_rate": NaN}'},
    {"SEMCRAWL_LEARNED_OPTIONS": {"use_prior": "perhaps"}},
    {"SEMCRAWL_LEARNED_OPTIONS": {"families": [1]}},
    {"SEMCRAWL_LEARNED_OPTIONS": {"saved_links": -1}},
    {"SEMCRAWL_LEARNED_OPTIONS": 3}, {"SEMCRAWL_LEARNED_OPTIONS": {"families": "anchors"}},
])  # fmt: skip
def test_wrong_settings_are_refused(settings):
    with pytest.raises(UsageError):
        Learned.from_settings(settings)


ODD = st.one_of(
    st.text(max_size=60), st.sampled_from(["http://[", "http://a.example:99999999/", "//"])
)


@pytest.mark.slow
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


@pytest.mark.slow
def test_pages_beyond_the_bound_are_forgotten_oldest_first():
    strategy = Learned(LearnedOptions(max_links=1000))
    for n in range(1200):
        fetch(strategy, f"http://a.example/{n}", Kind.HTML)
        strategy.rekeyed()
    table = strategy._memory.table
    assert table.size <= 1000
    assert table.urls[-1] == "http://a.example/1199"


def trusted(memory):
    """The trust in each host."""
    return {host: memory.answering.reasons(n, "") for host, n in memory.hosts.numbers.items()}


@pytest.mark.slow
def test_places_without_links_are_forgotten_and_the_others_are_judged_as_before():
    strategy, forgot = Learned(LearnedOptions(max_links=1000)), 0
    probe = ["http://new.example/a/77", "http://new.example/x"]
    for n in range(600):
        page = f"http://h{n}.example/a/"
        found = [*(f"{page}{i}" for i in range(4)), f"http://gone{n}.example/a/x"]
        fetch(strategy, page, Kind.HTML, links(*found))
        fetch(strategy, found[0], Kind.RDF, parent=page)
        fetch(strategy, found[-1], None, parent=page)
        memory = strategy._memory
        if memory.table.size <= 1000:
            continue
        before, known = trusted(memory), keys(strategy, probe)
        memory.refresh_stale()
        if memory.table.size <= 1000:
            assert trusted(memory).items() <= before.items()
            kept = memory.table["host"].tolist()
            assert {memory.hosts.names[k] for k in kept} == memory.hosts.numbers.keys()
            assert keys(strategy, probe) == pytest.approx(known, abs=0.02)
            forgot += 1
    assert forgot > 10
    places = (memory.hosts, memory.clusters, memory.sections, memory.subsections)
    assert all(len(each.names) <= 1000 for each in places)


def test_new_keys_are_those_of_their_links_whatever_was_forgotten_meanwhile():
    first, second = Learned(), Learned(LearnedOptions(max_links=1000))
    tables, pages = ([f"http://a.example/{i}{end}" for i in range(450)] for end in (".csv", "/x"))
    fetch(first, HOME.url, Kind.HTML, links(*tables, *pages))
    fetch(first, pages[0], Kind.RDF, parent=HOME.url)
    second.load_state(first.dump_state())
    files = (f"http://a.example/{i}.ttl" for i in range(600))
    fetch(second, "http://b.example/", Kind.HTML, links(*files))
    moved = second.rekeyed()
    table = second._memory.table
    assert table.size <= 1000
    assert moved == {url: pytest.approx(-table["told"][table.ids[url]]) for url in moved}


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_many_keys_are_not_changed_again_before_as_many_fetches_as_they_are_worth():
    """The frontier files every key: 50 of them per fetch, averaged over full refreshes."""
    options = LearnedOptions(refresh_always=0, refresh_every=1, refresh_all_surprise=0.0)
    strategy = Learned(options)
    hosts = [f"http://h{i}.example/list/" for i in range(100)]
    fetch(strategy, HOME.url, Kind.HTML, links(*(f"{h}{n}.html" for h in hosts for n in range(30))))
    strategy.rekeyed()
    full = []
    for fetches in range(400):
        kind = Kind.RDF if fetches % 3 == 0 else Kind.HTML
        fetch(strategy, f"{hosts[fetches % 100]}{fetches // 100}.html", kind, parent=HOME.url)
        moved = strategy.rekeyed()
        if len({url.split("/")[2] for url in moved}) > 50:
            full.append((fetches, len(moved)))
    assert len(full) > 2
    for (before, keys_changed), (after, _) in pairwise(full):
        assert after - before >= keys_changed // 50
