"""Keeps the quads of large documents in files while they pass the pipelines."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import socket
from pathlib import Path
from typing import Any, Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.settings import BaseSettings

from semcrawl.items import RdfDocument
from semcrawl.machine.processes import is_alive

logger = logging.getLogger(__name__)

_PREFIX = ".spool-"


def spool_folder(settings: BaseSettings) -> Path | None:
    """Return this process's folder for such files; ``None`` if the job has no folder."""
    job = settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR")
    return Path(job) / f"{_PREFIX}{socket.gethostname()}-{os.getpid()}" if job else None


class SpoolRemoval:
    """Extension: makes the folder, and deletes each file once its document passed the pipelines.

    At the start it deletes files that dead processes of this machine have left.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the extension and listen for finished documents."""
        extension = cls(spool_folder(crawler.settings))
        crawler.signals.connect(extension.spider_opened, signals.spider_opened)
        for over in (signals.item_scraped, signals.item_dropped, signals.item_error):
            crawler.signals.connect(extension.item_over, over)
        return extension

    def spider_opened(self) -> None:
        """Make the folder; delete those of dead processes."""
        if self._folder is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            logger.error("cannot make %s: %s", self._folder, error.strerror)
        # not when the spider closes: another spider of the process may still need it
        atexit.register(_remove, self._folder)
        for folder in self._folder.parent.glob(f"{_PREFIX}{socket.gethostname()}-*"):
            pid = folder.name.rpartition("-")[2]
            if pid.isdigit() and not is_alive(int(pid)):
                shutil.rmtree(folder, ignore_errors=True)

    def item_over(self, item: Any) -> None:
        """Delete the file of a document that is through all pipelines and feeds."""
        if isinstance(item, RdfDocument) and item.spool is not None:
            item.spool.unlink(missing_ok=True)


def _remove(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
