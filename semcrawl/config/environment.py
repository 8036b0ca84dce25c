"""semcrawl's settings, each overridden by the environment variable of its name.

Meant for containers: set ``SCRAPY_SETTINGS_MODULE=semcrawl.config.environment`` and, for example,
``SEMCRAWL_CRAWL_DELAY=2``. The settings of your own project begin with
``from semcrawl.config.environment import *``. Separate lists by commas, write mappings as JSON and
switches as 0 or 1. An empty variable leaves a number or switch at its default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from semcrawl import settings as _defaults
from semcrawl.settings import *  # noqa: F403

#: settings of scrapy-redis that workers need
_SCRAPY_REDIS = ("MAX_IDLE_TIME_BEFORE_CLOSE", "REDIS_START_URLS_KEY")


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in an environment: ours, and those of Scrapy for which we have defaults.

    Misspelt names that begin with ``SEMCRAWL_`` are included, so that commands refuse them.
    """
    return {
        name: value
        for name, value in environment.items()
        if name.startswith("SEMCRAWL_") or hasattr(_defaults, name) or name in _SCRAPY_REDIS
        if name.isupper()
        if value or isinstance(getattr(_defaults, name, ""), str | list)
    }


globals().update(settings_in(os.environ))
