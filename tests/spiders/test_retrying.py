"""How long servers want to be left alone."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from semcrawl.spiders.redirecting import retry_after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        (" 120 ", 120.0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-3", None),
        ("\u0663", None),
        ("9" * 400, 999_999_999_999.0),
    ],
)
def test_a_header_names_seconds_or_nothing_that_counts(value: str, seconds: float | None) -> None:
    assert retry_after(value) == seconds


def test_a_date_to_come_is_as_many_seconds_away() -> None:
    date = formatdate(time.time() + 3600, usegmt=True)
    assert 3500 < (retry_after(date) or 0) <= 3600


def test_a_date_without_a_zone_is_in_gmt(monkeypatch: pytest.MonkeyPatch) -> None:
    """The form of C's ``asctime`` (RFC 9110, section 5.6.7), wherever the crawler runs."""
    monkeypatch.setenv("TZ", "UTC-3:30")
    time.tzset()
    try:
        date = time.asctime(time.gmtime(time.time() + 3600))
        assert 3500 < (retry_after(date) or 0) <= 3600
    finally:
        monkeypatch.undo()
        time.tzset()
