"""Turns the settings of reading into the options of readers, and into readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from semcrawl.config.extras import install_hint
from semcrawl.config.leadoptions import EndpointOptions, LeadOptions, SitemapRules
from semcrawl.config.normalisation import url_normalisation
from semcrawl.config.targets import Targets
from semcrawl.errors import UsageError
from semcrawl.links import ExtractionOptions
from semcrawl.rdf import ReadOptions
from semcrawl.rdf.options import STANDARDS
from semcrawl.reading.answer import AnswerOptions, AnswerReader
from semcrawl.reading.pool import ReadingProcesses
from semcrawl.reading.reader import Reader
from semcrawl.settings.reader import fill, setting
from semcrawl.sources.endpointsteps import ENDPOINT_PROPERTIES
from semcrawl.web.robotstags import RobotsTags


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """Where documents are read, and what is taken from them."""

    targets: Targets = setting("SEMCRAWL_TARGETS", Targets.parse)
    #: most processes per spider, and bytes of memory of each
    processes: int = setting("SEMCRAWL_READ_PROCESSES")
    memory: int = setting("SEMCRAWL_READ_MEMORY")
    thread_above: int = setting("SEMCRAWL_READ_IN_THREAD_ABOVE")
    least_rate: float = setting("SEMCRAWL_LEAST_READ_RATE")
    robots_tags: tuple[str, ...] = setting("SEMCRAWL_ROBOTS_TAGS")


def answer_reader(
    settings: Mapping[str, Any], text: int = 0, spool_dir: Path | None = None
) -> AnswerReader:
    """Make the reader of answers; raise ``UsageError`` for wrong settings.

    ``text``: characters to read of a page's text. Quads of large documents go to ``spool_dir``.
    """
    return AnswerReader(document_reader(settings, text, spool_dir), answer_options(settings))


def answer_options(settings: Mapping[str, Any]) -> AnswerOptions:
    """Read which ways to data are read; raise ``UsageError`` for wrong settings."""
    leads, sitemaps = fill(LeadOptions, settings), fill(SitemapRules, settings)
    return AnswerOptions(
        catalogues=leads.catalogues,
        signposts=leads.signposts,
        list_bytes=leads.most_bytes,
        forms=leads.forms,
        sitemaps=sitemaps.use != "never",
        sitemap_limits=sitemaps.limits,
        robots=robots_tags(settings),
    )


def robots_tags(settings: Mapping[str, Any]) -> RobotsTags:
    """Read which directives to robots are obeyed; raise ``UsageError`` for unknown ones."""
    agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT") or ""
    return RobotsTags.parse(fill(ReaderOptions, settings).robots_tags, str(agent))


def document_reader(
    settings: Mapping[str, Any], text: int = 0, spool_dir: Path | None = None
) -> Reader:
    """Make the reader of pages and RDF, with its processes, as :func:`answer_reader` does."""
    wanted, reading = fill(ReaderOptions, settings), read_options(settings, spool_dir)
    processes = None
    if wanted.processes > 0:
        processes = ReadingProcesses(
            wanted.processes, reading.max_seconds, reading.spool_dir, wanted.memory
        )
    return Reader(
        fill(
            ExtractionOptions,
            settings,
            normalisation=url_normalisation(settings),
            shown=wanted.targets.elements,
            text=text,
        ),
        reading,
        thread_above=wanted.thread_above,
        processes=processes,
        least_rate=wanted.least_rate,
    )


def read_options(settings: Mapping[str, Any], spool_dir: Path | None = None) -> ReadOptions:
    """Read the settings; raise ``UsageError`` for wrong ones.

    The properties whose values are links include those of endpoints if these are read.
    """
    found = fill(ReadOptions, settings, spool_dir=spool_dir)
    if found.embedded - STANDARDS and find_spec("extruct") is None:
        kinds = ", ".join(sorted(found.embedded - STANDARDS))
        raise UsageError(f"{kinds} in pages: {install_hint('microformats')}")
    if found.link_properties and fill(EndpointOptions, settings).allowed == "found":
        return replace(found, link_properties=found.link_properties | ENDPOINT_PROPERTIES)
    return found
