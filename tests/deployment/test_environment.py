"""Settings from environment variables."""

from __future__ import annotations

import os
import subprocess
import sys

from semcrawl.config.environment import settings_in


def test_our_settings_and_those_of_scrapy_that_we_set_are_taken() -> None:
    given = {
        "SEMCRAWL_CRAWL_DELAY": "2",
        "CONCURRENT_REQUESTS": "8",
        "REDIS_START_URLS_KEY": "{lod}:%(name)s",
        "SEMCRAWL_WRONG": "1",
    }
    assert settings_in({**given, "HOME": "/", "PATH": "/bin", "FEEDS": "{}"}) == given


def test_an_empty_variable_is_an_empty_text_but_no_number() -> None:
    given = {"SEMCRAWL_CONTACT": "", "SEMCRAWL_EMBEDDED": "", "SEMCRAWL_PAGES": ""}
    assert settings_in(given) == {"SEMCRAWL_CONTACT": "", "SEMCRAWL_EMBEDDED": ""}


def run(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SCRAPY_SETTINGS_MODULE": "semcrawl.config.environment"}
    return subprocess.run(
        [sys.executable, "-m", "semcrawl", *command],
        env={**environment, **variables}, capture_output=True, text=True,
    )  # fmt: skip


def test_commands_go_by_them_and_refuse_wrong_ones() -> None:
    done = run("version", SEMCRAWL_CRAWL_DELYA="1")
    assert done.returncode == 2
    assert done.stderr == (
        "semcrawl: there is no setting SEMCRAWL_CRAWL_DELYA; did you mean SEMCRAWL_CRAWL_DELAY?\n"
    )
