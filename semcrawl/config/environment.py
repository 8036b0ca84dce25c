"""semcrawl's settings, each of which the environment variable of its name overrides.

For containers, whose settings come that way: ``SCRAPY_SETTINGS_MODULE=semcrawl.config.environment``
and, say, ``SEMCRAWL_CRAWL_DELAY=2``. A project of one's own begins with
``from semcrawl.config.environment import *``. Lists have commas, mappings are JSON, switches 0 or
1. An empty variable leaves a number or a switch at its default.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from semcrawl import settings as _defaults
from semcrawl.settings import *  # noqa: F403

#: settings of scrapy-redis that workers need
_SCRAPY_REDIS = ("MAX_IDLE_TIME_BEFORE_CLOSE", "REDIS_START_URLS_KEY")


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings that an environment gives: ours, and Scrapy's that ours has defaults for.

    Misspelt names that begin with ``SEMCRAWL_`` are among them, so that commands refuse them.
    """
    return {
        name: value
        for name, value in environment.items()
        if name.startswith("SEMCRAWL_") or hasattr(_defaults, name) or name in _SCRAPY_REDIS
        if name.isupper()
        if value or isinstance(getattr(_defaults, name, ""), str | list)
    }


globals().update(settings_in(os.environ))
