"""Live crawls of the tests are forks of a process that has loaded the program."""

from __future__ import annotations

from subprocess import TimeoutExpired
from types import SimpleNamespace

import forks
import pytest

from semcrawl.lab import live


@pytest.fixture(autouse=True)
def crawls_are_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loading takes two thirds of a small crawl; ``test_commands`` has one that is no fork."""
    forking = SimpleNamespace(run=forks.run, TimeoutExpired=TimeoutExpired)
    monkeypatch.setattr(live, "subprocess", forking)
