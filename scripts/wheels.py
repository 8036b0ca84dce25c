"""Check that every core dependency has a wheel: for which systems and Pythons nothing is compiled.

    python scripts/wheels.py

Resolves the dependencies of pyproject.toml, without extras, for each system and version of Python,
wheels only. Prints a table. The status is 1 if a wheel is missing elsewhere than on musl, 2 if the
registry could not be asked.
"""

from __future__ import annotations

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.table import Table

PROJECT = Path(__file__).parents[1]
#: name and target triple of each system
SYSTEMS = {
    "Linux x86-64": "x86_64-unknown-linux-gnu",
    "Linux x86-64 (musl)": "x86_64-unknown-linux-musl",
    "Linux ARM": "aarch64-unknown-linux-gnu",
    "Linux ARM (musl)": "aarch64-unknown-linux-musl",
    "macOS Intel": "x86_64-apple-darwin",
    "macOS ARM": "aarch64-apple-darwin",
    "Windows": "x86_64-pc-windows-msvc",
}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


#: systems that may want a compiler
TOLERATED = "(musl)"
#: how the name of a distribution begins in what uv says of one without wheels
_NAME = re.compile(
    r"^\s*(?:cause: |Because )*(?:all of:)?\s*([a-z][a-z0-9-]*)(?:[<>=!]| has no)", re.M
)


def missing(system: str, python: str) -> list[str]:
    """Return the distributions that have no wheel for a system and a Python."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--only-binary", ":all:"]
    command += ["--python-platform", SYSTEMS[system], "--python-version", python, "pyproject.toml"]
    found: list[str] = []
    while True:
        built = [option for name in found for option in ("--no-binary", name)]
        done = subprocess.run(  # noqa: S603 - our own command
            [*command, *built], capture_output=True, text=True, cwd=PROJECT
        )
        if done.returncode == 0:
            return found
        name = _NAME.search(done.stderr)
        if name is None or name[1] in found or "usable wheels" not in done.stderr:
            raise OSError(done.stderr.strip() or "no answer")
        found.append(name[1])


def main() -> int:
    """Check all, print the table."""
    places = [(system, python) for system in SYSTEMS for python in PYTHONS]
    try:
        with ThreadPoolExecutor(14) as threads:
            answers = list(threads.map(lambda place: missing(*place), places))
    except OSError as error:
        print(error, file=sys.stderr)
        return 2
    found = dict(zip(places, answers, strict=True))
    table = Table("system", *PYTHONS, title="core dependencies without a wheel")
    for system in SYSTEMS:
        table.add_row(system, *(", ".join(found[system, python]) or "-" for python in PYTHONS))
    Console(width=120).print(table)
    return any(names for (system, _), names in found.items() if TOLERATED not in system)


if __name__ == "__main__":
    sys.exit(main())
