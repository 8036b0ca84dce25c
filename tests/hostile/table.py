"""Prints what the hostile web and the cloud measure, as tables in Markdown.

    python tests/hostile/table.py [NAME …]

Names are those of worlds; without any all are run, one after the other.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from hostile.run import Figures, measure
from hostile.worlds import WORLDS

HEAD = (
    "| world | good documents | longest stall | peak memory | time | against alone | records | |\n"
    "|---|---|---|---|---|---|---|---|"
)


def row(figures: Figures) -> str:
    """One world's line of the table."""
    broken = "; ".join(figures.broken()) or "holds"
    return (
        f"| {figures.world.name} | {figures.had} of {figures.documents} | {figures.stall:.1f} s "
        f"| {figures.memory / 1e6:.0f} MB | {figures.seconds:.1f} s | {figures.ratio:.2f} "
        f"| {figures.records} | {broken} |"
    )


def main(names: list[str]) -> None:
    print(HEAD, flush=True)
    for name in names or WORLDS:
        with tempfile.TemporaryDirectory() as folder:
            print(row(measure(WORLDS[name], Path(folder))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
