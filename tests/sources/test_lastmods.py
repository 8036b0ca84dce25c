"""What sitemaps say of changes, and when it is believed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.sources.sitemaps import Advice, Lastmods, latest_of, seconds_of

DAY = 86_400
HOST = "d.example"
URL = f"http://{HOST}/a"


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@pytest.mark.parametrize(
    ("date", "latest"),
    [
        ("2024-02-03T04:05:06Z", at("2024-02-03T04:05:06")),
        ("2024-02-03T04:05:06+01:00", at("2024-02-03T03:05:06")),
        ("2024-02-03", at("2024-02-04")),
        ("2024-02", at("2024-03-03")),
        ("2024", at("2025-01-01")),
        ("yesterday", 0),
        ("", 0),
    ],
)
def test_a_date_may_mean_any_moment_of_what_it_names(date: str, latest: int) -> None:
    assert latest_of(date) == latest
    assert latest_of(date) >= seconds_of(date)


@given(st.dates(), st.sampled_from(["%Y", "%Y-%m", "%Y-%m-%d"]), st.integers(0, DAY - 1))
def test_no_change_lies_behind_the_latest_moment(day, form: str, second: int) -> None:  # type: ignore[no-untyped-def]
    if day.year < 1970:
        return
    changed = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) + second
    latest = latest_of(day.strftime(form).rjust(len("2024-01-01"[: len(day.strftime(form))]), "0"))
    assert latest == 0 or changed <= latest


def advice(lastmod: int, visited: float, share: float = 0.0) -> Advice:
    dates = Lastmods(share)
    dates.note({URL: lastmod})
    return dates.advise(URL, HOST, visited)


def test_what_was_visited_a_day_after_its_change_is_left_out() -> None:
    assert advice(1000 * DAY, 1001 * DAY) is Advice.SKIP
    assert advice(1000 * DAY, 1001 * DAY - 1) is Advice.ASK
    assert advice(1000 * DAY, 999 * DAY) is Advice.ASK


def test_what_no_sitemap_tells_of_and_what_was_missing_is_asked_for() -> None:
    dates = Lastmods(0.0)
    assert dates.advise(URL, HOST, 1e9) is Advice.ASK
    dates.note({URL: 1})
    assert dates.advise(URL, HOST, 0) is Advice.ASK


def test_of_two_dates_the_later_counts() -> None:
    dates = Lastmods(0.0)
    dates.note({URL: 2000 * DAY})
    dates.note({URL: 1})
    assert dates.advise(URL, HOST, 1500 * DAY) is Advice.ASK


@given(st.floats(0.01, 1), st.integers(1, 300))
def test_a_share_of_each_host_is_checked_and_its_first_page(share: float, pages: int) -> None:
    dates = Lastmods(share)
    dates.note({f"{URL}{n}": 1 for n in range(pages)})
    told = [dates.advise(f"{URL}{n}", HOST, 1e9) for n in range(pages)]
    assert told[0] is Advice.CHECK
    assert Advice.ASK not in told
    assert abs(told.count(Advice.CHECK) - share * pages) <= 1


def test_without_a_share_nothing_is_checked() -> None:
    assert advice(1, 1e9, 0.0) is Advice.SKIP


def test_a_host_that_lied_is_asked_for_everything_and_no_other() -> None:
    dates = Lastmods(0.0, ["old.example"])
    other = "http://e.example/a"
    dates.note({URL: 1, other: 1, "http://old.example/": 1})
    assert dates.disbelieve(HOST)
    assert not dates.disbelieve(HOST)
    assert dates.advise(URL, HOST, 1e9) is Advice.ASK
    assert dates.advise(other, "e.example", 1e9) is Advice.SKIP
    assert dates.advise("http://old.example/", "old.example", 1e9) is Advice.ASK
    assert list(dates.liars) == ["old.example", HOST]
