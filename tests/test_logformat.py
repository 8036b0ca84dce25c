"""Log lines that nobody sees are not made."""

import logging

import pytest
from scrapy.http import HtmlResponse, Request
from scrapy.utils.test import get_crawler

from semcrawl.crawl.failures import ItemNotWritten
from semcrawl.logformat import SparingLogFormatter
from semcrawl.terminal import error_handler


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


def test_the_console_shows_outages_and_errors_once(capsys):
    """Of warnings only those that tell why a crawl stands still; a repetition is left out."""
    handler = error_handler()
    for name, level, text in (
        ("semcrawl.frontier.redis.connection", logging.WARNING, "Redis is away"),
        ("semcrawl.frontier.redis.connection", logging.WARNING, "Redis is back"),
        ("semcrawl.other", logging.WARNING, "not for the console"),
        ("semcrawl.crawl.session", logging.ERROR, "Redis is gone"),
        ("semcrawl.spiders.focused", logging.ERROR, "Redis is gone"),
        ("semcrawl.frontier.redis.connection", logging.WARNING, "Redis is away"),
    ):
        handler.handle(logging.makeLogRecord({"name": name, "levelno": level, "msg": text}))
    shown = capsys.readouterr().err.splitlines()
    texts = ("Redis is away", "Redis is back", "Redis is gone", "Redis is away")
    assert shown == [f"semcrawl: {text}" for text in texts]


def test_the_console_tells_once_why_results_are_lost(capsys):
    """A result that a pipeline could not write, or failed at, has no record that says so."""
    handler = error_handler()
    lost = {
        "exception": ItemNotWritten("cannot write quads.nq: No space left on device"),
        "item": "…",
    }
    for _ in range(2):
        handler.handle(_scrapers("Dropped: %(exception)s\n%(item)s", lost))
        handler.handle(_scrapers("Error processing %(item)s", {"item": "…"}, KeyError("name")))
    handler.handle(_scrapers("Spider error processing %(request)s", {"request": "…"}))
    assert capsys.readouterr().err.splitlines() == [
        "semcrawl: a result is lost: cannot write quads.nq: No space left on device",
        "semcrawl: a result is lost: KeyError: 'name'",
    ]


def _scrapers(msg, args, error=None):
    exc_info = (type(error), error, None) if error else None
    return logging.makeLogRecord(
        {"name": "scrapy.core.scraper", "levelno": logging.ERROR, "msg": msg, "args": args}
        | {"exc_info": exc_info}
    )
