"""Properties whose values are links, by the names that settings know them by."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
#: what catalogues lead on by: data sets and their files, parts of containers, further pages
CATALOGUE_LINKS = (
    _DCAT_LINKS
    | _VOID_LINKS
    | {_HYDRA + name for name in ("next", "nextPage", "first", "view", "member", "collection")}
    | {_LDP + name for name in ("contains", "nextPage", "pageOf")}
    | {_FDP + name for name in ("metadataCatalog", "metadataService", "fairDataPoint")}
    | {_TREE + name for name in ("node", "view", "viewDescription")}
    | {"http://purl.org/dc/terms/hasPart", "http://www.w3.org/1999/xhtml/vocab#next"}
)

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
        "dcat": _DCAT_LINKS,
        "void": _VOID_LINKS,
        "catalogue": CATALOGUE_LINKS,
    }
)  # fmt: skip

#: properties of schema.org by which data in pages lead to data; with those of DCAT and VoID
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
