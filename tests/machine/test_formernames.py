"""Modules found by the names that they had in 0.1.0."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from scrapy.settings import Settings
from scrapy.utils.misc import load_object

from semcrawl.config.components import install
from semcrawl.crawl.scheduler import FrontierScheduler
from semcrawl.download.handler import AiohttpDownloadHandler
from semcrawl.machine.formernames import FORMER


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("former", FORMER)
def test_a_former_name_leads_to_the_present_module(former: str) -> None:
    old, new = load_object(f"{former}.__doc__"), load_object(f"{FORMER[former]}.__doc__")
    assert new
    assert old is None or old == new


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_class_is_the_same_under_both_names() -> None:
    assert load_object("semcrawl.frontier.scheduler.FrontierScheduler") is FrontierScheduler
    for module in ("semcrawl.downloading", "semcrawl.download.handler"):
        assert load_object(f"{module}.CountedDownloadHandler") is AiohttpDownloadHandler


def test_a_component_is_not_placed_twice_for_its_former_name() -> None:
    former = "semcrawl.middlewares.patterns.ExcludedLinksMiddleware"
    settings = Settings({"DOWNLOADER_MIDDLEWARES": {former: None}})
    install(settings)
    placed = settings.getdict("DOWNLOADER_MIDDLEWARES")
    assert placed[former] is None
    assert "semcrawl.middlewares.addresses.ExcludedLinksMiddleware" not in placed


@pytest.mark.parametrize(
    ("former", "present"),
    [
        ("semcrawl.vocabulary.Kind", "semcrawl.web.vocabulary"),
        ("semcrawl.download.handler.CountedDownloadHandler", "AiohttpDownloadHandler"),
    ],
)
def test_a_former_name_is_warned_of_in_one_line(former: str, present: str) -> None:
    module, _, name = former.rpartition(".")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"from {module} import {name}; print({name}.__module__, {name}.__name__)",
        ],
        env={**os.environ, "PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert present in done.stdout
    assert f"is now {present}" in done.stderr
    assert done.stderr.count("is now") == 1
