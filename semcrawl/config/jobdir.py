"""The job folder, which holds the results of a crawl."""

from __future__ import annotations

from pathlib import Path

from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from semcrawl.errors import StoreError, os_errors_as

_ADDON = "semcrawl.addon.Addon"


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
    named = settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR")
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
