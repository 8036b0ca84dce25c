"""Options of reading, and the presets of properties whose values are links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import MappingProxyType

from semcrawl.errors import UsageError
from semcrawl.rdf.terms import RDF
from semcrawl.settings.reader import checked_iri, setting

_OWL = "http://www.w3.org/2002/07/owl#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_FOAF = "http://xmlns.com/foaf/0.1/"
_DCAT = "http://www.w3.org/ns/dcat#"
_VOID = "http://rdfs.org/ns/void#"
_SEE_ALSO = frozenset({f"{_RDFS}seeAlso", f"{_OWL}sameAs", f"{_RDFS}isDefinedBy", f"{_OWL}imports"})
_HYDRA = "http://www.w3.org/ns/hydra/core#"
_LDP = "http://www.w3.org/ns/ldp#"
_FDP = "https://w3id.org/fdp/fdp-o#"
_TREE = "https://w3id.org/tree#"
_DCAT_LINKS = frozenset(
    _DCAT + name
    for name in (
        "catalog", "dataset", "record", "distribution", "downloadURL", "accessURL",
        "landingPage", "endpointDescription", "service",
    )
)  # fmt: skip
_VOID_LINKS = frozenset(
    _VOID + name for name in ("dataDump", "exampleResource", "inDataset", "rootResource", "subset")
)
#: properties that catalogues link by: to data sets, files, container members and further pages
CATALOGUE_LINKS = (
    _DCAT_LINKS
    | _VOID_LINKS
    | {_HYDRA + name for name in ("next", "nextPage", "first", "view", "member", "collection")}
    | {_LDP + name for name in ("contains", "nextPage", "pageOf")}
    | {_FDP + name for name in ("metadataCatalog", "metadataService", "fairDataPoint")}
    | {_TREE + name for name in ("node", "view", "viewDescription")}
    | {"http://purl.org/dc/terms/hasPart", "http://www.w3.org/1999/xhtml/vocab#next"}
)
#: properties by preset; ``all`` means any property. Crawlers that follow chosen properties agree
#: on ``see-also`` (sources.md, link policy inside RDF)
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
        "dcat": _DCAT_LINKS,
        "void": _VOID_LINKS,
        "catalogue": CATALOGUE_LINKS,
    }
)  # fmt: skip
#: properties of schema.org that link data in pages to other data, besides DCAT's and VoID's
_SCHEMA_LINKS = (
    "contentUrl", "dataset", "distribution", "downloadUrl", "encoding", "hasPart",
    "includedInDataCatalog", "isBasedOn", "mainEntityOfPage", "sameAs", "subjectOf", "url",
)  # fmt: skip
EMBEDDED_PRESETS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        **LINK_PRESETS,
        "data": LINK_PRESETS["dcat"]
        | LINK_PRESETS["void"]
        | {
            base + name
            for base in ("http://schema.org/", "https://schema.org/")
            for name in _SCHEMA_LINKS
        },
    }
)


class Position(StrEnum):
    """Position of an IRI in a quad. The object of ``rdf:type`` has the position ``TYPE``."""

    SUBJECT = "subject"
    PREDICATE = "predicate"
    OBJECT = "object"
    TYPE = "type"
    GRAPH = "graph"


class Embedded(StrEnum):
    """A syntax of data embedded in pages."""

    JSON_LD = "json-ld"  #: scripts of type ``application/ld+json``
    RDFA = "rdfa"  #: RDFa 1.1 and Lite, including OpenGraph's ``meta property``
    MICRODATA = "microdata"
    RDF = "rdf"  #: scripts of the other RDF syntaxes, such as Turtle; RDF/XML in SVG and XHTML
    MICROFORMATS = "microformats"  #: cards and events; needs extruct
    DUBLIN_CORE = "dublin-core"  #: ``meta`` elements; needs extruct


#: kinds of embedded data that need no other package
STANDARDS = frozenset({Embedded.JSON_LD, Embedded.RDFA, Embedded.MICRODATA, Embedded.RDF})


_EMBEDDED_NAMES = MappingProxyType({"jsonld": "json-ld"})


def embedded_kinds(names: Iterable[str]) -> frozenset[Embedded]:
    """Return the kinds of embedded data by name; raise ``UsageError`` for unknown names."""
    found = set()
    for name in map(str.strip, names):
        try:
            found.add(Embedded(_EMBEDDED_NAMES.get(name.lower(), name.lower())))
        except ValueError:
            known = "jsonld, microdata, rdfa, rdf, microformats or dublin-core"
            raise UsageError(f"SEMCRAWL_EMBEDDED: {name!r} is not {known}") from None
    return frozenset(found)


def link_positions(names: Iterable[str]) -> frozenset[Position]:
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


def link_properties(names: Iterable[str]) -> frozenset[str]:
    """Return the properties named by presets and IRIs; empty means all.

    Raises ``UsageError`` for other words.
    """
    names = tuple(names)
    if "all" in (name.strip().lower() for name in names):
        return frozenset()
    return _properties("SEMCRAWL_RDF_LINKS", names, LINK_PRESETS, "all")


def embedded_links(names: Iterable[str]) -> frozenset[str]:
    """Return the properties of embedded data whose values are links; empty means none.

    Raises ``UsageError`` for other words than presets and IRIs.
    """
    return _properties("SEMCRAWL_EMBEDDED_LINKS", names, EMBEDDED_PRESETS)


def _properties(
    setting: str, names: Iterable[str], presets: Mapping[str, frozenset[str]], *others: str
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


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Options of one read; the defaults suit a crawl."""

    #: errors kept per document; further ones are only counted
    max_errors: int = 20
    #: errors after which reading stops; quads read so far are kept
    give_up_after_errors: int = 10_000
    #: bytes of N-Quads kept in memory; more go to a file
    spool_above: int = 16 * 2**20
    #: folder of those files; None: the system's folder for temporary files
    spool_dir: Path | None = None
    #: bytes of N-Quads after which a document is cut
    max_nquads_bytes: int = 64 * 2**30
    #: seconds after which a document is cut
    max_seconds: float = setting("SEMCRAWL_MAX_READ_TIME")
    #: bytes up to which a document is read whole; larger ones are streamed
    max_in_memory: int = setting("SEMCRAWL_MAX_SIZE_IN_MEMORY")
    #: bytes that a compressed document or an archive may unpack to
    max_unpacked_bytes: int = 1 << 36
    #: largest ratio of unpacked to packed size, checked above 16 MiB, and of N-Quads without their
    #: graph names to the text they come from, checked above 1 MiB
    max_ratio: float = 250.0
    #: files of an archive that are examined
    max_members: int = 10_000
    #: whether the default graph of an archive's member is ``url#name`` instead of ``url``
    member_graphs: bool = setting("SEMCRAWL_MEMBER_GRAPHS")
    #: bytes that the entities of an XML document may grow to
    max_entity_bytes: int = 4 * 2**20
    #: bytes of the contexts that a JSON-LD document names, and of the long IRIs that they make
    max_context_bytes: int = 16 * 2**20
    #: levels of nesting in XML, JSON and triple terms
    max_depth: int = 256
    #: name of the default graph; empty: the document's URL
    default_graph: str = ""
    #: blank nodes with equal labels are the same in documents of one scope; empty: the document's
    #: URL
    blank_node_scope: str = ""
    #: base of the Skolem IRIs that replace blank nodes (RDF 1.1 Concepts, section 3.5); empty: none
    skolem_base: str = setting("SEMCRAWL_SKOLEM_BASE", partial(checked_iri, "SEMCRAWL_SKOLEM_BASE"))
    #: kinds of data that are read from pages
    embedded: frozenset[Embedded] = setting("SEMCRAWL_EMBEDDED", embedded_kinds)
    #: triples that RDFa may give per page, and Microdata likewise
    max_page_triples: int = 200_000
    #: characters of these triples
    max_page_triples_size: int = 64 * 2**20
    #: pairs of a Microdata property and the property it implies (vocabulary expansion, "Microdata
    #: to RDF", section 4.5). The default is the note's registry
    microdata_expansions: tuple[tuple[str, str], ...] = (
        ("http://schema.org/additionalType", f"{RDF}type"),
        ("https://schema.org/additionalType", f"{RDF}type"),
    )
    #: whether ``role`` attributes give triples (Role Attribute 1.0), one per landmark
    rdfa_roles: bool = False
    #: positions whose IRIs count as links
    link_positions: frozenset[Position] = setting("SEMCRAWL_RDF_LINK_POSITIONS", link_positions)
    #: properties whose values count as links; empty: all
    link_properties: frozenset[str] = setting("SEMCRAWL_RDF_LINKS", link_properties)
    #: properties of the data in a page whose values count as links; empty: none
    embedded_links: frozenset[str] = setting("SEMCRAWL_EMBEDDED_LINKS", embedded_links)
    #: links kept per document
    max_links: int = setting("SEMCRAWL_MAX_LINKS_PER_PAGE")
