import pytest

from semcrawl.evaluation.graph import LinkGraph
from semcrawl.evaluation.simulate import simulate
from semcrawl.relevance import Label, Ranked, load_strategy
from semcrawl.vocabulary import Kind
from tests.evaluation.worlds import barren, members

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


def test_a_redirect_out_of_the_world_ends_there():
    strategy = Recorder()
    run = simulate(members(), strategy)
    assert "http://elsewhere.example/" not in run.order
    [outcome] = strategy.of("/away")
    assert (outcome.kind, outcome.duplicate) == (None, False)


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
    assert (run.requests, run.found) == (2, 0)
