import json
import re
from html.parser import HTMLParser

import pytest

from semcrawl.errors import SemcrawlError
from semcrawl.lab.report import Line, _Page, _style, report_page
from semcrawl.lab.simulator import Fetch, Run
from semcrawl.lab.study import Plan, simulated, study
from semcrawl.lab.studydata import as_data, checkpoints
from semcrawl.lab.worldsets import WorldSet
from semcrawl.relevance import Label, load_strategy, strategies
from tests.evaluation.worlds import barren, members

_VOID = {"meta", "link", "br"}


class Checker(HTMLParser):
    """Keeps what is open and what is loaded."""

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.seen = [], [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in _VOID:
            self.open.append(tag)
        self.loaded += [v for k, v in attributes if k in ("src", "href") and not v.startswith("#")]

    def handle_startendtag(self, tag, attributes):
        self.seen.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


class Broken:
    """A strategy that cannot work."""

    name = "broken"

    @classmethod
    def from_settings(cls, settings):
        return cls()

    def rank(self, page, links):
        raise RuntimeError("<b>oops</b>")

    def learn(self, outcome): ...
    def taken(self, urls): ...
    def values(self):
        return {}

    def rekeyed(self):
        return {}

    def explain(self, page, link):
        return []

    def dump_state(self):
        return b""

    def load_state(self, state): ...


@pytest.fixture(scope="module")
def results():
    broken = f"{__name__}.Broken"
    plan = Plan(["rules-parents", "random", broken, "nonsense", "omniscient"], repeat=3)
    told = []
    sets = [WorldSet("two", [members(), barren()]), WorldSet("one", [members(4)])]
    data = as_data(study(sets, plan, simulated(load_strategy, plan, told.append)), plan, "offline")
    return json.loads(json.dumps(data))


def test_what_fails_is_told_and_the_rest_goes_on(results):
    [first, second] = results["sets"][0]["worlds"]
    strategies = first["strategies"]
    broken = next(name for name in strategies if name.endswith("Broken"))
    assert strategies[broken]["errors"][0].endswith("RuntimeError: <b>oops</b>")
    assert "unknown strategy" in strategies["nonsense"]["errors"][0]
    assert strategies["rules-parents"]["found"]["mean"] == 10
    assert "no target" in second["problem"]
    assert second["strategies"]["rules-parents"]["auc_relative"] is None


def test_the_thesis_s_figures_are_said_to_be_of_its_own_requests_and_domains(results):
    note = "are of 2,000 requests to each domain"
    assert note not in report_page(results)
    first, second = results["sets"]
    page = report_page({**results, "sets": [first, {**second, "thesis": True}]})
    assert page.count(note) == 1
    assert "Upright marks: as the thesis reports them." in page  # they are white on a dark page


def test_places_in_the_thesis_are_named_where_worlds_ran_as_it_did(results):
    first, second = results["sets"]
    assert not re.search(r"\((Table|Figure) 4-", report_page(results))
    page = report_page({**results, "sets": [first, {**second, "thesis": True}]})
    assert page.count("(Table 4-4)") == page.count("(Figure 4-2)") == 1


def test_a_set_tells_its_own_requests_and_labels(results):
    """Worlds may have their own number of requests, and no labels where pages are targets."""
    [figures] = [s for s in results["sets"] if s["name"] == "one"]
    strategies = {name: {**each, "precision": {}} for name, each in figures["strategies"].items()}
    own = {**figures, "requests": [10, 4000], "strategies": strategies}
    page = report_page({**results, "sets": [own]})
    assert "At most 4,000 requests to each world." in page
    assert "2,000 requests" not in page
    assert "precision R" not in page
    assert "precision R" in report_page(results)


def test_a_world_that_cannot_be_read_is_told_and_the_rest_goes_on():
    class Unreadable:
        name = "unreadable"
        hosts = frozenset({"a.example"})
        starts = ("http://a.example/",)

        def fetch(self, url):
            raise PermissionError(13, "Permission denied", "secret.html")

        def body(self, url):
            return b""

        def robots(self, host):
            return ""

    plan, told = Plan(["rules"]), []
    sets = [WorldSet("both", [Unreadable(), members(2)])]
    data = as_data(study(sets, plan, simulated(load_strategy, plan, told.append)), plan, "offline")
    one, two = data["sets"][0]["worlds"]
    assert "Permission denied" in one["problem"]
    assert two["strategies"]["rules"]["found"]["mean"] == 3
    assert "Permission denied" in report_page(data)


def test_only_what_depends_on_the_seed_is_repeated(results):
    strategies = results["sets"][0]["worlds"][0]["strategies"]
    assert strategies["rules-parents"]["seeds"] == [0]
    assert strategies["random"]["seeds"] == [0, 1, 2]
    assert strategies["random"]["auc_relative"]["count"] == 3


def test_a_world_with_more_seeds_counts_no_more_than_others(results):
    """On the barren one all seeds do the same, and it is run once."""
    two = results["sets"][0]
    one, other = (world["strategies"]["random"] for world in two["worlds"])
    assert (one["seeds"], other["seeds"]) == ([0, 1, 2], [0])
    rates = [one["harvest_rate"]["mean"], other["harvest_rate"]["mean"]]
    assert rates[0] > rates[1] == 0
    average = two["strategies"]["random"]["harvest_curve"][-1]
    assert average == pytest.approx(sum(rates) / 2)


def test_pairs_are_worlds_or_the_seeds_of_one_world(results):
    pairs = [s["comparisons"][0]["pairs"] for s in results["sets"]]
    assert pairs == [1, 3]  # the barren world has no areas


def test_pairs_are_of_the_same_seed_where_a_run_failed():
    """Seed 0 finds nothing, 1 all at once; the runs that failed have no partner."""

    def crawl(graph, name, settings, pages, seed):
        if (name, seed) in (("one", 1), ("two", 3)):
            raise SemcrawlError("gone")
        run = Run(graph.world.name, name, seed, curve=[seed] * pages)
        run.fetches = [Fetch(f"/{name}/{seed}", "", 200, None, Label.H, (), None, 0)]
        return run

    plan = Plan(["one", "two"], pages=5, repeat=4)
    data = as_data(study([WorldSet("set", [members()])], plan, crawl), plan, "offline")
    [pair] = data["sets"][0]["comparisons"]
    assert (pair["pairs"], pair["ties"]) == (2, 2)


def test_the_bound_is_at_the_top(results):
    world = results["sets"][0]["worlds"][0]
    assert world["strategies"]["omniscient"]["auc_relative"]["mean"] == 1
    assert world["bound"]["found"] == world["targets"] == 10


def test_the_page_is_whole_and_loads_nothing(results):
    page = report_page(results)
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.loaded == ["data:,"]
    assert "script" not in checker.seen
    assert checker.seen.count("polyline") >= 6
    assert "prefers-color-scheme: dark" in page
    assert 'name="viewport"' in page
    assert not re.search(r"url\(|@import", page)


def test_texts_of_others_are_escaped(results):
    page = report_page(results)
    assert "<b>oops" not in page
    assert "&lt;b&gt;oops" in page


@pytest.mark.parametrize("pages", [0, 1, 7, 200, 201, 2000, 4999])
def test_checkpoints_end_at_the_last_request(pages):
    points = checkpoints(pages)
    assert len(points) <= 200
    assert points == sorted(set(points))
    assert not pages or points[-1] == pages


def test_no_two_lines_look_alike(results):
    """Those compared most differ in both colour and dashes, in whatever report."""
    names = [*reversed(strategies()), *(f"package.Strategy{n}" for n in range(30))]
    page = _Page({**results, "strategies": [{"name": name, "title": name} for name in names]})
    looks = {name: _style(Line(name, page.styles[name], [])) for name in names}
    assert len(set(looks.values())) == len(names)
    assert looks["learned"][0] != looks["rules-parents"][0]
    assert looks["learned"][1] != looks["rules-parents"][1]
    few = _Page({**results, "strategies": [{"name": "rules-parents", "title": "FC"}]})
    assert few.styles["rules-parents"] == page.styles["rules-parents"]
    assert len({looks[name][0] for name in strategies()}) == min(12, len(strategies()))
