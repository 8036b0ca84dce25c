"""Checks settings before anything starts."""

from __future__ import annotations

import logging
import math
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings

from semcrawl import settings as own_settings
from semcrawl.errors import UsageError, os_errors_as

#: settings with a fixed set of values
_CHOICES = {
    "SEMCRAWL_ENDPOINTS": ("never", "seeds", "found"),
    "SEMCRAWL_PROGRESS": ("auto", "live", "lines", "off"),
    "SEMCRAWL_NEGOTIATION": ("auto", "never"),
    "SEMCRAWL_REVISIT_POLICY": ("uniform", "proportional"),
    "SEMCRAWL_SITEMAPS": ("auto", "never", "only"),
    "SEMCRAWL_STORE_AUTH": ("basic", "digest"),
}
#: settings that must not be 0, as nothing would be read
_AT_LEAST_ONE = frozenset(
    {
        "SEMCRAWL_ENDPOINT_PAGE",
        "SEMCRAWL_MAX_LINKS_PER_PAGE",
        "SEMCRAWL_MAX_NESTING",
        "SEMCRAWL_MAX_SIZE_IN_MEMORY",
    }
)
#: least values of settings that may be negative
_LEAST = {"SEMCRAWL_IMAGES_NEAR_BITS": -1}
#: Scrapy's settings that our spiders ignore, each with what to use instead
_UNHEEDED = {
    "AUTOTHROTTLE_ENABLED": "SEMCRAWL_CRAWL_DELAY sets the pace",
    "CONCURRENT_REQUESTS_PER_DOMAIN": "see SEMCRAWL_CONCURRENCY_PER_HOST",
    "CONCURRENT_REQUESTS_PER_IP": "see SEMCRAWL_CONCURRENCY_PER_ADDRESS",
    "DEPTH_PRIORITY": "--relevance breadth-first and depth-first order by depth",
    "RANDOMIZE_DOWNLOAD_DELAY": "SEMCRAWL_CRAWL_DELAY is exact",
    "URLLENGTH_LIMIT": "links of up to 4,096 characters are followed",
}
#: the words that ``Settings.getbool`` accepts
_BOOLEANS = frozenset({"1", "0", "true", "false", "True", "False"})


def checked_iri(name: str, text: str) -> str:
    """Return ``text`` if it is an IRI or empty; else raise ``UsageError``.

    ``name`` is the setting or option.
    """
    from pyoxigraph import NamedNode  # few commands need it

    try:
        NamedNode(text or "urn:none")
    except ValueError as error:
        raise UsageError(f"{name}: {text!r} is not an IRI: {error}") from None
    return text


def check_settings(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for a wrong switch or number, Scrapy's or ours.

    Misspelt ``SEMCRAWL_`` names are refused too.
    """
    own = {name: getattr(own_settings, name) for name in dir(own_settings) if name.isupper()}
    known = {name: getattr(default_settings, name) for name in dir(default_settings)} | own
    for name, value in settings.items():
        if name in known:
            _check(name, value, known[name])
        elif str(name).startswith("SEMCRAWL_") and isinstance(value, str):
            close = get_close_matches(str(name), own, n=1, cutoff=0.85)
            if close:
                raise UsageError(f"there is no setting {name}; did you mean {close[0]}?")


def _check(name: str, value: Any, default: Any) -> None:
    if name in _CHOICES and value and value not in _CHOICES[name]:
        raise UsageError(f"{name} must be one of {', '.join(_CHOICES[name])}, not {value!r}")
    if isinstance(default, bool):
        if not isinstance(value, bool | int | None) and str(value) not in _BOOLEANS:
            raise UsageError(f"{name} must be 0 or 1, not {value!r}")
    elif isinstance(default, int | float) and isinstance(value, str):
        whole = isinstance(default, int) and name.startswith("SEMCRAWL_")
        try:
            number = int(value) if whole else float(value)
        except ValueError:
            kind = "a whole number" if whole else "a number"
            raise UsageError(f"{name} must be {kind}, not {value!r}") from None
        if math.isnan(number):
            raise UsageError(f"{name} must be a number, not {value!r}")
        if number < _LEAST.get(name, number):
            raise UsageError(f"{name} must be {_LEAST[name]} or more, not {value}")
        if number < 0 <= default and name not in _LEAST:
            raise UsageError(f"{name} must not be negative, as {value} is")
        if number < 1 and name in _AT_LEAST_ONE:
            raise UsageError(f"{name} must be 1 or more, not {value}")


def unheeded(settings: BaseSettings) -> list[str]:
    """Return a line for each of Scrapy's settings on the command line that our spiders ignore."""
    given = [
        name for name in _UNHEEDED if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]
    ]
    return [f"{name} has no effect here; {_UNHEEDED[name]}" for name in given]


def check_log(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for an unknown log level or an unwritable log file."""
    level = settings.get("LOG_LEVEL")
    if isinstance(level, str) and level not in logging.getLevelNamesMapping():
        names = "DEBUG, INFO, WARNING, ERROR, CRITICAL"
        raise UsageError(f"the log level must be one of {names}, not {level!r}")
    if file := settings.get("LOG_FILE"):
        with os_errors_as(UsageError, f"cannot write the log file {file}"), Path(file).open("ab"):
            pass
