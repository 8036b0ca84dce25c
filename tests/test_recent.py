"""Collections that forget stay small, and forget only what was not used for long."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.recent import Recent


@given(st.integers(2, 20), st.lists(st.tuples(st.integers(0, 30), st.booleans())))
def test_what_was_used_last_is_there_and_no_more_than_is_allowed(
    most: int, uses: list[tuple[int, bool]]
) -> None:
    """Keys are set or looked up; a known one has the value that was set last."""
    recent, plain, order = Recent[int, int](most), dict[int, int](), list[int]()
    for number, (key, sets) in enumerate(uses):
        if sets:
            recent[key] = plain[key] = number
        elif key in recent:
            assert recent[key] == plain[key]
        else:
            continue
        order = [each for each in order if each != key] + [key]
        assert len(recent) <= most + 1
        assert len(set(recent)) == len(recent)
        assert all(each in recent for each in order[-(most // 2) :])


def test_unknown_keys_get_a_new_value_or_none() -> None:
    counts = Recent[str, int](4, int)
    counts["a"] += 1
    counts["a"] += 1
    assert (counts["a"], counts["b"], counts.pop("a"), len(counts)) == (2, 0, 2, 1)
    with pytest.raises(KeyError):
        Recent[str, int](4)["a"]
