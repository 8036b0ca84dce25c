"""Checks of settings together, before a crawl starts."""

from __future__ import annotations

import logging
import math
import os
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from semcrawl.errors import UsageError, os_errors_as
from semcrawl.settings.reader import read
from semcrawl.settings.table import TABLE

#: Scrapy's settings that our spiders ignore, each with what to use instead
_UNHEEDED = {
    "AUTOTHROTTLE_ENABLED": "SEMCRAWL_CRAWL_DELAY sets the pace",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "see SEMCRAWL_CONCURRENCY_PER_HOST",
    "CONCURRENT_REQUESTS_PER_IP": "at most 8 requests are sent to an address at a time",
    "DEPTH_PRIORITY": "--relevance breadth-first and depth-first order by depth",
    "RANDOMIZE_DOWNLOAD_DELAY": "SEMCRAWL_CRAWL_DELAY is exact",
    "URLLENGTH_LIMIT": "links of up to 4,096 characters are followed",
}
#: settings of scrapy-redis that our spiders ignore
_UNHEEDED_OF_REDIS = {
    "REDIS_CLS": "the frontier's client is redis-py's for asyncio",
    "REDIS_DECODE_RESPONSES": "the frontier reads bytes",
    "REDIS_START_URLS_AS_SET": "lists, sets and sorted sets of seeds are told apart",
    "REDIS_START_URLS_AS_ZSET": "lists, sets and sorted sets of seeds are told apart",
    "SCHEDULER_DUPEFILTER_CLASS": "the frontier knows which links were seen",
    "SCHEDULER_DUPEFILTER_KEY": "keys begin with SEMCRAWL_CRAWL_NAME",
    "SCHEDULER_FLUSH_ON_START": "another SEMCRAWL_CRAWL_NAME begins anew",
    "SCHEDULER_IDLE_BEFORE_CLOSE": "see MAX_IDLE_TIME_BEFORE_CLOSE",
    "SCHEDULER_PERSIST": "a frontier is kept and continued",
    "SCHEDULER_QUEUE_CLASS": "SEMCRAWL_RELEVANCE orders the links",
    "SCHEDULER_QUEUE_KEY": "keys begin with SEMCRAWL_CRAWL_NAME",
    "SCHEDULER_SERIALIZER": "the frontier keeps links, not requests",
}
#: settings of scrapy-redis that name a server
REDIS_NAMES = ("REDIS_URL", "REDIS_HOST", "REDIS_PORT", "REDIS_DB", "REDIS_PARAMS")
#: scrapy-redis's name of a spider's seed list, unless ``REDIS_START_URLS_KEY`` gives another
START_URLS_KEY = "%(name)s:start_urls"
#: the words that ``Settings.getbool`` accepts
_BOOLEANS = frozenset({"1", "0", "true", "false", "True", "False"})


def check_settings(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for a wrong switch or number, Scrapy's or ours.

    ``SEMCRAWL_`` names that are no setting are refused too.
    """
    values = read(settings)
    for name in settings:
        if name in TABLE:
            values[name]
        elif hasattr(default_settings, name):
            _check_scrapys(name, settings[name], getattr(default_settings, name))


def _check_scrapys(name: str, value: Any, default: Any) -> None:
    if isinstance(default, bool):
        if not isinstance(value, bool | int | None) and str(value) not in _BOOLEANS:
            raise UsageError(f"{name} must be 0 or 1, not {value!r}")
    elif isinstance(default, int | float) and isinstance(value, str):
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise UsageError(f"{name} must be a number, not {value!r}")
        if number < 0 <= default:
            raise UsageError(f"{name} must not be negative, as {value} is")


def unheeded(settings: BaseSettings) -> list[str]:
    """Return a line for each setting that our spiders ignore.

    These are Scrapy's on the command line, and scrapy-redis's wherever they are set.
    """
    given = {
        name: instead
        for name, instead in _UNHEEDED.items()
        if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]
    }
    given |= {name: why for name, why in _UNHEEDED_OF_REDIS.items() if name in settings}
    return [f"{name} has no effect here; {why}" for name, why in given.items()]


def is_on_redis(settings: BaseSettings) -> bool:
    """Whether the settings name a Redis, or are those of a project that uses scrapy-redis."""
    scheduler = settings["SCHEDULER"]
    module = scheduler if isinstance(scheduler, str) else scheduler.__module__
    given = any(settings.get(name) for name in REDIS_NAMES)
    return given or module.startswith("scrapy_redis.scheduler")


def check_log(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for an unknown log level or an unwritable log file."""
    level = settings.get("LOG_LEVEL")
    if isinstance(level, str) and level not in logging.getLevelNamesMapping():
        names = "DEBUG, INFO, WARNING, ERROR, CRITICAL"
        raise UsageError(f"the log level must be one of {names}, not {level!r}")
    if file := settings.get("LOG_FILE"):
        with os_errors_as(UsageError, f"cannot write the log file {file}"), Path(file).open("ab"):
            pass


#: most workers; more are surely a slip
_MOST = 256


def worker_count(settings: BaseSettings) -> int:
    """Return the number of workers in ``SEMCRAWL_WORKERS``. Raises ``UsageError``."""
    return read_worker_count("SEMCRAWL_WORKERS", settings.get("SEMCRAWL_WORKERS", 1))


def read_worker_count(name: str, value: Any) -> int:
    """Read a number of workers, or ``auto``: one per processor that this process may use.

    ``name`` is the setting or option. Raises ``UsageError``.
    """
    if value == "auto":
        return processors()
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = 0
    if not 1 <= number <= _MOST:
        raise UsageError(f"{name} must be auto or a number from 1 to {_MOST}, not {value!r}")
    return number


def processors() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
