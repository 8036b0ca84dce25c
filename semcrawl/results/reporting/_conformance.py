"""Validates all that was harvested against SHACL shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pyoxigraph

from semcrawl.errors import UsageError
from semcrawl.results.reporting.findings import Finding
from semcrawl.topics.shapes import merged, shapes_of
from semcrawl.web.hosts import netloc_of

if TYPE_CHECKING:
    import rdflib

_SH = "http://www.w3.org/ns/shacl#"


def violations(quads: Iterable[pyoxigraph.Quad], shapes: bytes) -> list[Finding]:
    """Return a finding per shape, constraint and path that nodes violate, most nodes first.

    ``shapes``: SHACL in N-Quads. The graphs are merged, as a class may stand in one document and
    its things in another; a statement takes some 1 KB of memory. Raises ``UsageError`` for shapes
    that cannot be used.
    """
    import pyshacl
    import rdflib.plugins.sparql
    from pyshacl.errors import ReportableRuntimeError, ShapeLoadError, ValidationFailure

    # otherwise FROM in a shape's query would fetch its graph
    rdflib.plugins.sparql.SPARQL_LOAD_GRAPHS = False
    try:
        graph, _ = shapes_of(shapes)
        _, report, text = pyshacl.validate(
            merged(quads), shacl_graph=graph, inference="none", meta_shacl=True, advanced=False,
            js=False, do_owl_imports=False,
        )  # fmt: skip
    except (ShapeLoadError, ReportableRuntimeError, ValidationFailure) as error:
        raise UsageError(" ".join(str(error).split())) from None
    if not isinstance(report, rdflib.Graph):
        raise UsageError(" ".join(str(text).split()))
    found: dict[tuple[str, ...], Finding] = {}
    for result in report.objects(None, rdflib.URIRef(f"{_SH}result")):
        _count(result, report, graph, found)
    return sorted(found.values(), key=lambda one: (-one.page_count, one.subject, one.evidence))


def _count(
    result: Any, report: rdflib.Graph, shapes: rdflib.Graph, found: dict[tuple[str, ...], Finding]
) -> None:
    """Count a validation result with those of the same shape."""
    import rdflib

    def said(name: str) -> Any:
        return report.value(result, rdflib.URIRef(_SH + name))

    node, path = said("focusNode"), said("resultPath")
    shape = _named(said("sourceShape"), shapes)
    constraint = _short(said("sourceConstraintComponent")).removesuffix("ConstraintComponent")
    severity = _short(said("resultSeverity"))
    # a path that is a sequence or an alternative is a blank node
    way = f" of {path}" if isinstance(path, rdflib.URIRef) else " of its path" if path else ""
    host = netloc_of(str(node)) if isinstance(node, rdflib.URIRef) else ""
    key = (shape, constraint, way, severity, host)
    finding = found.get(key)
    if finding is None:
        reason = " ".join(str(said("resultMessage") or constraint).split())[:500]
        evidence = f"{constraint}{way}, {severity.lower()}"
        finding = found[key] = Finding("shape", shape, host, reason, evidence)
    finding.lead([str(node) if host else f"a blank node {node}"])


def _named(shape: Any, shapes: rdflib.Graph) -> str:
    """Return the name of a shape, or of the shape that a nameless one is a part of."""
    import rdflib

    seen = set()
    while isinstance(shape, rdflib.BNode) and shape not in seen:
        seen.add(shape)
        shape = next((subject for subject, _, _ in shapes.triples((None, None, shape))), shape)
    return "a shape without a name" if isinstance(shape, rdflib.BNode) else str(shape)


def _short(name: Any) -> str:
    return str(name).removeprefix(_SH)
