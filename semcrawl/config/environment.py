"""semcrawl's settings, each overridden by the environment variable of its name.

Every crawl and command takes the ``SEMCRAWL_`` variables (:func:`take_environment`). As a settings
module this one also takes those of Scrapy's settings for which we have defaults, and replaces what
a project sets before. It is meant for containers: set
``SCRAPY_SETTINGS_MODULE=semcrawl.config.environment`` and, for example,
``SEMCRAWL_CRAWL_DELAY=2``. The settings of your own project begin with
``from semcrawl.config.environment import *``. Separate lists by commas, write mappings as JSON and
switches as 0 or 1. An empty variable leaves a number or switch at its default.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from semcrawl import settings as _defaults
from semcrawl.settings import *  # noqa: F403
from semcrawl.settings.reader import check_name

#: settings of scrapy-redis that workers need
SCRAPY_REDIS = ("MAX_IDLE_TIME_BEFORE_CLOSE", "REDIS_START_URLS_KEY")

#: variables that Kubernetes and Docker make of a service's name, and those of our tests
_OTHERS = re.compile(
    r"SEMCRAWL_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)\w*)?)"
    r"|SEMCRAWL_(?:TEST_\w+|SUITES)"
)


def take_environment(settings: BaseSettings) -> None:
    """Let the ``SEMCRAWL_`` variables of the environment replace the settings' defaults.

    A project, a spider and the command line replace them in turn. Raises ``UsageError`` for a name
    that is no setting.
    """
    for name, value in settings_in(os.environ).items():
        if not name.startswith("SEMCRAWL_"):
            continue
        check_name(name)
        priority = settings.getpriority(name) or 0
        is_default = settings.get(name) == getattr(_defaults, name)
        if priority <= SETTINGS_PRIORITIES["addon"] or (
            is_default and priority <= SETTINGS_PRIORITIES["project"]
        ):
            settings.set(name, value, max(priority, SETTINGS_PRIORITIES["addon"]))


def settings_in(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in an environment: ours, and those of Scrapy for which we have defaults.

    Misspelt names that begin with ``SEMCRAWL_`` are included, so that commands refuse them.
    """
    return {
        name: value
        for name, value in environment.items()
        if name.startswith("SEMCRAWL_") or hasattr(_defaults, name) or name in SCRAPY_REDIS
        if name.isupper()
        if not _OTHERS.fullmatch(name) or hasattr(_defaults, name)
        if value or isinstance(getattr(_defaults, name, ""), str | list)
    }


globals().update(settings_in(os.environ))


#: variables of OpenTelemetry; any of them names a collector for metrics
_COLLECTORS = ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def asks_for_telemetry() -> bool:
    """Whether the environment asks to send figures to a collector of OpenTelemetry."""
    env = os.environ
    off = env.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not off and env.get("OTEL_METRICS_EXPORTER") != "none" and any(map(env.get, _COLLECTORS))
