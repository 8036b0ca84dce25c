"""Killing workers on one file loses no link and repeats at most what was in flight."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_frontier_kill import RUNS, check, crawl_with_kills


class File:
    """A folder with a frontier, in place of a server."""

    def __init__(self, folder: Path) -> None:
        self.url = f"sqlite:{folder}"

    def kill(self) -> None:
        """There is no server: nothing ends."""

    def start(self) -> None:
        """Nothing starts."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(RUNS))
def test_kills_in_a_crawl_of_5000_pages(tmp_path: Path, seed: int) -> None:
    crawl_with_kills(File(tmp_path), tmp_path / "log", seed)
    check(File(tmp_path), tmp_path / "log")
