"""Checks the feeds of ``-o`` and ``-O`` before a crawl begins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scrapy.exceptions import UsageError as ScrapyUsageError
from scrapy.exporters import MarshalItemExporter, PickleItemExporter
from scrapy.settings import BaseSettings
from scrapy.utils.conf import feed_process_params_from_cli
from scrapy.utils.misc import load_object

from semcrawl.errors import UsageError
from semcrawl.exporters.feedcompression import PLUGINS, inner_format
from semcrawl.exporters.storage import local_path
from semcrawl.machine.wholefiles import is_special


def requested_feeds(
    settings: BaseSettings, output: list[str] | None, overwrite: list[str] | None
) -> dict[str, dict[str, Any]]:
    """Return the feeds of a harvest by URI, as in the setting ``FEEDS``.

    Raises ``UsageError`` for an unknown format and an unwritable file, which a crawl may notice
    only after days.
    """
    check_feeds(settings, spiders=2)
    try:
        feeds = feed_process_params_from_cli(settings, output or [], overwrite_output=overwrite)
    except ScrapyUsageError as error:
        raise UsageError(str(error)) from None
    _check(settings, feeds, 2)
    return feeds


def check_feeds(settings: BaseSettings, *, spiders: int = 1) -> None:
    """Raise ``UsageError`` for a feed of ``FEEDS`` that our spiders cannot write.

    It may have an unknown format or one that cannot carry RDF, be compressed without a format, or
    name an unwritable file. ``spiders`` is how many run in a process.
    """
    feeds = settings.getdict("FEEDS")
    if not all(isinstance(options, Mapping) for options in feeds.values()):
        raise UsageError(
            "FEEDS must name files with their options, as in {'a.nq': {'format': 'nq'}}"
        )
    _check(settings, feeds, spiders)


def _check(settings: BaseSettings, feeds: Mapping[str, Mapping[str, Any]], spiders: int) -> None:
    exporters = settings.getwithbase("FEED_EXPORTERS")
    for uri, options in feeds.items():
        name = str(options.get("format") or "")
        if name in PLUGINS:
            name = inner_format(str(uri), name, exporters)
        if not exporters.get(name):
            raise UsageError(f"the feed {uri}: there is no format {name!r}")
        exporter = load_object(exporters[name])
        check_carries_rdf(str(uri), name, exporter)
        if spiders > 1 and hasattr(exporter, "append") and str(uri).startswith("stdout:"):
            raise UsageError(
                f"two spiders cannot write one {name} to standard output: "
                f"name a file, as in -o data.{name}, or use jsonl"
            )
        if spiders > 1 and str(uri).startswith("s3:") and "%(worker)s" not in str(uri):
            raise UsageError(
                f"the feed {uri}: spiders would replace each other's objects: put %(worker)s into "
                "its name"
            )
        path = local_path(str(uri))
        if path is not None and (reason := why_unwritable(path)):
            raise UsageError(f"cannot write {uri}: {reason}")


def check_carries_rdf(uri: str, name: str, exporter: type) -> None:
    """Raise ``UsageError`` for a format that cannot carry RDF documents.

    Python's binary formats hold an item whole, while a document may be larger than the memory.
    """
    if exporter in (PickleItemExporter, MarshalItemExporter):
        raise UsageError(
            f"the feed {uri} cannot carry RDF documents in the format {name}: "
            "use nq, jsonl, json, csv or xml"
        )


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
