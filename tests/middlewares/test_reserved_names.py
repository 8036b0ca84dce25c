"""Requests that cannot lead anywhere are not sent, or once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from harvest.runs import harvest
from hostile.server import WebServer
from hostile.worlds.answers import at, document, page

from semcrawl.web.hosts import is_reserved_name

_RESERVED = ["example.com", "www.example.org", "a.b.example.net", "shop.test", "x.y.invalid"]


@pytest.mark.parametrize("host", _RESERVED)
def test_reserved_names(host: str) -> None:
    assert is_reserved_name(host)
    assert is_reserved_name(f"{host.upper()}.")


@pytest.mark.parametrize("host", ["anexample.com", "example.de", "example.com.evil.org", "atest"])
def test_names_that_only_look_reserved(host: str) -> None:
    assert not is_reserved_name(host)


@pytest.mark.slow
def test_reserved_names_are_asked_only_if_a_seed_names_their_domain(tmp_path: Path) -> None:
    """A seed on a domain opens all of it, and no other."""
    links = [f"http://{host}/x.ttl" for host in [*_RESERVED, "www.example.com"]]
    handlers = {"a.example": at({"/": page(links)})} | dict.fromkeys(
        [*_RESERVED, "www.example.com"], at({"/x.ttl": document, "/": document})
    )
    with WebServer(handlers) as server:
        run = harvest(
            *("http://a.example/", "http://www.example.com/", "--fast", "--scope", "any"),
            folder=tmp_path / "out",
            proxy=server.proxy,
        )
    asked = {each.host for each in server.log}
    assert asked == {"a.example", "example.com", "www.example.com"}
    refused = [r for r in run.records if r["outcome"] == "address-refused"]
    assert len(refused) == len(_RESERVED) - 1
    assert all("reserved for examples" in r["errors"] for r in refused)


@pytest.mark.slow
def test_links_to_a_scheme_that_a_host_does_not_have_cost_one_look_up(tmp_path: Path) -> None:
    """There is a proxy for the other only; the same links without the ``s`` are had."""
    paths = [f"/{number}.ttl" for number in range(200)]
    links = [f"{scheme}://a.example{path}" for path in paths for scheme in ("http", "https")]
    handlers = {"a.example": at({"/": page(links)} | dict.fromkeys(paths, document))}
    with WebServer(handlers) as server:
        run = harvest(
            *("http://a.example/", "--fast"),
            folder=tmp_path / "out",
            proxy=server.proxy,
        )
    outcomes = Counter((r["url"].partition(":")[0], r["outcome"]) for r in run.records)
    assert outcomes["http", "fetched-rdf"] == len(paths)
    # those of one moment are looked up together
    assert outcomes["https", "host-down"] >= len(paths) - 16
    assert outcomes["https", "network-error"] <= 32
