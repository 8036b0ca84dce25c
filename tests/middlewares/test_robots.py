"""What a robots.txt says about pace."""

from __future__ import annotations

import pytest
from protego import Protego

from semcrawl.frontier.robots import LONGEST, first_lines
from semcrawl.middlewares.robots import asked_delay


@pytest.mark.parametrize(
    ("rules", "seconds"),
    [
        ("User-agent: *\nDisallow: /x", None),
        ("User-agent: *\nCrawl-delay: 2.5", 2.5),
        ("User-agent: *\nRequest-rate: 1/10s", 10.0),
        ("User-agent: *\nRequest-rate: 4/1m", 15.0),
        ("User-agent: *\nCrawl-delay: 2\nRequest-rate: 1/5s", 5.0),
        ("User-agent: *\nCrawl-delay: 8\nRequest-rate: 1/5s", 8.0),
        ("User-agent: other\nCrawl-delay: 8\n\nUser-agent: semcrawl\nCrawl-delay: 3", 3.0),
        ("User-agent: *\nCrawl-delay: soon", None),
    ],
)
def test_the_longest_delay_that_is_asked_of_us_counts(rules: str, seconds: float | None) -> None:
    assert asked_delay(Protego.parse(rules), "semcrawl/1.0") == seconds


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_line_that_is_cut_says_nothing(end: bytes) -> None:
    """Its beginning may forbid more than the line does."""
    line = b"Disallow: /private"
    assert first_lines(line + end + line) == line + end + line
    assert first_lines(line + end + line, whole=False) == line + end
    lines = (line + end) * (LONGEST // len(line))
    assert first_lines(lines) == (line + end) * (LONGEST // len(line + end))
