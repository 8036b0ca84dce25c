"""The job folder, which holds the results of a crawl."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from semcrawl.errors import StoreError, os_errors_as
from semcrawl.settings.reader import fill, setting

_ADDON = "semcrawl.addon.Addon"


@dataclass(frozen=True, slots=True)
class ResultOptions:
    """Where results are kept, and how many."""

    jobdir: str = setting("SEMCRAWL_JOBDIR")
    #: database of the records; empty: ``crawl.db`` in the job folder
    metadata_url: str = setting("SEMCRAWL_METADATA_URL")
    #: seconds to wait for it
    metadata_patience: float = setting("SEMCRAWL_METADATA_PATIENCE")
    #: seconds between two calls that bring quads to the disk for certain
    sync_interval: float = setting("SEMCRAWL_SYNC_INTERVAL")
    #: whether re-visits keep the statements that they replace
    history: bool = setting("SEMCRAWL_HISTORY")
    #: days that records of attempts are kept; 0: for ever
    keep_attempts: float = setting("SEMCRAWL_KEEP_ATTEMPTS")
    #: whether the links of pages are kept
    record_links: bool = setting("SEMCRAWL_RECORD_LINKS")
    #: whether responses are kept
    warc: bool = setting("SEMCRAWL_WARC")


def job_folder(settings: BaseSettings) -> Path:
    """Return the folder named by ``SEMCRAWL_JOBDIR``, else ``JOBDIR``, else :func:`job_path`'s.

    Makes it if it is missing. Raises ``StoreError``.
    """
    folder = job_path(settings)
    with os_errors_as(StoreError, f"cannot make the job folder {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def job_path(settings: BaseSettings) -> Path:
    """Return the job folder without making it.

    A project with the add-on keeps its root: if no folder is named, it is ``harvest``.
    """
    named = fill(ResultOptions, settings).jobdir or settings.get("JOBDIR")
    return Path(named or ("harvest" if has_addon(settings) else "."))


def has_addon(settings: BaseSettings) -> bool:
    """Whether the settings are those of a project with our add-on."""
    return _ADDON in {_path_of(addon) for addon in settings.getdict("ADDONS")}


def _path_of(addon: object) -> str:
    if isinstance(addon, str):
        return addon
    return f"{getattr(addon, '__module__', '')}.{getattr(addon, '__qualname__', '')}"


def writes_at_once(crawler: Crawler) -> bool:
    """Whether the files of results exist from a crawl's start, as for our spiders.

    Other spiders of a project may never produce any.
    """
    return hasattr(crawler.spidercls, "make_request")
