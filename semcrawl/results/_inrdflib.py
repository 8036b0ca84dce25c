"""Turns quads of pyoxigraph into those of rdflib."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyoxigraph as ox
import rdflib
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID


def dataset_of(quads: Iterator[ox.Quad]) -> rdflib.Dataset:
    """Return the quads as an ``rdflib.Dataset`` whose default graph is the union of all graphs."""
    dataset = rdflib.Dataset(default_union=True)
    graphs: dict[Any, rdflib.Graph] = {}

    def graph(name: ox.NamedNode | ox.BlankNode | ox.DefaultGraph) -> rdflib.Graph:
        found = graphs.get(name)
        if found is None:
            is_default = isinstance(name, ox.DefaultGraph)
            found = dataset.graph(DATASET_DEFAULT_GRAPH_ID if is_default else node(name))
            graphs[name] = found
        return found

    dataset.addN(
        (node(q.subject), node(q.predicate), node(q.object), graph(q.graph_name))
        for q in quads
        if not isinstance(q.object, ox.Triple)  # rdflib has no triple terms
    )
    return dataset


def node(term: Any) -> Any:
    """Convert a term from pyoxigraph to rdflib."""
    if isinstance(term, ox.NamedNode):
        return rdflib.URIRef(term.value)
    if isinstance(term, ox.BlankNode):
        return rdflib.BNode(term.value)
    if term.language:
        return rdflib.Literal(term.value, lang=term.language)
    datatype = term.datatype.value
    if datatype == rdflib.XSD.string.toPython():
        return rdflib.Literal(term.value)
    # keep the document's lexical form
    return rdflib.Literal(term.value, datatype=rdflib.URIRef(datatype), normalize=False)
