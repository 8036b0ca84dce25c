"""Whether a crawl can begin: what its settings name is read and tried before anything starts."""

from __future__ import annotations

from pathlib import Path

from scrapy.settings import BaseSettings

from semcrawl.errors import UsageError
from semcrawl.exporters.asked import why_unwritable
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url
from semcrawl.pipelines.jobdir import job_path
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QUADS_FILE
from semcrawl.pipelines.stores.opening import check_store_settings
from semcrawl.robotstags import RobotsTags
from semcrawl.spiders.readoptions import read_options
from semcrawl.spiders.spelling import normalisation
from semcrawl.targets import Targets
from semcrawl.urlpatterns import UrlPatterns

#: files of a job folder that every run goes on writing
_FILES = tuple(
    name
    for file, ledger in ((QUADS_FILE, CRAWL_DB), (EMBEDDED_FILE, EMBEDDED_LEDGER))
    for name in (file, f".{file}.lock", ledger, f"{ledger}-wal", f"{ledger}-shm", f"{ledger}.lock")
)


def check_crawl(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for settings of URLs, reading, targets or store that cannot be."""
    normalisation(settings)
    Targets.parse(settings.getlist("SEMCRAWL_TARGETS"))
    RobotsTags.from_settings(settings)
    UrlPatterns.from_settings(settings)
    read_options(settings)
    if delivers(settings):
        check_store_settings(settings)


def check_folder(folder: Path) -> None:
    """Make the job folder, or raise ``UsageError`` when it or a file in it cannot be written.

    Files of another owner are there after a run as another user.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)  # workers of one folder may start at the same time
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}") from None
    for path in (folder / name for name in _FILES):
        if reason := why_unwritable(path):
            raise UsageError(f"cannot write to {path}: {reason}")


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
