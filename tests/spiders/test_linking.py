"""Which links a spider may follow."""

from __future__ import annotations

import pytest

from semcrawl.config.scope import Scope, UrlPatterns
from semcrawl.crawl.policy import LinkPolicy
from semcrawl.frontier.links import LinkState
from semcrawl.links import Link, Page, Reason
from semcrawl.web.robots import RobotsTags

D = "http://d.example/"
PAGE = Page(D, depth=1)
LINKED = LinkState(D, 1)


def policy(
    *, exclude: tuple[str, ...] = (), depth_limit: int = 0, domains: tuple[str, ...] = ()
) -> LinkPolicy:
    scope = Scope.parse("site")
    scope.roots |= Scope.roots_of(D)
    patterns = UrlPatterns.parse((), exclude)
    tags = RobotsTags.parse(["nofollow", "rel-nofollow"], "semcrawl")
    return LinkPolicy(scope, patterns, tags, depth_limit, domains)


def urls(links: list[Link]) -> list[str]:
    return [link.url.removeprefix(D) for link in links]


def test_links_are_sorted_by_the_reason_that_keeps_them_out() -> None:
    links = [
        Link(D + "a"),
        Link(D + "private/b"),
        Link(D + "c", rel="nofollow"),
        Link("mailto:d@d.example"),
        Link("http://e.example/x.ttl"),
    ]
    possible, others = policy(exclude=("*/private/*",), domains=("d.example",)).sort(PAGE, links)
    assert urls(possible) == ["a"]
    assert urls(others[Reason.EXCLUDED]) == ["private/b"]
    assert "http://e.example/x.ttl" in urls(others[Reason.OUT_OF_SCOPE])


def test_the_links_of_the_deepest_pages_are_left_out() -> None:
    assert urls(policy(depth_limit=2).sort(PAGE, [Link(D + "a")])[0]) == ["a"]
    possible, others = policy(depth_limit=1).sort(PAGE, [Link(D + "a")])
    assert not possible
    assert urls(others[Reason.TOO_DEEP]) == ["a"]


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://d.example:8080/x", True),
        ("http://www.d.example/", True),
        ("http://d.example.evil.example/", False),
        ("http://notd.example/", False),
    ],
)
def test_allowed_domains_hold_for_their_hosts_and_all_ports(url: str, allowed: bool) -> None:
    assert policy(domains=("D.example",)).is_allowed(url) == allowed


def test_a_seed_may_be_redirected_off_the_site_and_a_link_may_not() -> None:
    elsewhere = "http://e.example/page"
    assert policy().may_redirect(elsewhere, LinkState())
    assert not policy().may_redirect(elsewhere, LINKED)
    assert not policy(domains=("d.example",)).may_redirect(elsewhere, LinkState())


def test_patterns_of_this_run_exclude_links_that_waited_but_no_seeds() -> None:
    rules = policy(exclude=("*/private/*",))
    assert rules.is_excluded(D + "private/a", LINKED)
    assert not rules.is_excluded(D + "private/a", LinkState())
    assert not rules.is_excluded(D + "a", LINKED)
