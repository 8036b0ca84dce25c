"""The strategy ``learned``: what it notes of single links, in flight, failed and saved."""

from semcrawl.links import Page
from semcrawl.relevance.contract import Label, Outcome
from semcrawl.relevance.learned import Learned, LearnedOptions
from semcrawl.web.vocabulary import Kind
from tests.relevance.learning import HOME, fetch, keys, links

SITE = "http://a.example"


def test_sure_targets_in_flight_leave_room_for_a_page() -> None:
    strategy = Learned()
    files = [f"{SITE}/{i}.ttl" for i in range(4)]
    fetch(strategy, HOME.url, Kind.HTML, links(*files, f"{SITE}/page"))
    strategy.taken(files)
    assert strategy.room(len(files)) == 1


def test_a_link_that_is_taken_again_as_its_lease_ran_out_counts_once() -> None:
    strategy = Learned()
    pages = [f"{SITE}/{i}" for i in range(4)]
    fetch(strategy, HOME.url, Kind.HTML, links(*pages))
    strategy.taken(pages[:1])
    once = keys(strategy, [f"{SITE}/new"])
    strategy.taken(pages[:1])
    assert keys(strategy, [f"{SITE}/new"]) == once
    fetch(strategy, pages[0], Kind.HTML, parent=HOME.url)
    strategy.taken([f"{SITE}/seed"])
    assert strategy.room(2) == strategy.room(1)


def test_an_address_found_after_its_page_failed_under_another_is_not_held_back() -> None:
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links(f"{SITE}/doc"))
    fetch(strategy, f"{SITE}/doc", None, parent=HOME.url)
    key = keys(strategy, [f"{SITE}/doc.html", f"{SITE}/dot.html"])
    assert abs(key[f"{SITE}/doc.html"] - key[f"{SITE}/dot.html"]) < 0.02


def test_an_address_is_given_its_worth_back_once_however_many_others_fail() -> None:
    strategy, alike = Learned(), Learned()
    addresses = [f"{SITE}/doc{ending}" for ending in (".html", ".htm", "", "/")]
    for crawl, failing in ((strategy, addresses[:3]), (alike, addresses[:1])):
        fetch(crawl, HOME.url, Kind.HTML, links(*addresses))
        for url in failing:
            fetch(crawl, url, None, parent=HOME.url)
    priors = [crawl._memory.table["prior"][-1] for crawl in (strategy, alike)]
    assert priors[0] == priors[1]


def test_of_more_links_than_are_saved_the_best_are_kept_and_all_pages_above_others() -> None:
    options = LearnedOptions(saved_links=3)
    first, second = Learned(options), Learned(options)
    listed = [f"{SITE}/list/{i}" for i in range(9)]
    fetch(first, HOME.url, Kind.HTML, links(f"{SITE}/index", *listed))
    data = links(*(f"{SITE}/{i}.{e}" for i in range(3) for e in ("csv", "ttl")))
    fetch(first, f"{SITE}/index", Kind.HTML, data, parent=HOME.url)
    second.load_state(first.dump_state())
    known = second._memory.table.urls
    assert sorted(known) == sorted(
        [HOME.url, f"{SITE}/index", *(f"{SITE}/{i}.ttl" for i in range(3))]
    )
    assert second.expected_remaining() > 2.5


def test_a_page_that_came_back_leaves_its_room_to_another() -> None:
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links(f"{SITE}/x.ttl", f"{SITE}/1", f"{SITE}/2"))
    strategy.taken([f"{SITE}/x.ttl", f"{SITE}/1"])
    assert strategy.room(2) == 0
    fetch(strategy, f"{SITE}/1", Kind.HTML, parent=HOME.url)
    assert strategy.room(1) == 1


def test_what_is_fetched_lowers_the_bonus_of_its_like_though_nobody_said_it_was_taken() -> None:
    strategy = Learned(LearnedOptions(learning_rate=0.0))
    found = [f"{SITE}/x/{i}" for i in range(3)]
    fetch(strategy, HOME.url, Kind.HTML, links(*found))
    before = keys(strategy, [f"{SITE}/x/new"])
    fetch(strategy, found[0], Kind.HTML, parent=HOME.url)
    after = keys(strategy, [f"{SITE}/x/new"])
    assert after[f"{SITE}/x/new"] > before[f"{SITE}/x/new"]


def test_an_address_that_another_one_led_to_comes_last() -> None:
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links(*(f"{SITE}/{name}" for name in ("old", "new", "x"))))
    strategy.rekeyed()
    outcome = Outcome(f"{SITE}/old", Kind.HTML, False, f"{SITE}/new", HOME.url, status=200)
    strategy.learn(outcome)
    moved = strategy.rekeyed()
    assert moved[f"{SITE}/new"] > -0.1
    assert moved[f"{SITE}/new"] > moved.get(f"{SITE}/x", -0.12) + 0.02


def test_a_target_stays_one_whatever_becomes_of_its_links() -> None:
    strategy = Learned(LearnedOptions(targets="embedded"))
    page, found = f"{SITE}/page", [f"{SITE}/page/{i}" for i in range(4)]
    fetch(strategy, HOME.url, Kind.HTML, links(page))
    new = tuple(strategy.rank(Page(page, 1), links(*found)))
    strategy.learn(Outcome(page, Kind.HTML, True, page, HOME.url, status=200, new_links=new))
    for url in found:
        fetch(strategy, url, None, parent=page)
    table = strategy._memory.table
    assert table["observed"][table.ids[page]] == 1


