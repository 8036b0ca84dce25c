"""Checks documents against a query or shapes, in a process that the caller may end.

Queries may not contact other servers, and shapes may not import others. Memory is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyoxigraph

from semcrawl.errors import UsageError
from semcrawl.machine.processes import bound_memory
from semcrawl.rdf.shortnames import PREFIXES
from semcrawl.rdf.sparqltext import calls_service, query_error

if TYPE_CHECKING:
    import rdflib

_SH = "http://www.w3.org/ns/shacl#"


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of a check."""

    #: whether the query is true, or a node conforms
    holds: bool = False
    #: number of nodes that the shapes target, and of those that conform
    nodes: int = 0
    conforming: int = 0
    #: why the check failed; the other fields are then meaningless
    fault: str = ""


def ask(query: str, lines: bytes, memory: int) -> Checked:
    """Answer an ASK query on N-Quads lines; the default graph is the union of all graphs."""
    bound_memory(memory)
    if calls_service(query):
        return Checked(fault="a query with SERVICE would ask other servers, which it may not")
    store = pyoxigraph.Store()
    try:
        store.load(lines, format=pyoxigraph.RdfFormat.N_QUADS, lenient=True)
        answer = store.query(query, use_default_graph_as_union=True, prefixes=PREFIXES)
    except SyntaxError as error:
        return Checked(fault=query_error(error))
    except (ValueError, RuntimeError, OSError) as error:
        return Checked(fault=f"the query is wrong: {error}")
    if not isinstance(answer, pyoxigraph.QueryBoolean):
        return Checked(fault="the query is no ASK query")
    return Checked(holds=bool(answer))


def conform(shapes: bytes, lines: bytes, memory: int) -> Checked:
    """Check N-Quads lines against SHACL shapes in N-Quads; it holds if a node conforms.

    Without lines, only the shapes themselves are validated.
    """
    bound_memory(memory)
    import pyshacl
    import rdflib.plugins.sparql
    from pyshacl.errors import ReportableRuntimeError, ShapeLoadError, ValidationFailure

    # otherwise FROM in a shape's query would fetch its graph
    rdflib.plugins.sparql.SPARQL_LOAD_GRAPHS = False
    data = _graph(lines)
    try:
        graph, targeted = _shapes(shapes)
        nodes = {
            node
            for shape in targeted
            for node in shape.focus_nodes(data)
            if (node, None, None) in data or (None, None, node) in data
        }
        if not nodes and lines:
            return Checked()
        conforms, report, text = pyshacl.validate(
            data, shacl_graph=graph, inference="none", meta_shacl=not lines, allow_warnings=True,
            advanced=False, js=False, do_owl_imports=False,
        )  # fmt: skip
    except (ShapeLoadError, ReportableRuntimeError, ValidationFailure, UsageError) as error:
        return Checked(fault=" ".join(str(error).split()))
    if not isinstance(report, rdflib.Graph):
        return Checked(fault=" ".join(str(text).split()))
    failed = set() if conforms else set(report.objects(None, rdflib.URIRef(f"{_SH}focusNode")))
    good = len(nodes - failed)
    return Checked(good > 0, len(nodes), good)


@lru_cache(maxsize=2)
def _shapes(lines: bytes) -> tuple[rdflib.Graph, list[Any]]:
    """Return the graph of shapes, and the shapes with a target."""
    import rdflib
    from pyshacl.shapes_graph import ShapesGraph

    graph = _graph(lines)
    for name in ("select", "ask", "construct"):
        for query in graph.objects(None, rdflib.URIRef(_SH + name)):
            if calls_service(str(query)):
                raise UsageError("a query with SERVICE would ask other servers, which it may not")
    targeted = [shape for shape in ShapesGraph(graph).shapes if any(map(list, shape.target()))]
    if not targeted:
        raise UsageError("it has no SHACL shape with a target such as sh:targetClass")
    return graph, targeted


def _graph(lines: bytes) -> rdflib.Graph:
    """Make a graph of N-Quads lines, without graph names."""
    import rdflib

    def term(of: object) -> rdflib.term.Node:
        if isinstance(of, pyoxigraph.NamedNode):
            return rdflib.URIRef(of.value)
        if isinstance(of, pyoxigraph.BlankNode):
            return rdflib.BNode(of.value)
        if isinstance(of, pyoxigraph.Literal):
            if of.language:
                return rdflib.Literal(of.value, lang=of.language)
            return rdflib.Literal(of.value, datatype=rdflib.URIRef(of.datatype.value))
        raise TypeError

    graph = rdflib.Graph()
    for quad in pyoxigraph.parse(lines, format=pyoxigraph.RdfFormat.N_QUADS, lenient=True):
        if isinstance(quad.object, pyoxigraph.Triple):
            continue  # rdflib has no triple terms
        graph.add((term(quad.subject), term(quad.predicate), term(quad.object)))
    return graph
