"""The settings about reading, as the options of the pure reader."""

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
from semcrawl.rdf.options import STANDARDS

_OWL = "http://www.w3.org/2002/07/owl#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_FOAF = "http://xmlns.com/foaf/0.1/"
_DCAT = "http://www.w3.org/ns/dcat#"
_VOID = "http://rdfs.org/ns/void#"
_SEE_ALSO = frozenset({f"{_RDFS}seeAlso", f"{_OWL}sameAs", f"{_RDFS}isDefinedBy", f"{_OWL}imports"})

#: properties by the name of the preset; ``all`` is any property. ``see-also`` is what the crawlers
#: that follow chosen properties agree on (sources.md, link policy inside RDF)
LINK_PRESETS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "see-also": _SEE_ALSO,
        "foaf": _SEE_ALSO
        | {
            _FOAF + name
            for name in (
                "knows", "page", "isPrimaryTopicOf", "homepage", "weblog", "workplaceHomepage",
                "primaryTopic", "member", "topic",
            )
        },
        "dcat": frozenset(
            _DCAT + name
            for name in (
                "catalog", "dataset", "record", "distribution", "downloadURL", "accessURL",
                "landingPage", "endpointDescription", "service",
            )
        ),
        "void": frozenset(
            _VOID + name
            for name in ("dataDump", "exampleResource", "inDataset", "rootResource", "subset")
        ),
    }
)  # fmt: skip

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
        skolem_base=checked_iri("SEMCRAWL_SKOLEM_BASE", settings.get("SEMCRAWL_SKOLEM_BASE") or ""),
        embedded=embedded_kinds(settings.getlist("SEMCRAWL_EMBEDDED")),
        link_positions=link_positions(settings.getlist("SEMCRAWL_RDF_LINK_POSITIONS")),
        link_properties=link_properties(settings.getlist("SEMCRAWL_RDF_LINKS")),
        max_links=settings.getint("SEMCRAWL_MAX_LINKS_PER_PAGE"),
    )


def embedded_kinds(names: list[str]) -> frozenset[Embedded]:
    """Return the kinds of embedded data of these names; raise ``UsageError`` for unknown ones."""
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
    """Return the positions of these names; raise ``UsageError`` for unknown ones."""
    found = set()
    for name in _clean(names):
        try:
            found.add(Position(name.lower()))
        except ValueError:
            known = ", ".join(Position)
            raise UsageError(f"SEMCRAWL_RDF_LINK_POSITIONS: {name!r} is none of {known}") from None
    return frozenset(found)


def link_properties(names: list[str]) -> frozenset[str]:
    """Return the properties that presets and IRIs name, empty for all of them.

    Raises ``UsageError`` for other words.
    """
    found: set[str] = set()
    for name in _clean(names):
        if name.lower() == "all":
            return frozenset()
        if name.lower() in LINK_PRESETS:
            found |= LINK_PRESETS[name.lower()]
        elif ":" in name:
            found.add(name.strip("<>"))
        else:
            known = ", ".join(("all", *LINK_PRESETS))
            raise UsageError(f"SEMCRAWL_RDF_LINKS: {name!r} is none of {known} and no IRI")
    return frozenset(found)


def _clean(names: list[str]) -> list[str]:
    return [name.strip() for name in map(str, names) if name.strip()]
