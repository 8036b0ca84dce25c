"""Turns the settings of reading into :class:`semcrawl.rdf.ReadOptions`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from scrapy.settings import BaseSettings

from semcrawl.config.checks import checked_iri
from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError
from semcrawl.rdf import Embedded, Position, ReadOptions
from semcrawl.rdf.options import EMBEDDED_PRESETS, LINK_PRESETS, STANDARDS
from semcrawl.sources.endpointsteps import ENDPOINT_PROPERTIES

_EMBEDDED_NAMES = MappingProxyType({"jsonld": "json-ld"})


def read_options(settings: BaseSettings, spool_dir: Path | None = None) -> ReadOptions:
    """Read the settings; raise ``UsageError`` for wrong ones."""
    return ReadOptions(
        max_errors=settings.getint("SEMCRAWL_MAX_ERRORS_KEPT"),
        spool_dir=spool_dir,
        max_nquads_bytes=settings.getint("SEMCRAWL_MAX_NQUADS_SIZE"),
        max_seconds=settings.getfloat("SEMCRAWL_MAX_READ_TIME"),
        max_in_memory=settings.getint("SEMCRAWL_MAX_SIZE_IN_MEMORY"),
        max_unpacked_bytes=settings.getint("SEMCRAWL_MAX_UNPACKED_SIZE"),
        max_ratio=settings.getfloat("SEMCRAWL_MAX_UNPACK_RATIO"),
        max_members=settings.getint("SEMCRAWL_MAX_ARCHIVE_MEMBERS"),
        member_graphs=settings.getbool("SEMCRAWL_MEMBER_GRAPHS"),
        max_entity_bytes=settings.getint("SEMCRAWL_MAX_ENTITY_SIZE"),
        max_context_bytes=settings.getint("SEMCRAWL_MAX_INLINED_CONTEXT_SIZE"),
        max_depth=settings.getint("SEMCRAWL_MAX_NESTING"),
        max_page_triples=settings.getint("SEMCRAWL_MAX_TRIPLES_PER_PAGE"),
        max_page_triples_size=settings.getint("SEMCRAWL_MAX_TRIPLES_SIZE_PER_PAGE"),
        skolem_base=checked_iri("SEMCRAWL_SKOLEM_BASE", settings.get("SEMCRAWL_SKOLEM_BASE") or ""),
        embedded=embedded_kinds(settings.getlist("SEMCRAWL_EMBEDDED")),
        link_positions=link_positions(settings.getlist("SEMCRAWL_RDF_LINK_POSITIONS")),
        link_properties=_followed(settings),
        embedded_links=embedded_links(settings.getlist("SEMCRAWL_EMBEDDED_LINKS")),
        max_links=settings.getint("SEMCRAWL_MAX_LINKS_PER_PAGE"),
    )


def _followed(settings: BaseSettings) -> frozenset[str]:
    """Return the properties whose values are links, with those of endpoints if these are read."""
    wanted = link_properties(settings.getlist("SEMCRAWL_RDF_LINKS"))
    found = settings.get("SEMCRAWL_ENDPOINTS") == "found"
    return wanted | ENDPOINT_PROPERTIES if wanted and found else wanted


def embedded_kinds(names: list[str]) -> frozenset[Embedded]:
    """Return the kinds of embedded data by name; raise ``UsageError`` for unknown names."""
    found = set()
    for name in _clean(names):
        try:
            found.add(Embedded(_EMBEDDED_NAMES.get(name.lower(), name.lower())))
        except ValueError:
            known = "jsonld, microdata, rdfa, microformats or dublin-core"
            raise UsageError(f"SEMCRAWL_EMBEDDED: {name!r} is not {known}") from None
    if found - STANDARDS and find_spec("extruct") is None:
        kinds = ", ".join(sorted(found - STANDARDS))
        raise UsageError(f"{kinds} in pages: {install_hint('microformats')}")
    return frozenset(found)


def link_positions(names: list[str]) -> frozenset[Position]:
    """Return the positions by name; raise ``UsageError`` for unknown names."""
    found = set()
    for name in _clean(names):
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
    if "all" in map(str.lower, _clean(names)):
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
    for name in _clean(names):
        if name.lower() in presets:
            found |= presets[name.lower()]
        elif ":" in name:
            found.add(name.strip("<>"))
        else:
            known = ", ".join((*others, *presets))
            raise UsageError(f"{setting}: {name!r} is neither an IRI nor one of {known}")
    return frozenset(found)


def _clean(names: list[str]) -> list[str]:
    return [name.strip() for name in map(str, names) if name.strip()]
