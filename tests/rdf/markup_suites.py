"""Runs the conformance suites of RDFa 1.1 and of Microdata to RDF.

No package registry carries them; they are unpacked from archives beside the project.
"""

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph

from semcrawl.rdf import Embedded, ReadOptions, read_embedded

from .suites import canonical

ARCHIVES = Path(__file__).parents[3] / "shared" / "suites"
RDFA_BASE = "http://rdfa.info/test-suite/test-cases/"
MICRODATA_BASE = "http://w3c.github.io/microdata-rdf/tests/"
MEDIA_TYPES = {
    "html": "text/html; charset=utf-8",
    "xhtml": "application/xhtml+xml; charset=utf-8",
}


@dataclass(frozen=True)
class RdfaCase:
    """A page of the RDFa suite and the SPARQL ASK query that judges its quads."""

    number: str
    page: Path
    query: Path
    expected: bool
    url: str
    roles: bool


def unpack(name: str, folder: Path) -> Path:
    """Unpack a suite's archive into ``folder``; return the folder."""
    with tarfile.open(ARCHIVES / f"{name}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def rdfa_cases(folder: Path, version: str, host: str) -> Iterator[RdfaCase]:
    """Yield the required cases of one version and host language."""
    cases = folder / "test-cases" / version / host
    manifest: list[dict[str, Any]] = json.loads((folder / "manifest.jsonld").read_text())["@graph"]
    for entry in manifest:
        wanted = host in entry["hostLanguages"] and version in entry["versions"]
        # vocabulary expansion and the processor graph are options
        if not wanted or "queryParam" in entry or not entry["classification"].endswith("#required"):
            continue
        page = next(cases.glob(f"{entry['num']}.*htm*"))
        yield RdfaCase(
            entry["num"],
            page,
            page.with_suffix(".sparql"),
            entry["expectedResults"],
            f"{RDFA_BASE}{version}/{host}/{page.name}",
            roles="rdfa1.1-role" in entry["versions"],
        )


def run_rdfa(case: RdfaCase) -> str:
    """Return what is wrong, or an empty string."""
    options = ReadOptions(embedded=frozenset({Embedded.RDFA}), rdfa_roles=case.roles)
    media_type = MEDIA_TYPES[case.page.suffix[1:]]
    reading = read_embedded(case.page.read_bytes(), case.url, media_type, options)
    store = pyoxigraph.Store()
    for quad in pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS):
        store.add(pyoxigraph.Quad(quad.subject, quad.predicate, quad.object))
    query = case.query.read_text()
    answer = bool(store.query(query, base_iri=case.url))
    return "" if answer == case.expected else f"{query}\n{reading.nquads.decode()}"


@dataclass(frozen=True)
class MicrodataCase:
    """A page of the Microdata suite and the graph that it means."""

    name: str
    page: Path
    result: Path
    url: str
    expansions: tuple[tuple[str, str], ...]


def microdata_cases(folder: Path) -> Iterator[MicrodataCase]:
    """Yield the evaluation tests of the Microdata suite."""
    tests = folder / "tests"
    expansions = ReadOptions().microdata_expansions + tuple(_registered(tests))
    for entry in json.loads((tests / "manifest.jsonld").read_text())["@graph"][0]["entries"]:
        if "result" in entry:
            yield MicrodataCase(
                entry["name"],
                tests / entry["action"],
                tests / entry["result"],
                MICRODATA_BASE + entry["action"],
                expansions,
            )


def _registered(tests: Path) -> Iterator[tuple[str, str]]:
    """Yield the expansions of the suite's own registry."""
    for vocabulary, said in json.loads((tests / "test-registry.json").read_text()).items():
        if vocabulary != "@comment":
            for name, implied in said["properties"].items():
                for other in implied.values():
                    yield vocabulary + name, other


def run_microdata(case: MicrodataCase) -> str:
    """Return what is wrong, or an empty string."""
    options = ReadOptions(
        embedded=frozenset({Embedded.MICRODATA}), microdata_expansions=case.expansions
    )
    reading = read_embedded(case.page.read_bytes(), case.url, MEDIA_TYPES["html"], options)
    found = pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS)
    wanted = pyoxigraph.parse(
        case.result.read_bytes(), pyoxigraph.RdfFormat.TURTLE, base_iri=case.url
    )
    first, second = canonical(found, case.url), canonical(wanted, case.url)
    return "" if first == second else f"found {first - second}, wanted {second - first}"
