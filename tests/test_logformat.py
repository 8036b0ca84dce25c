"""Log lines that nobody sees are not made; the others are text or JSON, in files that rotate."""

import json
import logging
import os
import sys
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from harvest.runs import harvest
from scrapy.http import HtmlResponse, Request
from scrapy.utils.test import get_crawler

from semcrawl.crawl.failures import ItemNotWritten
from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.logformat import (
    EvenLogStats,
    JsonLines,
    PrintableRecord,
    RotatingLog,
    SparingLogFormatter,
)
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


def record(message: str, *args: object, **more: object) -> logging.LogRecord:
    made = PrintableRecord("a.b", logging.WARNING, "", 0, message, args, None)
    made.__dict__.update(more)
    return made


def test_a_record_is_one_line_of_json() -> None:
    try:
        raise ValueError("two\nlines \ud800")
    except ValueError:
        fault = sys.exc_info()
    args = {"request": Request("http://x.example/ö")}
    made = record("a\nb\x1b[0m", exc_info=fault, spider=SimpleNamespace(name="html"))
    made.args = args
    line = JsonLines().format(made)
    assert "\n" not in line
    found = json.loads(line)
    assert found.pop("traceback").startswith("Traceback")
    assert datetime.fromisoformat(found.pop("time")).timestamp() == pytest.approx(
        made.created, abs=1
    )
    assert found == {
        "level": "WARNING",
        "logger": "a.b",
        "message": made.getMessage(),
        "process": os.getpid(),
        "spider": "html",
        "url": "http://x.example/%C3%B6",
        "error": "ValueError: two\nlines \ud800",
    }


def test_a_log_that_several_write_rotates_without_loss(tmp_path: Path) -> None:
    path = tmp_path / "crawl.log"
    logs = [RotatingLog(str(path), 200, None) for _ in range(3)]
    for number in range(60):
        logs[number % 3].emit(record("line %d", number))
    for log in logs:
        log.close()
    files = sorted(tmp_path.iterdir(), key=lambda file: file.name, reverse=True)
    assert len(files) == 3  # crawl.log.2 is the oldest
    lines = [line for file in files for line in file.read_text().splitlines()]
    assert lines == [f"line {number}" for number in range(60)]
    assert all(file.stat().st_size <= 220 for file in files)


def test_five_files_are_kept(tmp_path: Path) -> None:
    log = RotatingLog(str(tmp_path / "crawl.log"), 1, None)
    for number in range(20):
        log.emit(record("line %d", number))
    log.close()
    assert {file.name for file in tmp_path.iterdir()} == {f"crawl.log.{n}" for n in range(1, 6)}
    assert (tmp_path / "crawl.log.1").read_text() == "line 19\n"


def test_a_timer_that_wakes_early_logs_once(caplog: pytest.LogCaptureFixture) -> None:
    stats = SimpleNamespace(get_value=lambda name, default=None: pages)
    log = EvenLogStats(stats, 60.0)
    log.pagesprev = log.itemsprev = 0
    with caplog.at_level(logging.INFO):
        pages = 0
        log.log(None)
        assert not caplog.records
        log = EvenLogStats(stats, 60.0)
        log.pagesprev = log.itemsprev = 0
        pages = 3
        for _ in range(30):
            log.log(None)
    [only] = caplog.records
    assert only.getMessage().startswith("Crawled 3 pages (at 3 pages/min)")


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_every_line_of_a_crawls_log_is_json(workers: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serve(DemoWeb()) as server:
        arguments = (DemoWeb.start, "--fast", "--pages", "20", "--workers", workers)
        run = harvest(*arguments, "-s", "SEMCRAWL_LOG_AS=json", folder=out, proxy=server.proxy_url)
    assert run.status == 0, run.err
    records = [json.loads(line) for line in (out / "crawl.log").read_text().splitlines()]
    assert any(each["message"].startswith("Spider closed") for each in records)
    assert len({each["process"] for each in records}) >= int(workers)
    assert {each.get("spider") for each in records} >= {"html", "rdf"}
