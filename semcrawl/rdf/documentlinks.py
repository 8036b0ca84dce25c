"""Turns what was read from an RDF document into links: its IRIs, and a catalogue's entries."""

from __future__ import annotations

from collections.abc import Collection

from semcrawl.links import Link
from semcrawl.rdf.datalinks import data_links
from semcrawl.rdf.documentreader import Reading
from semcrawl.rdf.options import CATALOGUE_LINKS
from semcrawl.rdf.patterns import re
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation, dropped_index, normalise
from semcrawl.web.vocabulary import FoundBy

#: namespaces that only catalogues use
_CATALOGUE = re.compile(
    rb"<http://www\.w3\.org/ns/(?:dcat|hydra/core|ldp)#|<http://rdfs\.org/ns/void#"
    rb"|<https://w3id\.org/(?:tree|fdp/fdp-o)#"
)


def document_links(
    reading: Reading, normalisation: Normalisation = DEFAULT_NORMALISATION
) -> list[Link]:
    """Return the links of an RDF document under their normalised URLs, each once.

    ``tag_path`` holds the position in the statement and the property: ``rdf/object/seeAlso``.
    """
    links: dict[str, Link] = {}
    for found in reading.links:
        url = normalise(found.iri, normalisation)
        if url is not None and url not in links:
            links[url] = Link(
                url,
                element="rdf",
                predicate=found.predicate,
                tag_path=f"rdf/{found.position}/{_local_name(found.predicate)}",
                position=len(links),
                index=dropped_index(found.iri) if url[-1] == "/" else "",
                found_by=FoundBy.RDF,
            )
    return list(links.values())


def catalogue_links(
    reading: Reading,
    url: str,
    properties: Collection[str] = (),
    normalisation: Normalisation = DEFAULT_NORMALISATION,
    limit: int = 10_000,
) -> list[Link]:
    """Return the links of a catalogue in RDF, including addresses written as literals.

    With ``properties``, only their values are links.
    """
    wanted = CATALOGUE_LINKS & frozenset(properties) if properties else CATALOGUE_LINKS
    if not wanted or reading.spool is not None or not _CATALOGUE.search(reading.nquads):
        return []
    return data_links(
        reading.nquads,
        url,
        wanted,
        normalisation,
        limit,
        element="rdf",
        found_by=FoundBy.CATALOGUE,
    )


def _local_name(iri: str) -> str:
    """Return the part of an IRI after its last ``#`` or ``/``."""
    return iri.rstrip("#/").rpartition("#")[2].rpartition("/")[2]
