"""Log lines that nobody sees are not made."""

import pytest
from scrapy.http import HtmlResponse, Request
from scrapy.utils.test import get_crawler

from semcrawl.logformat import SparingLogFormatter


@pytest.mark.parametrize(
    ("level", "made"), [("DEBUG", True), (10, True), ("INFO", False), ("WARNING", False)]
)
def test_lines_per_page_are_made_when_the_level_shows_them(level, made):
    """A response and an item are told of at level DEBUG only."""
    formatter = SparingLogFormatter.from_crawler(get_crawler(settings_dict={"LOG_LEVEL": level}))
    request = Request("http://a.org/")
    response = HtmlResponse("http://a.org/", request=request)
    assert (formatter.crawled(request, response, None) is not None) == made
    assert (formatter.scraped({}, response, None) is not None) == made
