"""Modules found by the names that they had in 0.1.0."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from scrapy.utils.misc import load_object

from semcrawl.crawl.scheduler import FrontierScheduler
from semcrawl.download.handler import CountedDownloadHandler
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
    handler = load_object("semcrawl.downloading.CountedDownloadHandler")
    assert handler is CountedDownloadHandler


def test_a_former_name_is_warned_of_in_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from semcrawl.vocabulary import Kind; print(Kind.__module__)"],
        env={**os.environ, "PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "semcrawl.web.vocabulary\n"
    assert "semcrawl.vocabulary is now semcrawl.web.vocabulary" in done.stderr
    assert done.stderr.count("is now") == 1
