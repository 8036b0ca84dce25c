"""Runs the manifests of conformance suites."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyoxigraph

from semcrawl.rdf import Detection, Reading, ReadOptions, read
from semcrawl.web.vocabulary import Kind, RdfFormat

SUITES = Path(os.environ.get("SEMCRAWL_SUITES", Path.home() / ".cache" / "semcrawl" / "rdf-suites"))
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
FORMATS = {
    "ntriples": RdfFormat.N_TRIPLES,
    "nquads": RdfFormat.N_QUADS,
    "turtle": RdfFormat.TURTLE,
    "trig": RdfFormat.TRIG,
    "rdf-xml": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
    "trix": RdfFormat.TRIX,
}
#: cases in which the standard drops something without a word, and we record it: relative IRIs
#: without a base, a blank node as a property, a word like a keyword
RECORDED = {("jsonld", name) for name in ("te060", "te068", "te122", "tli14")}
W3C = "https://w3c.github.io/rdf-tests/rdf/rdf11/"
BASES = {
    "turtle": "http://www.w3.org/2013/TurtleTests/",
    "trig": "http://www.w3.org/2013/TriGTests/",
    "rdf-xml": "http://www.w3.org/2013/RDFXMLTests/",
    "jsonld": "https://w3c.github.io/json-ld-api/tests/",
}


@dataclass(frozen=True)
class Case:
    """One test: what to read, what to expect (None: an error)."""

    suite: str
    name: str
    action: Path
    result: Path | None
    positive: bool
    url: str


def cases(suite: str) -> Iterator[Case]:
    if suite == "jsonld":
        yield from _jsonld_cases()
    elif suite == "trix":
        yield from _trix_cases()
    else:
        yield from _w3c_cases(suite)


def _w3c_cases(suite: str) -> Iterator[Case]:
    folder = SUITES / "w3c" / suite
    base = BASES.get(suite, "http://example.org/")
    manifest = pyoxigraph.Store()
    manifest.load(
        (folder / "manifest.ttl").read_bytes(), pyoxigraph.RdfFormat.TURTLE, base_iri=base
    )
    query = f"""PREFIX mf: <{MF}> SELECT ?test ?type ?action ?result WHERE {{
        ?test a ?type ; mf:action ?action . OPTIONAL {{ ?test mf:result ?result }} }}"""
    found = sorted(
        (str(s["test"].value), s["type"].value, s["action"].value, s["result"])
        for s in manifest.query(query)  # type: ignore[union-attr]
    )
    for test, kind, action, result in found:
        if "Test" not in kind.rpartition("#")[2]:
            continue
        yield Case(
            suite,
            test.rpartition("#")[2],
            folder / action.removeprefix(base),
            folder / result.value.removeprefix(base) if result is not None else None,
            "Negative" not in kind,
            action,
        )


def _jsonld_cases() -> Iterator[Case]:
    folder = SUITES / "jsonld" / "1.1"
    manifest = json.loads((folder / "toRdf-manifest.jsonld").read_text())
    for test in manifest["sequence"]:
        options = test.get("option", {})
        if "json-ld-1.0" in (options.get("specVersion"), options.get("processingMode")):
            continue  # the version before
        if {"produceGeneralizedRdf", "rdfDirection", "expandContext"} & options.keys():
            continue  # beyond RDF, or an argument of the API that a document on the Web has not
        kinds = test["@type"]
        expect = test.get("expect")
        yield Case(
            "jsonld",
            test["@id"].lstrip("#"),
            folder / test["input"],
            folder / expect if expect else None,
            "jld:NegativeEvaluationTest" not in kinds,
            options.get("base", BASES["jsonld"] + test["input"]),
        )


def _trix_cases() -> Iterator[Case]:
    for action in sorted((SUITES / "trix").glob("*.trix")):
        result = action.with_suffix(".nq")
        if result.exists():
            yield Case(
                "trix", action.stem, action, result, True, "http://example.org/" + action.name
            )


def run(case: Case) -> str:
    """Return what is wrong, or an empty string."""
    contexts = {}
    if case.suite == "jsonld":
        folder = SUITES / "jsonld" / "1.1"
        contexts = {
            BASES["jsonld"] + str(path.relative_to(folder)): path.read_bytes()
            for path in (folder / "toRdf").rglob("*.jsonld")
        }
    detection = Detection(Kind.RDF, FORMATS[case.suite], 1.0, "test")
    reading = read(
        case.action.read_bytes(), case.url, None, ReadOptions(), contexts=contexts,
        detection=detection,
    )  # fmt: skip
    if not case.positive:
        return "" if reading.error_count else "no error"
    if reading.error_count and (case.suite, case.name) not in RECORDED:
        return str(reading.errors[0])
    if case.result is None:
        return ""
    return _difference(reading, case)


def _difference(reading: Reading, case: Case) -> str:
    assert case.result is not None
    wanted = pyoxigraph.parse(
        case.result.read_bytes(),
        pyoxigraph.RdfFormat.from_extension(case.result.suffix[1:]),
        base_iri=case.url,
    )
    found = pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS)
    first, second = canonical(found, case.url), canonical(wanted, case.url)
    if first == second:
        return ""
    return f"found {sorted(first - second)[:3]}, wanted {sorted(second - first)[:3]}"


def canonical(quads: pyoxigraph.QuadParser, graph: str) -> set[str]:
    dataset = pyoxigraph.Dataset()
    for quad in quads:
        name = quad.graph_name
        if isinstance(name, pyoxigraph.NamedNode) and name.value == re.sub(r"[{}|^`]", "", graph):
            name = pyoxigraph.DefaultGraph()
        dataset.add(pyoxigraph.Quad(quad.subject, quad.predicate, quad.object, name))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return set(map(str, dataset))
