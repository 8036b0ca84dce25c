"""The same crawl is the same on every processor."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

ORDER = """
import hashlib
from semcrawl.lab.simulator import simulate
from semcrawl.lab.thesis import build
from semcrawl.relevance.learned import Learned
run = simulate(build("openlylocal"), Learned(), 800)
print(hashlib.sha256("\\n".join(run.order).encode()).hexdigest())
"""
#: what NumPy may use of a processor, by the names of its versions; it passes over those it has not
EXTRAS = "X86_V3 X86_V4 AVX2 FMA3 AVX512F AVX512CD AVX512_SKX AVX512_ICL AVX512_SPR"


def order(**environment: str) -> str:
    """A digest of what a process asks for, one after the other."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ORDER],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_order_of_a_crawl_does_not_hang_on_what_a_processor_can_do() -> None:
    assert order() == order(NPY_DISABLE_CPU_FEATURES=EXTRAS)
