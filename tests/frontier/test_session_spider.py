"""Our spiders are what the scheduler, the middlewares and the acknowledgement expect."""

from __future__ import annotations

import inspect

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from semcrawl.crawl.session import SessionSpider, session_of, spider_of
from semcrawl.spiders.html import HtmlSpider
from semcrawl.spiders.rdf import RdfSpider

MEMBERS = {n: m for n, m in vars(SessionSpider).items() if not n.startswith("_")}


@pytest.mark.parametrize("spider", [HtmlSpider, RdfSpider])
def test_our_spiders_have_all_that_a_session_calls(spider: type[Spider]) -> None:
    for name, member in MEMBERS.items():
        if callable(member):
            wanted = list(inspect.signature(member).parameters)
            assert list(inspect.signature(getattr(spider, name)).parameters) == wanted, name
        else:
            assert hasattr(spider, name), name


def test_spiders_of_others_take_part_in_no_session() -> None:
    crawler = get_crawler(Spider)
    crawler.spider = Spider("another")
    assert spider_of(crawler) is None
    assert session_of(crawler) is None
