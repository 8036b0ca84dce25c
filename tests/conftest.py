"""Settings of all tests."""

import os
import sys
from importlib.metadata import entry_points

import pytest
from hypothesis import settings

# tests start some thousand processes: each would compile the whole package again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# no test is timed: machines are busy. ``make many`` looks for more than there is time for each day
settings.register_profile("untimed", deadline=None, max_examples=40)
settings.register_profile("many", deadline=None, max_examples=600)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "untimed"))


def pytest_configure() -> None:
    """Refuse an installation whose entry points are older than the code: it lacks houses."""
    if not entry_points(group="semcrawl.houses"):
        pytest.exit("this installation is older than pyproject.toml: pip install --no-deps -e .", 2)
