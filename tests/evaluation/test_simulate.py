import pytest

from semcrawl.lab.graph import LinkGraph
from semcrawl.lab.simulator import simulate
from semcrawl.lab.worlds import BuiltWorld, SiteBuilder
from semcrawl.relevance import Label, Ranked, load_strategy
from semcrawl.web.vocabulary import Kind
from tests.evaluation.worlds import barren, members, twins, winding

BASE = "http://members.example"


class Recorder:
    """First in, first out; keeps what it is told."""

    name = "recorder"

    def __init__(self, label=Label.H):
        self.label = label
        self.outcomes = []
        self.takes = []
        self.new_keys = {}

    def rank(self, page, links):
        return [Ranked(link, self.label, "all") for link in links]

    def learn(self, outcome):
        self.outcomes.append(outcome)

    def taken(self, urls):
        self.takes += urls

    def values(self):
        return {}

    def rekeyed(self):
        keys, self.new_keys = self.new_keys, {}
        return keys

    def of(self, path):
        return [o for o in self.outcomes if BASE + path in (o.url, o.final_url)]


def test_a_redirect_goes_to_the_front_and_is_learned_with_its_target():
    strategy = Recorder()
    run = simulate(members(), strategy, ambiguous_types=())
    place = run.order.index(f"{BASE}/everybody")
    assert run.order[place + 1] == f"{BASE}/members/"
    [outcome] = strategy.of("/everybody")
    assert (outcome.url, outcome.final_url) == (f"{BASE}/everybody", f"{BASE}/members/")
    assert outcome.kind is Kind.HTML
    assert outcome.depth == 1
    assert strategy.takes.count(f"{BASE}/everybody") == 2


def test_a_redirect_to_a_link_that_waits_brings_it_forward():
    site = SiteBuilder("members.example")
    home = site.page("/")
    for name in ("/b", "/c"):
        site.link(home, site.moved(name, name + "/"))
    for name in ("/d/", "/b/", "/c/"):
        site.link(home, site.page(name))

    class Rekeying(Recorder):
        rekeys = True

        def learn(self, outcome):
            super().learn(outcome)
            self.new_keys = {f"{BASE}/c/": 5.0}

    order = [url.removeprefix(BASE) for url in simulate(site.build("moved"), Rekeying()).order]
    assert order == ["/", "/b", "/b/", "/c", "/c/", "/d/"]
    kept = [url.removeprefix(BASE) for url in simulate(site.build("moved"), Recorder()).order]
    assert kept == ["/", "/b", "/c", "/d/", "/b/", "/c/"]


def test_a_redirect_out_of_the_world_ends_there():
    strategy = Recorder()
    run = simulate(members(), strategy)
    assert all(url.startswith(BASE) for url in run.order)
    [outcome] = strategy.of("/away")
    assert (outcome.kind, outcome.duplicate) == (None, False)


def test_redirects_in_a_row_are_followed_as_far_as_by_the_crawler():
    assert simulate(winding(20), Recorder()).requests == 22
    assert simulate(winding(30), Recorder()).order[-1].endswith("/20")


def test_a_copy_of_a_page_is_a_duplicate_even_with_links_of_its_own():
    strategy = Recorder()
    simulate(twins(2), strategy)
    first, second = (
        next(o for o in strategy.outcomes if o.url.endswith(f"/copy/{n}/")) for n in range(2)
    )
    assert (first.duplicate, len(first.new_links)) == (False, 5)
    assert (second.duplicate, len(second.new_links)) == (True, 5)
    assert sum(outcome.duplicate for outcome in strategy.outcomes) == 1


