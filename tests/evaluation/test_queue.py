import math

from hypothesis import given
from hypothesis import strategies as st

from semcrawl.frontier.links import LinkState
from semcrawl.lab.simulator import SimulatedFrontier, Waiting


def waiting(url: str, group: str = "g") -> Waiting:
    return Waiting(url, LinkState(), group)


def drain(frontier: SimulatedFrontier) -> list[str]:
    taken = []
    while (link := frontier.take()) is not None:
        taken.append(link.url)
    return taken


def test_best_group_smallest_key_first_in():
    frontier = SimulatedFrontier()
    for url, group, key in (("a", "low", 0), ("b", "high", 5), ("c", "high", 1), ("d", "high", 1)):
        frontier.add(waiting(url, group), key)
    frontier.set_values({"high": 2.0, "low": 1.0})
    assert drain(frontier) == ["c", "d", "b", "a"]


def test_a_url_enters_once():
    frontier = SimulatedFrontier()
    assert frontier.add(waiting("a"), 0)
    assert frontier.take() is not None
    assert not frontier.add(waiting("a"), 0)
    assert len(frontier) == 0


def test_groups_of_equal_value_are_served_by_their_first_links():
    frontier = SimulatedFrontier()
    for url, group in (("a", "x"), ("b", "y"), ("c", "x")):
        frontier.add(waiting(url, group), 0)
    assert drain(frontier) == ["a", "b", "c"]


def test_new_values_and_keys_hold_from_the_next_take():
    frontier = SimulatedFrontier()
    for url, group in (("a", "x"), ("b", "y"), ("c", "y")):
        frontier.add(waiting(url, group), 0)
    frontier.set_values({"x": 1})
    frontier.set_values({"y": 2})
    frontier.rekey({"c": -1.0, "unknown": 3.0})
    assert drain(frontier) == ["c", "b", "a"]


def test_minus_infinity_is_the_front():
    frontier = SimulatedFrontier()
    frontier.add(waiting("a"), -1e9)
    frontier.add(waiting("b"), -math.inf)
    assert drain(frontier) == ["b", "a"]


moves = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 3), st.integers(-2, 2)),
        st.tuples(st.just("value"), st.integers(0, 3), st.integers(-2, 2)),
        st.tuples(st.just("key"), st.integers(0, 30), st.integers(-2, 2)),
        st.tuples(st.just("take"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


@given(moves)
def test_it_takes_what_a_sorted_list_would_give(steps):
    frontier, model, values, number = SimulatedFrontier(), {}, {}, 0
    for what, which, amount in steps:
        if what == "add":
            url = f"u{number}"
            frontier.add(waiting(url, f"g{which}"), amount)
            model[url] = (f"g{which}", amount, number)
            number += 1
        elif what == "value":
            frontier.set_values({f"g{which}": amount})
            values[f"g{which}"] = amount
        elif what == "key":
            frontier.rekey({f"u{which}": amount})
            if f"u{which}" in model:
                group, _, order = model[f"u{which}"]
                model[f"u{which}"] = (group, amount, order)
        else:
            best = min(
                model,
                key=lambda u: (-values.get(model[u][0], 0), *model[u][1:]),
                default=None,
            )
            taken = frontier.take()
            assert (taken.url if taken else None) == best
            model.pop(best, None)
