"""Servers for the tests of deployments."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deployment.pods import Cluster


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    if shutil.which("redis-cli") is None or sys.platform != "linux":
        pytest.skip("needs redis-cli, and all addresses of loopback")
    made = Cluster(tmp_path)
    yield made
    made.end()
