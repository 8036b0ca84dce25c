"""Checks before a crawl begins that its settings, files and servers work."""

from __future__ import annotations

from inspect import isclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object
from scrapy.utils.url import add_http_if_no_scheme

from semcrawl.config.checks import unheeded
from semcrawl.config.jobdir import ResultOptions, job_path
from semcrawl.config.leadoptions import LeadOptions
from semcrawl.config.normalisation import url_normalisation
from semcrawl.config.readoptions import read_options, robots_tags
from semcrawl.crawl.crawllimits import Limits
from semcrawl.download.topicfiles import fetch_topic_files
from semcrawl.errors import UsageError, os_errors_as
from semcrawl.exporters.feedchecks import why_unwritable
from semcrawl.houses import houses
from semcrawl.metadata.database import CRAWL_DB, connect, crawl_db_url
from semcrawl.pipelines.pagestore import PAGES_FILE, PAGES_LEDGER
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QUADS_FILE, orphaned
from semcrawl.relevance.focus import read_focus
from semcrawl.settings.reader import fill
from semcrawl.terminal.messages import complain
from semcrawl.web.hosts import public_address

#: files of a job folder that every run extends, with their ledgers
_LEDGERS = (
    (QUADS_FILE, CRAWL_DB),
    (EMBEDDED_FILE, EMBEDDED_LEDGER),
    (PAGES_FILE, PAGES_LEDGER),
)
_FILES = tuple(
    name
    for file, ledger in _LEDGERS
    for name in (file, f".{file}.lock", ledger, f"{ledger}-wal", f"{ledger}-shm", f"{ledger}.lock")
)


def check_crawl(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for invalid settings of URLs, reading, targets and store.

    Proxies and download handlers that cannot work are refused too. Scrapy's settings that have no
    effect get a line.
    """
    for line in unheeded(settings):
        complain(line)
    proxies = getproxies() if settings.getbool("HTTPPROXY_ENABLED") else {}
    for scheme in ("http", "https"):
        if scheme in proxies and (fault := proxy_fault(proxies[scheme])):
            raise UsageError(f"the environment's {scheme}_proxy {fault}")
    _check_handlers(settings)
    url_normalisation(settings)
    for house in houses():
        house.check(settings)
    fetch_topic_files(settings)
    read_focus(settings)
    robots_tags(settings)
    for line in Limits.from_settings(settings).faults():
        complain(line)
    read_options(settings)
    fill(LeadOptions, settings)


def proxy_fault(proxy: str) -> str:
    """Return why requests cannot use a proxy with this address, or an empty string."""
    try:
        parts = urlsplit(add_http_if_no_scheme(proxy))
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname)
        port = parts.port
    except ValueError:
        is_one, port = False, None
    if is_one and port != 0:
        return ""
    shown = public_address(proxy)
    return f"is not the address of an HTTP proxy such as http://proxy.example:3128: {shown!r}"


def _check_handlers(settings: BaseSettings) -> None:
    """Raise ``UsageError`` for an invalid download handler of http or https."""
    handlers = settings.getwithbase("DOWNLOAD_HANDLERS")
    for scheme in ("http", "https"):
        named = handlers.get(scheme)
        if named is None:
            continue  # semcrawl adds its own, or the user has disabled it
        fault = ""
        try:
            found = load_object(named)
        except Exception as error:  # importing may raise anything
            fault = f"cannot be loaded: {' '.join(str(error).split())}"
        else:
            if not (isclass(found) and hasattr(found, "download_request")):
                fault = "is not a download handler class"
        if fault:
            raise UsageError(f"DOWNLOAD_HANDLERS names {named} for {scheme}, which {fault}")


def check_folder(folder: Path) -> None:
    """Make the job folder; raise ``UsageError`` if it or a file in it cannot be written.

    Files of another owner stay after a run as another user. Quads without their ledger are refused
    too, as they cannot be assigned to documents.
    """
    crawl_db_url(folder)  # refuses names that are not valid text
    with os_errors_as(UsageError, f"cannot write to {folder}"):
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink(missing_ok=True)  # other workers may start at the same time
    for path in (folder / name for name in _FILES):
        if reason := why_unwritable(path):
            raise UsageError(f"cannot write to {path}: {reason}")
    for fault in (orphaned(folder, *names) for names in _LEDGERS):
        if fault:
            raise UsageError(fault)


def check_results(settings: BaseSettings) -> None:
    """Check the job folder and the metadata database.

    Raises ``UsageError`` for wrong settings, ``StoreError`` for an unreachable database.
    """
    folder = job_path(settings)
    check_folder(folder)
    connect(metadata_url(settings, folder)).dispose()


def metadata_url(settings: BaseSettings, folder: Path) -> str:
    """Return the URL of the database of records."""
    return fill(ResultOptions, settings).metadata_url or crawl_db_url(folder)
