"""Reads the number of worker processes of a job folder."""

from __future__ import annotations

import os
from typing import Any

from scrapy.settings import BaseSettings

from semcrawl.errors import UsageError

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
