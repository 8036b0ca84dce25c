"""Which addresses nothing is sent to."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.http import Request
from scrapy.utils.test import get_crawler

from semcrawl.config.scope import Scope
from semcrawl.crawl.attempt import ATTEMPT, ROBOTS
from semcrawl.crawl.downloadhandler import PublicResolver
from semcrawl.crawl.failures import AddressRefused
from semcrawl.middlewares.addresses import PrivateAddressMiddleware


def refuses(url: str, *seeds: str, scope: str = "site", **settings: bool) -> bool:
    crawler: Any = get_crawler(
        settings_dict={"SEMCRAWL_ALLOW_PRIVATE_ADDRESSES": False, **settings}
    )
    places = Scope.parse(scope)
    for seed in seeds:
        places.named |= Scope.roots_of(seed)
    crawler.spider = SimpleNamespace(scope=places)
    try:
        PrivateAddressMiddleware.from_crawler(crawler).process_request(Request(url))
    except AddressRefused:
        return True
    return False


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/", "http://[::1]:8080/", "https://localhost/", "http://x.localhost/"]
)
def test_private_addresses_are_refused_unless_a_seed_or_the_scope_names_them(url: str) -> None:
    host = url.split("/")[2]
    assert refuses(url, "http://a.example/")
    assert not refuses(url, "http://a.example/", url)
    assert not refuses(url, "http://a.example/", scope=f"a.example,{host}")
    assert refuses(url, "http://a.example/", scope="a.example,10.0.0.2")
    assert not refuses(url, SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=True)


def test_a_seed_that_the_user_did_not_name_opens_no_private_address() -> None:
    """Whoever writes to the Redis list of seeds widens the scope, and no more than that."""
    crawler: Any = get_crawler()
    places = Scope.parse("site")
    places.roots |= Scope.roots_of("http://10.0.0.1/")
    crawler.spider = SimpleNamespace(scope=places)
    with pytest.raises(AddressRefused):
        PrivateAddressMiddleware.from_crawler(crawler).process_request(Request("http://10.0.0.1/"))


def test_a_request_of_ones_own_that_is_refused_is_told_of_once(caplog: Any) -> None:
    crawler: Any = get_crawler()
    part = PrivateAddressMiddleware.from_crawler(crawler)
    error = AddressRefused("10.0.0.1 is a private address")
    for meta in ({}, {}, {ROBOTS: True}, {ATTEMPT: object()}):
        part.process_exception(Request("http://10.0.0.1/a", meta=meta), error)
    part.process_exception(Request("http://10.0.0.2/", meta={ATTEMPT: object()}), error)
    (line,) = caplog.messages
    assert line.startswith("http://10.0.0.1/a is not requested: 10.0.0.1 is a private address")


def test_public_ones_are_not() -> None:
    assert not refuses("http://8.8.8.8/", "http://a.example/")


async def test_a_name_that_resolves_to_a_private_address_is_refused_until_it_is_asked_for() -> None:
    asked_for: set[str] = set()
    resolver = PublicResolver(asked_for.__contains__, timeout=10)
    for _ in range(2):
        with pytest.raises(AddressRefused, match=r"LOCALHOST has the private address (127|::1)"):
            await resolver.resolve("LOCALHOST", 80)
    asked_for.add("localhost")
    assert await resolver.resolve("LOCALHOST", 80)


async def test_a_name_that_does_not_exist_is_looked_up_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For a time; what the resolver only failed to find out is looked up again."""
    asked: list[str] = []
    answers = {"missing.example": socket.EAI_NONAME, "later.example": socket.EAI_AGAIN}

    def look_up(host: str, *rest: object) -> object:
        asked.append(host)
        raise socket.gaierror(answers[host], "no")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    resolver = PublicResolver(lambda name: True, timeout=10)
    for host in ("missing.example", "later.example") * 2:
        with pytest.raises(socket.gaierror) as error:
            await resolver.resolve(host, 80)
        assert error.value.errno == answers[host]
    assert asked == ["missing.example", "later.example", "later.example"]


@pytest.mark.slow
def test_another_spider_of_the_project_says_why_nothing_was_asked(tmp_path: Path) -> None:
    """Such as the one of ``scrapy bench``, which crawls a server of its own."""
    spider = tmp_path / "other.py"
    spider.write_text(
        "from scrapy import Spider\n\n\n"
        "class Other(Spider):\n"
        '    name = "other"\n'
        '    start_urls = ["http://localhost:9/"]\n'
    )
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "runspider", str(spider)],
        env=os.environ | {"SCRAPY_SETTINGS_MODULE": "semcrawl.settings"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.count("is not requested: localhost is a private address") == 1
