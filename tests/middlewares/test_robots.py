"""The pace that a robots.txt asks for."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from math import inf

import pytest
from protego import Protego

from semcrawl.crawl.sharedrobots import LONGEST, first_lines, parsed_size
from semcrawl.middlewares.robots import asked_delay
from semcrawl.sources import named_sitemaps
from semcrawl.web.robots import for_robot, names_of, plain_rules


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


AGENT = "semcrawl/1.0 (+https://sem.example/bot)"


def allows(rules: bytes, path: str, agent: str = AGENT) -> bool:
    text = for_robot(plain_rules(rules, LONGEST)[0].decode("utf-8-sig"), names_of(agent))
    return bool(Protego.parse(text).can_fetch(f"http://a.example{path}", agent))


@pytest.mark.parametrize(
    "name", ["semcrawl", "SemCrawl/1.0", "SEMCRAWL 2", " semcrawl # us", "semcrawl*"]
)
@pytest.mark.parametrize("field", ["User-agent", "USER-AGENT ", "useragent", "  User-Agent"])
def test_our_name_counts_in_every_spelling(name: str, field: str) -> None:
    """The version behind it says nothing."""
    rules = f"User-agent: *\nDisallow: /\n\n{field}: {name}\nDisallow: /x".encode()
    assert allows(rules, "/y")
    assert not allows(rules, "/x")


@pytest.mark.parametrize(
    "name", ["sem", "crawl", "semcrawler", "semcrawl-x", "https", "bot", "1.0", "xx"]
)
def test_a_part_of_our_name_is_another_robots(name: str) -> None:
    rules = f"User-agent: {name}\nDisallow: /\n\nUser-agent: *\nDisallow: /x".encode()
    assert allows(rules, "/y")
    assert not allows(rules, "/x")


def test_a_robot_that_calls_itself_a_browser_has_its_own_name_too() -> None:
    agent = "Mozilla/5.0 (compatible; Foobot/1.0; +https://a.example/)"
    assert not allows(b"User-agent: foobot/3\nDisallow: /", "/", agent)
    assert allows(b"User-agent: foo\nDisallow: /", "/", agent)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_rules_in_every_encoding(encoding: str, pack: Callable[[bytes], bytes]) -> None:
    """A file may be packed without saying so, too."""
    rules = pack("User-agent: *\r\nDisallow: /privé\r\nDisallow: /x\r\n".encode(encoding))
    assert allows(rules, "/y")
    assert not allows(rules, "/x")
    assert not allows(rules, "/priv%C3%A9/a")


def test_paths_in_latin_1_are_meant_as_they_are() -> None:
    rules = b"# caf\xc3\xa9\nUser-agent: *\nDisallow: /caf\xe9\nSitemap: http://a.example/\xe9.xml"
    assert not allows(rules, "/caf%E9")
    assert allows(rules, "/caf")
    assert named_sitemaps(plain_rules(rules, LONGEST)[0]) == ["http://a.example/%E9.xml"]


def test_a_packed_file_that_is_cut_or_a_bomb_is_read_up_to_its_limit() -> None:
    packed = gzip.compress(b"User-agent: *\nDisallow: /x\n" + b"#" * 10_000_000)
    assert not plain_rules(packed, 1000)[1]
    assert len(plain_rules(packed, 1000)[0]) == 1000
    assert plain_rules(packed[:-5], 20_000_000)[1] is False
    assert plain_rules(b"\x1f\x8bnonsense", 1000) == (b"", True)


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_a_line_that_is_cut_says_nothing(end: bytes) -> None:
    """Its beginning may forbid more than the line does."""
    line = b"Disallow: /private"
    assert first_lines(line + end + line) == line + end + line
    assert first_lines(line + end + line, whole=False) == line + end
    lines = (line + end) * (LONGEST // len(line))
    assert first_lines(lines) == (line + end) * (LONGEST // len(line + end))
