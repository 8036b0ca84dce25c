"""The job folder: where the results of a crawl go."""

from __future__ import annotations

from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from semcrawl.errors import StoreError


def job_folder(settings: BaseSettings) -> Path:
    """Return the folder that ``SEMCRAWL_JOBDIR`` names (else ``JOBDIR``, else the current one).

    It is made when missing; raises ``StoreError`` when that fails.
    """
    folder = job_path(settings)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the job folder {folder}: {error.strerror}") from None
    return folder


def job_path(settings: BaseSettings) -> Path:
    """Return that folder without making it."""
    return Path(settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR") or ".")


def writes_at_once(crawler: Crawler) -> bool:
    """Whether the results of a crawl have their files from its start: for spiders of ours.

    Other spiders of a project may never give anything of the kind.
    """
    return hasattr(crawler.spidercls, "make_request")
