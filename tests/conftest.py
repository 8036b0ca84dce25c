"""Settings of all tests."""

import os
import sys

from hypothesis import settings

# tests start some thousand processes: each would compile the whole package again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# no test is timed: machines are busy. ``make many`` looks for more than there is time for each day
settings.register_profile("untimed", deadline=None, max_examples=40)
settings.register_profile("many", deadline=None, max_examples=600)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "untimed"))
