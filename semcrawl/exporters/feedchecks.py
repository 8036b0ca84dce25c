"""Checks the feeds of ``-o`` and ``-O`` before a crawl begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError as ScrapyUsageError
from scrapy.settings import BaseSettings
from scrapy.utils.conf import feed_process_params_from_cli

from semcrawl.errors import UsageError
from semcrawl.exporters.feedcompression import PLUGINS, inner_format
from semcrawl.exporters.storage import local_path
from semcrawl.machine.wholefiles import is_special


def requested_feeds(
    settings: BaseSettings, output: list[str] | None, overwrite: list[str] | None
) -> dict[str, dict[str, Any]]:
    """Return the feeds by URI, as in the setting ``FEEDS``.

    Raises ``UsageError`` for an unknown format and an unwritable file, which a crawl may notice
    only after days.
    """
    try:
        feeds = feed_process_params_from_cli(settings, output or [], overwrite_output=overwrite)
    except ScrapyUsageError as error:
        raise UsageError(str(error)) from None
    check_feeds(settings, feeds)
    return feeds


def check_feeds(settings: BaseSettings, feeds: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ``UsageError`` for a compressed feed without a format, and for an unwritable file."""
    for uri, options in feeds.items():
        compression = options.get("format", "")
        if compression in PLUGINS:
            inner_format(str(uri), compression, settings.getwithbase("FEED_EXPORTERS"))
        path = local_path(str(uri))
        if path is not None and (reason := why_unwritable(path)):
            raise UsageError(f"cannot write {uri}: {reason}")


def why_unwritable(path: Path) -> str:
    """Return why a file cannot be written, or an empty string, without opening it."""
    path = Path(os.path.realpath(path))
    folder = next(above for above in path.parents if above.exists())
    if path.is_dir():
        return "Is a directory"
    if not folder.is_dir():
        return "Not a directory"
    touched = [path] if path.exists() else []
    if not is_special(path):  # a feed is written beside the file and replaces it
        touched.append(folder)
    if not all(os.access(each, os.W_OK) for each in touched):
        return "Permission denied"
    return ""
