"""Settings of all tests."""

from hypothesis import settings

# no test is timed: machines are busy; each run draws other examples
settings.register_profile("untimed", deadline=None, max_examples=60)
settings.load_profile("untimed")
