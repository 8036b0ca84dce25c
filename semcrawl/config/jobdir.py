"""The job folder, which holds the results of a crawl."""

from __future__ import annotations

from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from semcrawl.errors import StoreError, os_errors_as


def job_folder(settings: BaseSettings) -> Path:
    """Return the folder named by ``SEMCRAWL_JOBDIR``, else ``JOBDIR``, else the current one.

    Makes it if it is missing. Raises ``StoreError``.
    """
    folder = job_path(settings)
    with os_errors_as(StoreError, f"cannot make the job folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def job_path(settings: BaseSettings) -> Path:
    """Return the job folder without making it."""
    return Path(settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR") or ".")


def writes_at_once(crawler: Crawler) -> bool:
    """Whether the files of results exist from a crawl's start, as for our spiders.

    Other spiders of a project may never produce any.
    """
    return hasattr(crawler.spidercls, "make_request")
