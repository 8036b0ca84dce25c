"""Large robots.txt files say of every URL what Protego says of them."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from semcrawl.web.robots import LargeRules

AGENT = "semcrawl/1.0"
PIECES = [
    *("/", "a", "B", "%41", "%2f", "%C3%A4", "ä", "*", "$", "?", "=", "&", ";", "//", "index.html"),
    *(
        ".",
        "..",
        "%2E",
        "%69ndex.html",
        "-",
        "~",
        "+",
        " ",
        "x.html",
        "http://h.example",
        "%",
        "!",
        ":",
    ),
]
paths = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
names = st.sampled_from(
    ["Allow", "Disallow", "disallow ", "Dissallow", "User-agent", "Crawl-delay", "Sitemap", "#", ""]
)
agents = st.sampled_from(["*", "semcrawl", "other", "semcrawl*", ""])
lines = st.one_of(
    st.tuples(names, paths).map(": ".join),
    agents.map("User-agent: {}".format),
    st.tuples(st.sampled_from(["Allow", "Disallow"]), paths).map(
        lambda one: f"{one[0]}: /{one[1]}"
    ),
)
urls = paths.map("http://h.example/{}".format)


@given(st.lists(lines, max_size=12), st.lists(urls, min_size=1, max_size=6))
@example(["User-agent: *", "Disallow: /a", "Allow: /a/index.html"], ["http://h.example/a/"])
@example(["User-agent: x", "Disallow: /b", "User-agent: *", "Disallow: /a"], ["http://h.example/a"])
@example(["User-agent: *", "Disallow: *B"], ["http://h.example/+"])
@example(["User-agent: *", "Disallow: http://other.example/a"], ["http://h.example/a"])
def test_a_url_is_allowed_or_not_as_by_the_whole_file(rules: list[str], asked: list[str]) -> None:
    text = "\n".join(rules)
    whole, large = Protego.parse(text), LargeRules(text)
    assert Protego.parse(large.for_url("")).crawl_delay(AGENT) == whole.crawl_delay(AGENT)
    for url in asked:
        told = Protego.parse(large.for_url(url)).can_fetch(url, AGENT)
        assert told == whole.can_fetch(url, AGENT), url


def test_what_a_url_cannot_match_is_left_out() -> None:
    rules = ["User-agent: *", *(f"Disallow: /*/{number:05}*x$" for number in range(10_000))]
    large = LargeRules("\n".join(rules))
    assert large.for_url("http://h.example/a/00042/x").splitlines() == [
        *("User-agent: *", "Disallow:", "Disallow: /*/00042*x$")
    ]
    assert large.size < 1_000_000
