"""Which event loop our commands crawl on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from harvest.runs import semcrawl

OWN = "asyncio.SelectorEventLoop"
#: nothing listens there
SEED = "http://127.0.0.1:9/"

pytestmark = pytest.mark.slow


def loop_of(*command: str, folder: Path) -> str:
    """The event loop that a run's log of level DEBUG tells of."""
    log = folder / "debug.log"
    semcrawl(*command, "-s", "LOG_LEVEL=DEBUG", "-s", f"LOG_FILE={log}", folder=folder / "job")
    lines = log.read_text().splitlines()
    return next(line.rpartition(" ")[2] for line in lines if "Using asyncio event loop" in line)


HARVEST = ("harvest", SEED, "--fast", "--out", "job")
CRAWL = ("crawl", "html", "-a", f"seeds={SEED}", "-s", "SEMCRAWL_ALLOW_PRIVATE_ADDRESSES=1")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no uvloop for Windows")
@pytest.mark.parametrize("command", [HARVEST, CRAWL])
def test_crawls_run_on_uvloop(command: tuple[str, ...], tmp_path: Path) -> None:
    assert loop_of(*command, folder=tmp_path) == "uvloop.Loop"


def test_a_loop_of_ones_own_goes_before(tmp_path: Path) -> None:
    chosen = ("-s", f"ASYNCIO_EVENT_LOOP={OWN}")
    assert loop_of(*HARVEST, *chosen, folder=tmp_path).endswith("SelectorEventLoop")
