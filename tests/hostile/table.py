"""Measures the cloud and the hostile web, and prints both as tables in Markdown.

    python tests/hostile/table.py [NAME …]

Names are those of worlds, and ``cloud``; without any all are measured, one after the other.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))

from hostile.cloud.run import Measured, by_one_worker, by_two_workers
from hostile.run import Figures, measure
from hostile.worlds import WORLDS

WORLDS_HEAD = """
| world | what is wrong there | documents | stall | memory | time | against alone | bounds |
|---|---|---|---|---|---|---|---|"""
CLOUD_HEAD = """
| | recall | precision | disallowed | gaps too short | requests | time | bounds |
|---|---|---|---|---|---|---|---|"""


def world_row(figures: Figures) -> str:
    """One world's line."""
    return (
        f"| {figures.world.name} | {figures.world.about} | {figures.had} of {figures.documents} "
        f"| {figures.stall:.1f} s | {figures.memory / 1e6:.0f} MB | {figures.seconds:.1f} s "
        f"| {figures.ratio:.2f} | {_held(figures.broken())} |"
    )


def cloud_row(name: str, crawl: Measured) -> str:
    """One crawl of the cloud."""
    return (
        f"| {name} | {crawl.right} of {crawl.wanted} | {crawl.right} of {crawl.had} "
        f"| {len(crawl.disallowed) + len(crawl.outside)} | {len(crawl.short)} of {crawl.gaps} "
        f"| {crawl.requests} (least: {crawl.truth.requests}) "
        f"| {crawl.seconds:.1f} s, {crawl.ratio:.2f} of {crawl.truth.forced:.1f} s "
        f"| {_held(crawl.broken())} |"
    )


def _held(broken: list[str]) -> str:
    return "; ".join(broken) or "hold"


def main(names: list[str]) -> None:
    """Measure what is named."""
    if not names or "cloud" in names:
        print(CLOUD_HEAD, flush=True)
        for name, crawl in (("one worker", by_one_worker), ("two workers", by_two_workers)):
            with tempfile.TemporaryDirectory() as folder:
                print(cloud_row(name, crawl(Path(folder))), flush=True)
    worlds = [name for name in names or WORLDS if name != "cloud"]
    if worlds:
        print(WORLDS_HEAD, flush=True)
    for name in worlds:
        with tempfile.TemporaryDirectory() as folder:
            print(world_row(measure(WORLDS[name], Path(folder))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
