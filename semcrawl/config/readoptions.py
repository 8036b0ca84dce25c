"""Turns the settings of reading into the options of readers, and into readers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any

from semcrawl.config.extras import install_hint
from semcrawl.config.leadoptions import LeadOptions, SitemapRules, SitemapUse
from semcrawl.config.normalisation import url_normalisation
from semcrawl.config.targets import Targets
from semcrawl.config.values import Values, checked_iri
from semcrawl.errors import UsageError
from semcrawl.links import ExtractionOptions
from semcrawl.rdf import Embedded, Position, ReadOptions
from semcrawl.rdf.options import EMBEDDED_PRESETS, LINK_PRESETS, STANDARDS
from semcrawl.reading.answer import AnswerOptions, AnswerReader
from semcrawl.reading.pool import ReadingProcesses
from semcrawl.reading.reader import Reader
from semcrawl.sources.endpointsteps import ENDPOINT_PROPERTIES
from semcrawl.web.robotstags import RobotsTags

_EMBEDDED_NAMES = MappingProxyType({"jsonld": "json-ld"})


def answer_reader(
    settings: Mapping[str, Any], text: int = 0, spool_dir: Path | None = None
) -> AnswerReader:
    """Make the reader of answers; raise ``UsageError`` for wrong settings.

    ``text``: characters to read of a page's text. Quads of large documents go to ``spool_dir``.
    """
    return AnswerReader(document_reader(settings, text, spool_dir), answer_options(settings))


def answer_options(settings: Mapping[str, Any]) -> AnswerOptions:
    """Read which ways to data are read; raise ``UsageError`` for wrong settings."""
    leads, sitemaps = LeadOptions.from_settings(settings), SitemapRules.from_settings(settings)
    return AnswerOptions(
        catalogues=leads.catalogues,
        signposts=leads.signposts,
        list_bytes=leads.most_bytes,
        forms=leads.forms,
        sitemaps=sitemaps.use is not SitemapUse.NEVER,
        sitemap_limits=sitemaps.limits,
        robots=robots_tags(settings),
    )


def robots_tags(settings: Mapping[str, Any]) -> RobotsTags:
    """Read which directives to robots are obeyed; raise ``UsageError`` for unknown ones."""
    values = Values(settings)
    agent = values.text("ROBOTSTXT_USER_AGENT") or values.text("USER_AGENT")
    return RobotsTags.parse(values.words("SEMCRAWL_ROBOTS_TAGS"), agent)


def document_reader(
    settings: Mapping[str, Any], text: int = 0, spool_dir: Path | None = None
) -> Reader:
    """Make the reader of pages and RDF, with its processes, as :func:`answer_reader` does."""
    values, options = Values(settings), read_options(settings, spool_dir)
    count = values.whole("SEMCRAWL_READ_PROCESSES")
    processes = None
    if count > 0:
        memory = values.whole("SEMCRAWL_READ_MEMORY")
        processes = ReadingProcesses(count, options.max_seconds, options.spool_dir, memory)
    return Reader(
        ExtractionOptions(
            max_links=values.whole("SEMCRAWL_MAX_LINKS_PER_PAGE"),
            normalisation=url_normalisation(settings),
            shown=Targets.parse(values.words("SEMCRAWL_TARGETS")).elements,
            text=text,
            kinds=values.switch("SEMCRAWL_LINK_KINDS"),
        ),
        options,
        thread_above=values.whole("SEMCRAWL_READ_IN_THREAD_ABOVE"),
        processes=processes,
        json_ld_above=values.whole("SEMCRAWL_READ_JSON_LD_IN_PROCESS_ABOVE"),
        least_rate=values.number("SEMCRAWL_LEAST_READ_RATE"),
    )


def read_options(settings: Mapping[str, Any], spool_dir: Path | None = None) -> ReadOptions:
    """Read the settings; raise ``UsageError`` for wrong ones."""
    values = Values(settings)
    return ReadOptions(
        max_errors=values.whole("SEMCRAWL_MAX_ERRORS_KEPT"),
        spool_dir=spool_dir,
        max_nquads_bytes=values.whole("SEMCRAWL_MAX_NQUADS_SIZE"),
        max_seconds=values.number("SEMCRAWL_MAX_READ_TIME"),
        max_in_memory=values.whole("SEMCRAWL_MAX_SIZE_IN_MEMORY"),
        max_unpacked_bytes=values.whole("SEMCRAWL_MAX_UNPACKED_SIZE"),
        max_ratio=values.number("SEMCRAWL_MAX_UNPACK_RATIO"),
        max_members=values.whole("SEMCRAWL_MAX_ARCHIVE_MEMBERS"),
        member_graphs=values.switch("SEMCRAWL_MEMBER_GRAPHS"),
        max_entity_bytes=values.whole("SEMCRAWL_MAX_ENTITY_SIZE"),
        max_context_bytes=values.whole("SEMCRAWL_MAX_INLINED_CONTEXT_SIZE"),
        max_depth=values.whole("SEMCRAWL_MAX_NESTING"),
        max_page_triples=values.whole("SEMCRAWL_MAX_TRIPLES_PER_PAGE"),
        max_page_triples_size=values.whole("SEMCRAWL_MAX_TRIPLES_SIZE_PER_PAGE"),
        skolem_base=checked_iri("SEMCRAWL_SKOLEM_BASE", values.text("SEMCRAWL_SKOLEM_BASE")),
        embedded=embedded_kinds(values.words("SEMCRAWL_EMBEDDED")),
        link_positions=link_positions(values.words("SEMCRAWL_RDF_LINK_POSITIONS")),
        link_properties=_followed(values),
        embedded_links=embedded_links(values.words("SEMCRAWL_EMBEDDED_LINKS")),
        max_links=values.whole("SEMCRAWL_MAX_LINKS_PER_PAGE"),
    )


def _followed(values: Values) -> frozenset[str]:
    """Return the properties whose values are links, with those of endpoints if these are read."""
    wanted = link_properties(values.words("SEMCRAWL_RDF_LINKS"))
    found = values.text("SEMCRAWL_ENDPOINTS") == "found"
    return wanted | ENDPOINT_PROPERTIES if wanted and found else wanted


def embedded_kinds(names: list[str]) -> frozenset[Embedded]:
    """Return the kinds of embedded data by name; raise ``UsageError`` for unknown names."""
    found = set()
    for name in map(str.strip, names):
        try:
            found.add(Embedded(_EMBEDDED_NAMES.get(name.lower(), name.lower())))
        except ValueError:
            known = "jsonld, microdata, rdfa, rdf, microformats or dublin-core"
            raise UsageError(f"SEMCRAWL_EMBEDDED: {name!r} is not {known}") from None
    if found - STANDARDS and find_spec("extruct") is None:
        kinds = ", ".join(sorted(found - STANDARDS))
        raise UsageError(f"{kinds} in pages: {install_hint('microformats')}")
    return frozenset(found)


def link_positions(names: list[str]) -> frozenset[Position]:
    """Return the positions by name; raise ``UsageError`` for unknown names."""
    found = set()
    for name in map(str.strip, names):
        try:
            found.add(Position(name.lower()))
        except ValueError:
            known = ", ".join(Position)
            raise UsageError(
                f"SEMCRAWL_RDF_LINK_POSITIONS: {name!r} is not one of {known}"
            ) from None
    return frozenset(found)


def link_properties(names: list[str]) -> frozenset[str]:
    """Return the properties named by presets and IRIs; empty means all.

    Raises ``UsageError`` for other words.
    """
    if "all" in (name.strip().lower() for name in names):
        return frozenset()
    return _properties("SEMCRAWL_RDF_LINKS", names, LINK_PRESETS, "all")


def embedded_links(names: list[str]) -> frozenset[str]:
    """Return the properties of embedded data whose values are links; empty means none.

    Raises ``UsageError`` for other words than presets and IRIs.
    """
    return _properties("SEMCRAWL_EMBEDDED_LINKS", names, EMBEDDED_PRESETS)


def _properties(
    setting: str, names: list[str], presets: Mapping[str, frozenset[str]], *others: str
) -> frozenset[str]:
    found: set[str] = set()
    for name in map(str.strip, names):
        if name.lower() in presets:
            found |= presets[name.lower()]
        elif ":" in name:
            found.add(name.strip("<>"))
        else:
            known = ", ".join((*others, *presets))
            raise UsageError(f"{setting}: {name!r} is neither an IRI nor one of {known}")
    return frozenset(found)
