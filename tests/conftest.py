"""Settings of all tests."""

from hypothesis import settings

# no test is timed: machines are busy
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
