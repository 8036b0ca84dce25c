"""Small inputs of each class of fault that was met on the Web, and what they say.

The tables are in data/siblings. A case has a media type and a text (written in ``encoding``), and
what is read from it as TriG: ``want`` must be there; ``may`` can be there, as a mend or as what
another reading of the standard gives; nothing else can, but with ``loose``. ``not`` are lines
that no reading gives, ``errors`` is the least number of errors in the record.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph
import pytest

from semcrawl.rdf import read, read_embedded

from .forms import folded, quads_of

URL = "http://h.example/dir/doc"
TABLES = Path(__file__).parent / "data" / "siblings"
PREFIXES = """
@prefix e: <http://e.example/> .
@prefix s: <http://schema.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix og: <http://ogp.me/ns#> .
@prefix dc: <http://purl.org/dc/terms/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix as: <https://www.w3.org/ns/activitystreams#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xhv: <http://www.w3.org/1999/xhtml/vocab#> .
@prefix rdfa: <http://www.w3.org/ns/rdfa#> .
@prefix md: <http://www.w3.org/ns/md#> .
"""
PAGES = ("text/html", "application/xhtml+xml")
Case = dict[str, Any]


def cases() -> Iterator[tuple[str, Case]]:
    for table in sorted(TABLES.glob("*.toml")):
        for case in tomllib.loads(table.read_text("utf-8"))["case"]:
            yield f"{table.stem}/{case['id']}", case


def statements(text: str) -> Counter[str]:
    return folded(pyoxigraph.parse(PREFIXES + text, pyoxigraph.RdfFormat.TRIG, base_iri=URL))


def judge(case: Case) -> list[str]:
    """Return what is wrong with the reading of a case."""
    body = case["text"].encode(case.get("encoding", "utf-8"))
    if "hex" in case:
        body = bytes.fromhex(case["hex"])
    url = case.get("url", URL)
    embedded = case.get("embedded", case["type"].partition(";")[0] in PAGES)
    contexts = {name: text.encode() for name, text in case.get("contexts", {}).items()}
    reader = read_embedded if embedded else read
    reading = reader(body, url, case["type"], contexts=contexts or None)
    try:
        found = folded(quads_of(reading.nquads, url))
    except SyntaxError as error:
        return [f"unreadable lines: {error}"]
    want, may = statements(case["want"]), statements(case.get("may", ""))
    faults = [f"- {line}" for line in want - found]
    faults += [] if case.get("loose") else [f"+ {line}" for line in found - want - may]
    for line in case.get("not", []):
        faults += [f"not {quad}" for quad in found if line in f"{quad} ."]
    if len(reading.errors) < case.get("errors", 0):
        faults.append(f"{len(reading.errors)} errors, not {case['errors']}")
    if case.get("errors", 0) and reading.errors and not reading.errors[0].line:
        faults.append(f"no line: {reading.errors[0].message}")
    if faults:
        faults += [f"  ({error.line}: {error.message[:150]})" for error in reading.errors]
    return faults


@pytest.mark.parametrize(("name", "case"), list(cases()), ids=[name for name, _ in cases()])
def test_siblings(name: str, case: Case) -> None:
    """Each case gives what it says, and nothing else."""
    assert judge(case) == []
