"""The pace that a robots.txt asks for."""

from __future__ import annotations

import tracemalloc
from math import inf

import pytest
from protego import Protego

from semcrawl.crawl.sharedrobots import LONGEST, first_lines, parsed_size
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
        ("User-agent: *\nRequest-rate: 1/" + "9" * 400, inf),
        ("User-agent: *\nRequest-rate: " + "9" * 400 + "/1", 0.0),
    ],
)
def test_the_longest_delay_that_is_asked_of_us_counts(rules: str, seconds: float | None) -> None:
    assert asked_delay(Protego.parse(rules), "semcrawl/1.0") == seconds


@pytest.mark.parametrize(
    "line",
    [
        "Disallow: /some/path/{0:06}/",
        "Disallow: /{0}",
        "Disallow: /*/{0:06}*x$",
        "User-agent: bot{0}\nDisallow: /some/path/{0:06}/",
        "Sitemap: http://a.example/{0}",
    ],
)
def test_what_parsed_rules_take_is_estimated(line: str) -> None:
    """Within a factor of three, and hardly ever less than they take."""
    rules = "User-agent: *\n" + "\n".join(line.format(number) for number in range(3000))
    tracemalloc.start()
    try:
        parsed = Protego.parse(rules)
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert parsed is not None
    assert 0.8 * taken < parsed_size(rules.encode()) < 3 * taken + 3000 * 300


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_line_that_is_cut_says_nothing(end: bytes) -> None:
    """Its beginning may forbid more than the line does."""
    line = b"Disallow: /private"
    assert first_lines(line + end + line) == line + end + line
    assert first_lines(line + end + line, whole=False) == line + end
    lines = (line + end) * (LONGEST // len(line))
    assert first_lines(lines) == (line + end) * (LONGEST // len(line + end))
