"""Options of reading, and the presets of properties whose values are links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from semcrawl.rdf.terms import RDF

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
    max_seconds: float = 900.0
    #: bytes up to which a document is read whole; larger ones are streamed
    max_in_memory: int = 32 * 2**20
    #: bytes that a compressed document or an archive may unpack to
    max_unpacked_bytes: int = 64 * 2**30
    #: largest ratio of unpacked to packed size, checked above 16 MiB, and of N-Quads without their
    #: graph names to the text they come from, checked above 1 MiB
    max_ratio: float = 250.0
    #: files of an archive that are examined
    max_members: int = 10_000
    #: whether the default graph of an archive's member is ``url#name`` instead of ``url``
    member_graphs: bool = False
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
    skolem_base: str = ""
    #: kinds of data that are read from pages
    embedded: frozenset[Embedded] = STANDARDS
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
    link_positions: frozenset[Position] = field(
        default_factory=lambda: frozenset({Position.SUBJECT, Position.OBJECT})
    )
    #: properties whose values count as links; empty: all
    link_properties: frozenset[str] = frozenset()
    #: properties of the data in a page whose values count as links; empty: none
    embedded_links: frozenset[str] = EMBEDDED_PRESETS["data"]
    #: links kept per document
    max_links: int = 10_000
