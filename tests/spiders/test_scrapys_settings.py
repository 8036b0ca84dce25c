"""Scrapy's settings that have no effect on our spiders: a line says so, and the docs."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.settings import Settings

from semcrawl.commands._run import check_crawl
from semcrawl.config.checks import unheeded
from semcrawl.config.components import install

CONCEPTS = Path(__file__).parents[2] / "docs" / "concepts.md"


def test_only_those_on_the_command_line_get_a_line() -> None:
    """A project's template sets some of them, for spiders of its own."""
    settings = Settings({"CONCURRENT_REQUESTS_PER_DOMAIN": 1, "DEPTH_PRIORITY": 1})
    assert unheeded(settings) == []
    settings.set("DEPTH_PRIORITY", "1", "cmdline")
    (line,) = unheeded(settings)
    assert line.startswith("DEPTH_PRIORITY has no effect here; ")


def test_a_crawl_says_so_and_the_docs_list_them(capsys) -> None:
    documented = CONCEPTS.read_text("utf-8").partition("| no effect | instead |")[2]
    names = {word.strip("`") for word in documented.split("\n\n")[0].replace(",", " ").split()}
    known = [name for name in names if name.isupper() and not name.startswith("[")]
    settings = Settings()
    settings.setmodule("semcrawl.settings")
    for name in known:
        settings.set(name, "1", "cmdline")
    said = unheeded(settings)
    assert {line.split()[0] for line in said} == set(known) - {"DOWNLOAD_DELAY"}
    check_crawl(settings)
    assert capsys.readouterr().err.splitlines() == [f"semcrawl: {line}" for line in said]


def test_the_frontier_alone_limits_requests_to_an_address() -> None:
    """Scrapy's queue would refuse the setting with three lines."""
    settings = Settings({"CONCURRENT_REQUESTS_PER_IP": 3})
    settings.setmodule("semcrawl.settings", "default")
    install(settings)
    assert settings.getint("CONCURRENT_REQUESTS_PER_IP") == 0


@pytest.mark.parametrize(
    "handler", ["scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler", ""]
)
def test_scrapys_own_handler_keeps_the_failures_that_it_has_tried_again(handler: str) -> None:
    """Without it they are not loaded."""
    settings = Settings({"DOWNLOAD_HANDLERS": {"https": handler}} if handler else {})
    settings.setmodule("semcrawl.settings", "default")
    install(settings)
    tunnel = "scrapy.core.downloader.handlers.http11.TunnelError"
    assert (tunnel in settings.getlist("RETRY_EXCEPTIONS")) is bool(handler)
