"""Budgets of hosts and domains, as they are written and as they are spent."""

from __future__ import annotations

import pytest

from semcrawl.crawl.crawllimits import Budget, Spent
from semcrawl.errors import UsageError


def test_a_budget_is_read_with_its_units() -> None:
    budget = Budget.parse("X", " requests=1k, bytes=1.5G, documents=500, depth=6, rdf=1%/200 ")
    assert budget == Budget(1000, 1_500_000_000, 500, 6, 0.01, 200)
    assert not Budget.parse("X", "")


@pytest.mark.parametrize(
    "text",
    [
        "requests",
        "requests=many",
        "requests=-1",
        "pages=3",
        "rdf=2/100",
        "rdf=1%",
        "depth=1,depth=2",
    ],
)
def test_what_is_no_budget_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError, match=r"^SEMCRAWL_HOST_BUDGET: '[^\n]*$"):
        Budget.parse("SEMCRAWL_HOST_BUDGET", text)


@pytest.mark.parametrize(
    ("text", "spent", "depth", "says"),
    [
        ("requests=10", Spent(9), 0, ""),
        ("requests=10", Spent(10), 0, "10 requests are spent"),
        ("bytes=1k", Spent(1, 1000), 0, "1,000 bytes are spent"),
        ("documents=2", Spent(5, 5, 2), 0, "2 documents are spent"),
        ("depth=3", Spent(), 3, ""),
        ("depth=3", Spent(), 4, "it is deeper than 3"),
        ("rdf=10%/20", Spent(19), 0, ""),
        ("rdf=10%/20", Spent(20, 0, 2), 0, ""),
        ("rdf=10%/20", Spent(20, 0, 1), 0, "less than 0.1 of 20 requests gave RDF"),
    ],
)
def test_a_bound_that_is_reached_is_named(text: str, spent: Spent, depth: int, says: str) -> None:
    assert Budget.parse("X", text).exceeded(spent, depth) == says
