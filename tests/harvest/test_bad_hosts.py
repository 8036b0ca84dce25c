"""Hosts that drip, and names that do not exist, hold up no good host."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from harvest.badhosts import DOCUMENTS, World, served
from harvest.runs import start_harvest

pytestmark = pytest.mark.slow

#: six hosts are asked once a second for 120 documents: 20 s, and as much again for a busy machine
LIMIT = 20 * 1.5 + 20

WORLDS = {
    "one robots.txt drips": World(drips=1),
    "twenty hosts drip": World(drips=20),
    "twenty hosts drip after their robots.txt": World(drips=20, robots=False),
    "a thousand names do not exist": World([f"http://n{n}.dead{n}.example/x" for n in range(1000)]),
}


@pytest.mark.parametrize("name", WORLDS)
def test_all_good_documents_are_had_nearly_as_soon(name: str, tmp_path: Path) -> None:
    with served(WORLDS[name]) as world:
        run = start_harvest(
            *(world.seed, "--scope", "any", "-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=1"),
            folder=tmp_path / "out",
        )
        try:
            deadline = time.monotonic() + 2 * LIMIT
            while len(world.had()) < DOCUMENTS:
                assert time.monotonic() < deadline, f"{len(world.had())} documents"
                time.sleep(0.1)
        finally:
            run.kill()
            run.wait()
        had = world.had()
    assert had[-1] - world.log[0][0] < LIMIT