def test_seeds_that_a_strategy_would_drop_come_before_all_others():
    class Choosy(Recorder):
        def rank(self, page, links):
            group = "all" if page.depth >= 0 or links[0].url.endswith("/news") else None
            return [Ranked(link, self.label, group) for link in links]

        def values(self):
            return {"all": 5.0}

    world = members(2)
    seeds = (f"{BASE}/news", f"{BASE}/")
    two = type("Two", (type(world),), {"starts": property(lambda self: seeds)})
    world = two(world.name, "members.example", world.documents)
    run = simulate(world, Choosy())
    assert run.order[:2] == [f"{BASE}/", f"{BASE}/news"]
    assert [fetch.depth for fetch in run.fetches[:3]] == [0, 0, 1]


def test_new_links_are_those_that_entered():
    strategy = Recorder()
    simulate(members(2), strategy)
    [home] = strategy.of("/")
    assert [r.link.url for r in home.new_links] == [
        f"{BASE}{p}" for p in ("/news", "/everybody", "/away", "/gone")
    ]
    [listing] = strategy.of("/members/")
    assert f"{BASE}/" not in [r.link.url for r in listing.new_links]


def test_bodies_of_other_types_are_left_unless_the_link_is_labelled_rdf():
    plain = Recorder()
    run = simulate(members(), plain, ambiguous_types=())
    [fetch] = [f for f in run.fetches if f.url == f"{BASE}/hidden.xml"]
    assert fetch.filtered
    assert {f.status for f in run.fetches if f.filtered} == {200}
    assert plain.of("/hidden.xml")[0].kind is None
    assert run.found == 9
    assert simulate(members(), Recorder(Label.R), ambiguous_types=()).found == 10
    assert simulate(members(), Recorder(), ambiguous_types=("application/xml",)).found == 10


def test_every_request_counts_and_the_curve_counts_distinct_targets():
    run = simulate(members(), Recorder())
    assert len(run.curve) == run.requests == len(set(run.order))
    assert run.curve == sorted(run.curve)
    assert sum(f.new_target for f in run.fetches) == run.found


def test_the_budget_holds():
    assert simulate(members(), Recorder(), pages=5).requests == 5


class Tables(BuiltWorld):
    """Its RDF is JSON-LD: one document names a context that is not at hand, one is cut off."""

    def body(self, url):
        if not url.endswith(".json"):
            return super().body(url)
        if url.endswith("/cut.json"):
            return b'{"@context": {}, "'
        return b'{"@context": "http://contexts.example/c", "name": "x"}'


def test_rdf_counts_that_lacks_its_context_and_none_that_is_damaged():
    site = SiteBuilder("members.example")
    home = site.page("/")
    for path in ("/whole.json", "/cut.json"):
        site.link(home, site.rdf(path, "application/ld+json"))
    strategy = Recorder()
    simulate(Tables("tables", "members.example", site.documents), strategy)
    told = strategy.of("/whole.json") + strategy.of("/cut.json")
    assert [outcome.target for outcome in told] == [True, False]


def test_new_keys_move_waiting_links():
    class Impatient(Recorder):
        def learn(self, outcome):
            super().learn(outcome)
            self.new_keys = {f"{BASE}/gone": -1.0}

    run = simulate(members(), Impatient())
    assert run.order[1] == f"{BASE}/gone"


def test_at_most_so_many_links_of_a_page_are_seen():
    run = simulate(LinkGraph(members(), max_links=2), Recorder())
    assert f"{BASE}/gone" not in run.order


def test_a_strategy_that_raises_ends_its_run_with_a_line():
    class Broken(Recorder):
        def learn(self, outcome):
            raise RuntimeError("no\nidea")

    run = simulate(members(), Broken())
    assert run.error == "RuntimeError: no"
    assert run.requests == 1


@pytest.mark.parametrize("name", ["breadth-first", "rules-parents", "random", "learned"])
def test_the_same_seed_gives_the_same_run(name):
    runs = [simulate(members(), load_strategy(name, {"SEMCRAWL_RANDOM_SEED": 3})) for _ in "ab"]
    assert runs[0].order == runs[1].order


def test_a_world_without_targets_is_crawled_to_its_end():
    run = simulate(barren(), Recorder())
    assert (run.requests, run.found, run.error) == (2, 0, "")
