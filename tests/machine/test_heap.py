"""Free memory goes back to the system."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

PROGRAM = """
from pathlib import Path
from semcrawl.processes import give_back

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))

before = resident()
pieces = [bytes(3000) for _ in range(30_000)]
last = pieces[-1]
del pieces
held = resident() - before
give_back()
print(held, resident() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_what_is_free_below_something_in_use_goes_back() -> None:
    """Without, a heap keeps all that lies before its last piece in use."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    held, left = map(int, run.stdout.split())
    assert held > 50_000
    assert left < held / 4
