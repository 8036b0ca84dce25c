"""Statements that documents made, shared by all workers."""

from __future__ import annotations

from frontier_calls import OpenFrontier

LARGE = (1 << 64) - 1


async def test_a_statement_is_new_in_one_document_for_all_workers(
    open_frontier: OpenFrontier,
) -> None:
    one, two = await open_frontier("w1"), await open_frontier("w2")
    assert await one.shared.add_statements(1, [0, 5, LARGE], 100) == [True, True, True]
    assert await two.shared.add_statements(LARGE, [LARGE, 6 << 40, 0], 100) == [False, True, False]
    assert await one.shared.add_statements(3, [6 << 40], 100) == [False]
    assert await one.shared.add_statements(3, [], 100) == []


async def test_a_document_that_is_judged_again_keeps_what_is_its_own(
    open_frontier: OpenFrontier,
) -> None:
    """A worker that starts anew still knows it."""
    one = await open_frontier("w1")
    assert await one.shared.add_statements(1, [5, 6], 100) == [True, True]
    again = await open_frontier("w1")
    assert await again.shared.add_statements(1, [5, 6], 100) == [True, True]
    assert await again.shared.add_statements(2, [5, 6], 100) == [False, False]
    assert await again.shared.add_statements(2, [5, 6], 100) == [False, False]


async def test_many_statements_go_in_and_the_oldest_are_forgotten(
    open_frontier: OpenFrontier,
) -> None:
    one = await open_frontier("w1")
    hashes = [n * 0x9E3779B97F4A7C15 % (1 << 64) for n in range(1, 5001)]
    assert all(await one.shared.add_statements(1, hashes, 1024))
    new = await one.shared.add_statements(2, hashes[::-1], 1 << 10)
    assert not any(new[:4])
    assert 3900 <= sum(new) < 5000
