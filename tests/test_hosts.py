"""Hosts of URLs, and what is told of them by their names."""

from __future__ import annotations

import pytest

from semcrawl.web.hosts import domain_key, host_of, is_private_address, netloc_of, pay_level_domain


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("ceosys.github.io", "ceosys.github.io"),
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("a.b.demo.example", "demo.example"),
        ("A.ORG.", "a.org"),
    ],
)
def test_pay_level_domains(host, domain):
    """The registered part of a host name, by the public suffix list."""
    assert pay_level_domain(host) == domain


def test_addresses_of_inner_networks_are_told():
    """Loopback, private and link-local addresses are private; names and public ones are not."""
    for host in ("127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.1.1", "[::1]", "localhost"):
        assert is_private_address(host)
    for host in ("8.8.8.8", "example.org", "[2606:4700::1]"):
        assert not is_private_address(host)


@pytest.mark.parametrize(
    ("host", "private"),
    [
        ("[::ffff:127.0.0.1]", True),
        ("[::ffff:8.8.8.8]", False),
        ("[64:ff9b::10.1.2.3]", True),
        ("[64:ff9b::8.8.8.8]", False),
        ("[2002:a01:203::1]", True),
        ("[2002:808:808::1]", False),
        ("[fec0::1]", True),
        ("[fd00::1]", True),
    ],
)
def test_addresses_of_inner_networks_are_told_in_version_6_too(host, private):
    """Among them those that stand for an address of version 4."""
    assert is_private_address(host) is private


def test_the_host_of_a_url():
    """It is lower-case and without port; what is no URL has none."""
    assert host_of("http://A.org:80/x") == "a.org"
    assert host_of("http://[") == host_of("x") == ""
    assert netloc_of("http://a.org:8080/x") == "a.org:8080"
    assert netloc_of("x") == ""


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://a.b.example.org/x", "example.org"),
        ("https://example.org:8080/x", "example.org"),
        ("http://someone.github.io/x", "someone.github.io"),
        ("http://a.blogspot.com/x", "a.blogspot.com"),
        ("http://a.b.co.uk/x", "b.co.uk"),
        ("http://8.8.8.8:81/x", "8.8.8.8"),
        ("http://[2a01:4f8:1:2::3]:81/x", "2a01:4f8:1::/48"),
        ("http://[2a01:4f8:1:9::3]/x", "2a01:4f8:1::/48"),
        ("http://[::ffff:8.8.8.8]/x", "8.8.8.8"),
        ("http://127.0.0.1:8001/x", "127.0.0.1:8001"),
        ("http://[::1]:8001/x", "[::1]:8001"),
        ("http://data.corp.internal:81/x", "data.corp.internal:81"),
        ("http://co.uk/x", "co.uk"),
    ],
)
def test_units_that_cost_money(url: str, key: str) -> None:
    """Of public hosts these are the registered domain or address; private ones stand alone."""
    assert domain_key(url) == key
