"""Expands ``schema:Dataset`` to an IRI, and shortens IRIs of classes and properties."""

from __future__ import annotations

import re
from difflib import get_close_matches

from semcrawl.errors import UsageError
from semcrawl.rdf.embedded.rdfa_terms import PREFIXES as _INITIAL

_PURL, _W3 = "http://purl.org/", "http://www.w3.org/"
#: common prefixes (prefix.cc, LOV): RDFa's initial context and more
PREFIXES: dict[str, str] = {
    **{name: iri for name, iri in _INITIAL.items() if name not in ("xml", "v", "dc11")},
    "adms": _W3 + "ns/adms#",
    "bibo": _PURL + "ontology/bibo/",
    "bio": _PURL + "vocab/bio/0.1/",
    "cert": _W3 + "ns/auth/cert#",
    "dbo": "http://dbpedia.org/ontology/",
    "dbp": "http://dbpedia.org/property/",
    "dce": _PURL + "dc/elements/1.1/",
    "dcmitype": _PURL + "dc/dcmitype/",
    "doap": "http://usefulinc.com/ns/doap#",
    "edm": "http://www.europeana.eu/schemas/edm/",
    "event": _PURL + "NET/c4dm/event.owl#",
    "fabio": _PURL + "spar/fabio/",
    "fhir": "http://hl7.org/fhir/",
    "frbr": _PURL + "vocab/frbr/core#",
    "geo": _W3 + "2003/01/geo/wgs84_pos#",
    "geosparql": "http://www.opengis.net/ont/geosparql#",
    "gn": "http://www.geonames.org/ontology#",
    "hydra": _W3 + "ns/hydra/core#",
    "lexvo": "http://lexvo.org/ontology#",
    "lime": _W3 + "ns/lemon/lime#",
    "locn": _W3 + "ns/locn#",
    "mads": "http://www.loc.gov/mads/rdf/v1#",
    "mo": _PURL + "ontology/mo/",
    "nif": "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#",
    "obo": "http://purl.obolibrary.org/obo/",
    "ontolex": _W3 + "ns/lemon/ontolex#",
    "ore": "http://www.openarchives.org/ore/terms/",
    "pav": _PURL + "pav/",
    "prism": "http://prismstandard.org/namespaces/basic/2.0/",
    "qudt": "http://qudt.org/schema/qudt/",
    "rss": _PURL + "rss/1.0/",
    "sh": _W3 + "ns/shacl#",
    "spdx": "http://spdx.org/rdf/terms#",
    "swrc": "http://swrc.ontoware.org/ontology#",
    "tl": _PURL + "NET/c4dm/timeline.owl#",
    "tree": "https://w3id.org/tree#",
    "vann": _PURL + "vocab/vann/",
    "voaf": _PURL + "vocommons/voaf#",
    "vs": _W3 + "2003/06/sw-vocab-status/ns#",
    "wd": "http://www.wikidata.org/entity/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "xfn": "http://gmpg.org/xfn/11#",
}
_BY_NAMESPACE = {iri: name for name, iri in PREFIXES.items() if name != "dc"}
_IRI = re.compile(r"<([^>]*)>?|((?:[A-Za-z][A-Za-z0-9+.-]*:)?//.*|urn:.*|tag:.*)", re.S)


def expand(name: str) -> str:
    """Return the IRI that ``prefix:name``, ``<IRI>`` or ``http://…`` stands for.

    A bare word gives an empty string. Raises ``UsageError`` for an unknown prefix.
    """
    if match := _IRI.fullmatch(name):
        return match[1] or match[2]
    prefix, colon, local = name.partition(":")
    if not colon:
        return ""
    if (namespace := PREFIXES.get(prefix)) is not None:
        return namespace + local
    close = get_close_matches(prefix, PREFIXES, n=1)
    hint = f"did you mean {close[0]}:{local}?" if close else f"give the IRI: <http://…/{local}>"
    raise UsageError(f"the prefix {prefix}: is not known; {hint}")


def shorten(iri: str) -> str:
    """Return ``prefix:name`` where a prefix is known, else the IRI."""
    namespace = namespace_of(iri)
    prefix = _BY_NAMESPACE.get(namespace) or _BY_NAMESPACE.get(other_scheme(namespace))
    return f"{prefix}:{iri[len(namespace) :]}" if prefix else iri


def namespace_of(iri: str) -> str:
    """Return an IRI up to its last ``#``, else ``/``, else ``:``."""
    for sign in "#/:":
        if cut := iri.rfind(sign) + 1:
            return iri[:cut]
    return ""


def local_name(iri: str) -> str:
    """Return the part of an IRI after its namespace."""
    return iri[len(namespace_of(iri)) :]


def other_scheme(iri: str) -> str:
    """Swap http and https in an IRI: schema.org and others are used with both."""
    if iri.startswith("https://"):
        return f"http://{iri[8:]}"
    return f"https://{iri[7:]}" if iri.startswith("http://") else iri
