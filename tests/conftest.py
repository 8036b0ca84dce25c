"""Settings of all tests."""

import os
import sys
from collections.abc import Iterator
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


@pytest.fixture(autouse=True)
def commands_in_this_process_leave_no_settings() -> Iterator[None]:
    """A command that a test runs in this process names our settings, before any scrapy.cfg."""
    yield
    os.environ.pop("SCRAPY_SETTINGS_MODULE", None)
