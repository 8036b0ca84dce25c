"""A crawl fits into the files that its process may open, or does not begin."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from scrapy.settings import Settings

from semcrawl.descriptors import fit_to_limit
from semcrawl.errors import StoreError


def in_a_process(code: str, limits: tuple[int, int]) -> str:
    """Run code with these soft and hard limits of open files; return what it prints."""
    begin = f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, {limits})\n"
    run = subprocess.run(
        [sys.executable, "-c", begin + code], capture_output=True, text=True, check=True
    )
    return run.stdout.strip()


FIT = """
from scrapy.settings import Settings
from semcrawl.descriptors import fit_to_limit
from semcrawl.errors import StoreError
settings = Settings({"CONCURRENT_REQUESTS": 16})
try:
    print(fit_to_limit(settings), settings.getint("CONCURRENT_REQUESTS"))
except StoreError as error:
    print(error)
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.slow
def test_a_low_limit_is_raised_as_far_as_it_may_be() -> None:
    assert in_a_process(FIT, (64, 1024)).splitlines() == ["16", "1024"]


@pytest.mark.slow
def test_what_is_left_of_a_limit_says_how_many_requests_are_sent_at_a_time() -> None:
    told, limit = in_a_process(FIT, (100, 100)).splitlines()
    assert limit == "100"
    assert told.endswith("(ulimit -n): 7 requests are sent at a time instead of 16 7")


@pytest.mark.slow
def test_a_limit_below_what_results_need_is_refused() -> None:
    assert "may have 40 files open at a time (ulimit -n)" in in_a_process(FIT, (40, 40))


def test_a_limit_that_is_high_enough_is_not_told_of() -> None:
    settings = Settings({"CONCURRENT_REQUESTS": 1})
    try:
        assert fit_to_limit(settings) == ""
    except StoreError:
        pytest.skip("this machine allows too few open files")


@pytest.mark.slow
def test_a_crawl_that_could_lose_results_does_not_begin(tmp_path: Path) -> None:
    harvest = f"{sys.executable} -m semcrawl harvest http://x.example/ --out {tmp_path / 'out'}"
    run = subprocess.run(
        ["bash", "-c", f"ulimit -n 40; exec {harvest}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert len(run.stderr.splitlines()) == 1
    assert "ulimit -n" in run.stderr
    assert not (tmp_path / "out").exists()
