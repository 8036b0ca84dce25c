"""Whether a crawl can begin: what its settings name is read and tried before anything starts."""

from __future__ import annotations

from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.errors import UsageError
from semcrawl.metadata.database import connect, crawl_db_url
from semcrawl.pipelines.jobdir import job_path
from semcrawl.pipelines.stores.opening import check_store_settings
from semcrawl.spiders.readoptions import read_options
from semcrawl.targets import Targets


def check_crawl(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for settings of reading, targets or triple store that cannot be."""
    Targets.parse(settings.getlist("SEMCRAWL_TARGETS"))
    read_options(settings)
    if delivers(settings):
        check_store_settings(settings)


def check_folder(folder: Path) -> None:
    """Make the job folder, or raise ``UsageError`` when nothing can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)  # workers of one folder may start at the same time
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None


def check_results(settings: BaseSettings) -> None:
    """Try the job folder and the metadata database.

    Raises ``UsageError`` for what cannot be, ``StoreError`` for a database that cannot be reached.
    """
    folder = job_path(settings)
    check_folder(folder)
    connect(metadata_url(settings, folder)).dispose()


def delivers(settings: BaseSettings) -> bool:
    """Whether a triple store is to get what is found."""
    return bool(settings.get("SEMCRAWL_STORE_URL") or settings.get("SEMCRAWL_STORE_UPDATE_URL"))


def metadata_url(settings: BaseSettings, folder: Path) -> str:
    """Return the address of the database of the records."""
    return settings.get("SEMCRAWL_METADATA_URL") or crawl_db_url(folder)
