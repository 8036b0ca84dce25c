"""What holds for all tests."""

from hypothesis import settings

# no test is timed: how long an example takes says more of the machine than of the code
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
