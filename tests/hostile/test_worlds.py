"""A hostile web beside good hosts: they are had, soon, in little memory, and all is recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from hostile.run import measure, seconds_alone
from hostile.worlds import WORLDS
from hostile.worlds.slow import SILENT_SEEDS

pytestmark = pytest.mark.slow


def test_silent_hosts_in_front_keep_no_document_away(tmp_path: Path) -> None:
    """They are met first, and the others soon after; memory and records hold as everywhere."""
    figures = measure(WORLDS[SILENT_SEEDS], tmp_path, limit=180)
    assert figures.broken() == figures.late()


@pytest.mark.parametrize("name", sorted(WORLDS.keys() - {SILENT_SEEDS}))
def test_good_hosts_are_harvested_beside_bad_ones(name: str, tmp_path: Path) -> None:
    """A world that is late on a busy machine gets a second try."""
    (tmp_path / "first").mkdir()
    figures = measure(WORLDS[name], tmp_path / "first")
    if figures.late() == figures.broken() != []:
        seconds_alone.cache_clear()
        (tmp_path / "second").mkdir()
        figures = measure(WORLDS[name], tmp_path / "second")
    assert not figures.broken()
