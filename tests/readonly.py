"""Folders on a disk that may only be read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """A folder on a disk that may only be read, which holds for root as well."""

    def mount(*options: str) -> bool:
        done = subprocess.run(["mount", *options, folder], capture_output=True, check=False)
        return done.returncode == 0

    if os.geteuid() or not mount("--bind", str(folder)):
        pytest.skip("needs the right to mount a disk")
    try:
        assert mount("-o", "remount,ro,bind")
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
