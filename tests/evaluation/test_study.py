"""Runs of a study, and their figures."""

import pytest

from semcrawl.lab.simulator import Fetch, Run
from semcrawl.lab.study import Plan, simulated, study
from semcrawl.lab.studydata import as_data
from semcrawl.lab.worldsets import WorldSet
from semcrawl.relevance import Label, load_strategy
from tests.evaluation.worlds import barren, members


def run(plan, *worlds, thesis=False):
    told = []
    sets = [WorldSet("set", list(worlds), thesis)]
    data = as_data(study(sets, plan, simulated(load_strategy, plan, told.append), told.append),
                   plan, "offline")  # fmt: skip
    return data["sets"][0]["worlds"], told


def test_the_merged_graph_is_what_any_of_the_strategies_asked_for():
    [world], _ = run(Plan(["breadth-first", "rules"]), members())
    assert world["merged"] == {
        "success": 38,
        "redirect": 2,
        "refused": 0,
        "error": 1,
        "targets": 10,
        "parents": 10,
    }
    [world], _ = run(Plan(["breadth-first", "rules"], pages=1), members())
    assert sum(world["merged"].values()) == world["merged"]["success"] == 1


def test_shares_are_of_what_the_bound_finds():
    [world], _ = run(Plan(["breadth-first", "omniscient"], pages=30, repeat=2), members())
    first, bound = world["strategies"]["breadth-first"], world["strategies"]["omniscient"]
    assert world["bound"]["found"] == 10
    for share, name in ((5, "requests_to_50"), (9, "requests_to_90")):
        curve = world["bound"]["curve"]
        assert bound[name]["mean"] == next(i for i, had in enumerate(curve, 1) if had >= share)
    assert bound["curve"] == world["bound"]["curve"]
    assert world["target_depths"] == {"2": 1, "3": 9}
    assert first["requests_to_90"] is None
    assert (bound["seeds"], bound["requests_to_90"]["count"]) == ([0], 1)


@pytest.mark.parametrize(
    ("thesis", "chosen", "limit", "unlikely"),
    [(False, (), 3, 1), (True, (), 500, False), (True, ("SEMCRAWL_KEEP_UNLIKELY",), 500, 1)],
)
def test_as_in_the_thesis_its_settings_hold_but_those_that_are_chosen(
    thesis, chosen, limit, unlikely
):
    settings = {"SEMCRAWL_MAX_LINKS_PER_PAGE": 3, "SEMCRAWL_KEEP_UNLIKELY": 1}
    found = Plan(["rules"], settings=settings, chosen=frozenset(chosen)).settings_for(thesis, 7)
    assert found["SEMCRAWL_MAX_LINKS_PER_PAGE"] == limit
    assert found["SEMCRAWL_KEEP_UNLIKELY"] == unlikely
    assert found["SEMCRAWL_RANDOM_SEED"] == 7


@pytest.mark.parametrize(("limit", "asked"), [(1, 2), ("", 41)])
def test_so_many_links_of_a_page_count(limit, asked):
    settings = {"SEMCRAWL_MAX_LINKS_PER_PAGE": limit}
    [world], _ = run(Plan(["breadth-first"], settings=settings), members())
    assert world["strategies"]["breadth-first"]["requests"]["mean"] >= asked
    assert (world["html"] < 5) == (limit == 1)


def test_types_that_may_hide_rdf_are_those_of_the_settings():
    for types, found in (("", 9), ("text/x, APPLICATION/xml", 10), (["application/xml"], 10)):
        plan = Plan(["breadth-first"], settings={"SEMCRAWL_AMBIGUOUS_TYPES": types})
        [world], _ = run(plan, members())
        assert world["strategies"]["breadth-first"]["found"]["mean"] == found


def test_what_is_wrong_with_a_world_is_told_and_it_is_run_all_the_same():
    class Gone(type(barren())):
        starts = ("http://barren.example/nowhere",)

    gone = Gone("gone", "barren.example", {})
    worlds, told = run(Plan(["rules"]), barren(), gone)
    assert [bool(world["strategies"]) for world in worlds] == [True, False]
    assert "no target can be reached" in worlds[0]["problem"]
    assert "is missing (status 404)" in worlds[1]["problem"]
    notes = [(step.world, step.finished, step.note) for step in told if step.note]
    assert notes == [(w["name"], True, w["problem"]) for w in worlds]
    assert [(s.strategy, s.requests) for s in told if s.finished and not s.note] == [("rules", 2)]


def test_no_mean_is_told_of_requests_that_some_of_the_runs_never_made():
    def crawl(graph, name, settings, pages, seed):
        run = Run(graph.world.name, name, seed, curve=[10 if seed else 5] * pages)
        run.fetches = [Fetch(f"/{seed}", "", 200, None, Label.H, (), None, 0)]
        return run

    plan = Plan(["one"], pages=30, repeat=3)
    data = as_data(study([WorldSet("set", [members()])], plan, crawl), plan, "offline")
    figures = data["sets"][0]["worlds"][0]["strategies"]["one"]
    assert figures["requests_to_50"]["mean"] == 1
    assert figures["requests_to_90"] is None


def made(seed: int) -> WorldSet:
    """A generated set of worlds, whose size goes by the seed."""
    return WorldSet("made", [members(4 + seed), members(2)], again=made, repeat=3)


def test_each_repetition_of_generated_worlds_has_its_own():
    """Even for strategies that do not depend on a seed, so that their figures have a spread."""
    plan = Plan(["breadth-first", "omniscient"])
    [result] = study([made(0)], plan, simulated(load_strategy, plan, print))
    first, second = result.worlds
    assert [trial.seed for trial in first.trials["breadth-first"]] == [0, 1, 2]
    assert [trial.found for trial in first.trials["breadth-first"]] == [5, 6, 7]
    assert [trial.targets for trial in first.trials["omniscient"]] == [5, 6, 7]
    assert [trial.found for trial in second.trials["breadth-first"]] == [3, 3, 3]
    data = as_data([result], plan, "offline")["sets"][0]
    assert data["repeat"] == 3
    assert data["worlds"][0]["strategies"]["breadth-first"]["found"]["deviation"] == 1
    assert data["worlds"][0]["targets"] == 5


def test_the_user_s_number_of_repetitions_goes_before_that_of_the_worlds():
    plan = Plan(["breadth-first"], repeat=2, seed=5, chosen=frozenset({"repeat"}))
    [result] = study([made(5)], plan, simulated(load_strategy, plan, print))
    assert [trial.seed for trial in result.worlds[0].trials["breadth-first"]] == [5, 6]


def test_measurements_of_generated_worlds_are_repeated_too():
    def measured(seed: int) -> WorldSet:
        figures = {"count": seed, "share": seed / 2, "name": "x", "deep": {"n": 2 * seed}}
        return WorldSet("m", [members(2)], again=measured, measure=lambda report: figures)

    plan = Plan(["breadth-first"], repeat=3, chosen=frozenset({"repeat"}))
    data = as_data(study([measured(0)], plan, simulated(load_strategy, plan, print)), plan, "x")
    [one] = data["sets"]
    assert [each["count"] for each in one["repetitions"]] == [0, 1, 2]
    assert one["figures"] == {"count": 1, "share": 0.5, "name": "x", "deep": {"n": 2}}
