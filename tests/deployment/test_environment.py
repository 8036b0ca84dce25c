"""Settings from environment variables."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from scrapy.settings import Settings

from semcrawl.addon import Addon
from semcrawl.config.checks import check_settings
from semcrawl.config.environment import settings_in, take_environment
from semcrawl.errors import UsageError
from semcrawl.spiders.html import HtmlSpider


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


@pytest.mark.slow
def test_commands_go_by_them_and_refuse_wrong_ones() -> None:
    done = run("version", SEMCRAWL_CRAWL_DELYA="1")
    assert done.returncode == 2
    assert done.stderr == (
        "semcrawl: there is no setting SEMCRAWL_CRAWL_DELYA; did you mean SEMCRAWL_CRAWL_DELAY?\n"
    )


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("SEMCRAWL_MAX_DEPTH", "SEMCRAWL_"), ("SEMCRAWL_X", "SEMCRAWL_"), ("SEMCRAWL_PAGE", "PAGES")],
)
def test_names_that_are_no_setting_are_refused_everywhere(name: str, nearest: str) -> None:
    """On the command line, in settings files and in the environment; the nearest name is told."""
    said = f"there is no setting {name}; did you mean .*{nearest}"
    with pytest.raises(UsageError, match=said):
        check_settings(Settings({name: "2"}))
    for take in Addon().update_settings, HtmlSpider.update_settings:
        with pytest.raises(UsageError, match=said):
            take(Settings({name: 2}))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(name, "2")
        with pytest.raises(UsageError, match=said):
            take_environment(Settings())


def test_the_environment_replaces_defaults_and_nothing_else(monkeypatch) -> None:
    """Whether a command or Scrapy starts the crawl."""
    for name in ("PAGES", "PATIENCE", "CRAWL_DELAY"):
        monkeypatch.setenv(f"SEMCRAWL_{name}", "7")
    for module in (None, "semcrawl.settings"):
        for take in take_environment, Addon().update_settings, HtmlSpider.update_settings:
            settings = Settings({"SEMCRAWL_PATIENCE": 3})
            settings.set("SEMCRAWL_CRAWL_DELAY", 5, "cmdline")
            if module:
                settings.setmodule(module, "default")
            take(settings)
            found = [settings.getint(f"SEMCRAWL_{n}") for n in ("PAGES", "PATIENCE", "CRAWL_DELAY")]
            assert found == [7, 3, 5]


def test_a_clone_takes_the_environment_too(monkeypatch) -> None:
    """Its settings file is the one with the defaults."""
    monkeypatch.setenv("SEMCRAWL_PAGES", "7")
    settings = Settings()
    settings.setmodule("semcrawl.settings", "project")
    HtmlSpider.update_settings(settings)
    assert settings.getint("SEMCRAWL_PAGES") == 7


def test_variables_of_services_are_no_settings() -> None:
    """Kubernetes makes them for each service, also for one that is called `semcrawl-redis`."""
    names = ("PORT", "SERVICE_HOST", "REDIS_SERVICE_PORT", "REDIS_PORT_6379_TCP_ADDR")
    assert settings_in({f"SEMCRAWL_{name}": "tcp://10.0.0.1:80" for name in names}) == {}
    assert settings_in({"SEMCRAWL_PING_PORT": "8000"}) == {"SEMCRAWL_PING_PORT": "8000"}


def test_the_extra_all_has_every_part_that_users_install() -> None:
    """Those for development are no parts of the program."""
    with (Path(__file__).parents[2] / "pyproject.toml").open("rb") as file:
        extras = tomllib.load(file)["project"]["optional-dependencies"]
    [named] = extras["all"]
    parts = set(named.removeprefix("semcrawl[").removesuffix("]").split(","))
    assert parts == set(extras) - {"all", "bench", "dev", "docs", "test"}
