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