def test_links_in_flight_wait_again_after_a_restart() -> None:
    first, second = Learned(), Learned()
    fetch(first, HOME.url, Kind.HTML, links(f"{SITE}/x.ttl"))
    first.taken([f"{SITE}/x.ttl"])
    second.load_state(first.dump_state())
    assert second.expected_remaining() > 0.9


def test_a_restart_remembers_the_seeds_folder() -> None:
    first, second = Learned(), Learned()
    fetch(first, f"{SITE}/a/home/", Kind.HTML, links(f"{SITE}/a/home/1"))
    second.load_state(first.dump_state())
    key = {r.link.url: r.key for r in second.rank(
        Page(f"{SITE}/a/home/1", 1), links(f"{SITE}/a/home/x/2", f"{SITE}/b/x/2"))}  # fmt: skip
    assert key[f"{SITE}/a/home/x/2"] < key[f"{SITE}/b/x/2"] - 0.05


def test_links_inside_rdf_are_labelled_by_their_extension() -> None:
    found = links(*(f"{SITE}/foaf{end}" for end in ("", ".ttl", ".html", ".xml")))
    ranked = Learned().rank(Page(f"{SITE}/x.ttl", 1, rdf=True), found)
    assert [r.label for r in ranked] == [Label.R, Label.R, Label.H, Label.N]


def test_a_link_that_is_taken_before_its_page_is_learned_of_is_in_flight() -> None:
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links(f"{SITE}/page"))
    found = tuple(strategy.rank(Page(f"{SITE}/page", 1), links(f"{SITE}/1", f"{SITE}/2")))
    strategy.taken([f"{SITE}/1"])
    page = Outcome(f"{SITE}/page", Kind.HTML, False, f"{SITE}/page", HOME.url, new_links=found)
    strategy.learn(page)
    assert strategy.room(1) == 0
    fetch(strategy, f"{SITE}/1", Kind.HTML, parent=f"{SITE}/page")
    assert strategy.room(1) == 1


def test_a_copy_of_a_target_is_no_further_target() -> None:
    copied, counted = Learned(), Learned()
    for strategy, duplicate in ((copied, True), (counted, False)):
        fetch(strategy, HOME.url, Kind.HTML, links(*(f"{SITE}/d/{i}" for i in range(3))))
        url = f"{SITE}/d/0"
        strategy.learn(Outcome(url, Kind.RDF, True, url, HOME.url, status=200, duplicate=duplicate))
    probe = [f"{SITE}/d/9"]
    assert keys(counted, probe)[probe[0]] < keys(copied, probe)[probe[0]] - 0.05


def test_what_headers_say_of_something_else_makes_no_good_page_of_it() -> None:
    """A refused body whose headers name a data file: only the file is worth its request."""
    strategy = Learned()
    fetch(strategy, HOME.url, Kind.HTML, links(f"{SITE}/x"))
    found = tuple(strategy.rank(Page(f"{SITE}/x", 1), links(f"{SITE}/x.ttl")))
    strategy.learn(Outcome(f"{SITE}/x", None, False, f"{SITE}/x", HOME.url, new_links=found))
    table = strategy._memory.table
    assert table["observed"][table.ids[f"{SITE}/x"]] == 0


def test_pages_keep_their_own_links_when_others_are_forgotten() -> None:
    first, second = Learned(LearnedOptions(saved_links=60)), Learned()
    pages = [f"{SITE}/{n}" for n in range(20)]
    fetch(first, HOME.url, Kind.HTML, links(*(f"{SITE}/table{n}.csv" for n in range(9)), *pages))
    for page in pages:
        ends = (".csv", ".ttl", "/x", ".zip", "/y/z", ".nt")
        fetch(first, page, Kind.HTML, links(*(page + end for end in ends)), parent=HOME.url)
    second.load_state(first.dump_state())
    table, urls = second._memory.table, second._memory.table.urls
    assert 60 < table.size < 100
    for page in pages:
        number = table.ids[page]
        assert urls[table["parent"][number]] == HOME.url
        begin = int(table["first_child"][number])
        own = urls[begin : begin + int(table["children"][number])]
        assert own == [url for url in urls if url.startswith((f"{page}.", f"{page}/"))]
        assert {urls[table["parent"][table.ids[url]]] for url in own} == {page}
        fetch(second, own[0], Kind.RDF, parent=page)
        assert table["observed"][number] > 0


def test_off_topic_rdf_is_worth_something_while_other_rdf_is_on_topic() -> None:
    """A topic that nothing is about holds nobody up: what misses it is worth less and less."""
    strategy = Learned()
    found = links(*(f"{SITE}/{n}.ttl" for n in range(40)))
    fetch(strategy, HOME.url, Kind.HTML, found)
    worths = []
    for n, relevant in enumerate([True] * 4 + [False] * 36):
        url = f"{SITE}/{n}.ttl"
        strategy.learn(
            Outcome(
                *(url, Kind.RDF, relevant, url, HOME.url, 1, 200),
                relevance=float(relevant),
                gain=float(relevant),
            )
        )
        number = strategy._memory.table.ids[url]
        worths.append(float(strategy._memory.table["observed"][number]))
    assert worths[:4] == [1.0] * 4
    assert 0.5 > worths[4] > worths[20] > worths[39] > 0
