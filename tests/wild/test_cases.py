"""Crawls of a tiny server that a reader of public bug reports wrote down."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import SHARED

CRAWLS = SHARED / "cases" / "crawl.py"


@pytest.mark.slow
@pytest.mark.skipif(not CRAWLS.is_file(), reason="needs ../shared/cases")
def test_each_crawl_finds_its_data() -> None:
    """No case of the list misses a statement."""
    program = Path(sys.executable).with_name("semcrawl")
    done = subprocess.run(
        [sys.executable, str(CRAWLS)], env=os.environ | {"SEMCRAWL": str(program)},
        capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    assert [line for line in done.stdout.splitlines() if line.startswith("WRONG")] == []
    assert done.stdout.count("OK") >= 9, done.stdout
