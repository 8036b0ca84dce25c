"""Readers of RDF that are not ours, and what they have in common with ours.

All give lines of N-Quads in one spelling (see :func:`normal`), as a multiset in which all blank
nodes are one: parts of documents can be compared so, and large ones.
"""

from __future__ import annotations

import io
import json
import logging
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lxml.etree
import pyoxigraph
import rdflib
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode
from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

from semcrawl.web.vocabulary import RdfFormat

PACKAGES = {
    "jsonld-streaming-parser": "5.0.1",
    "rdfa-streaming-parser": "3.0.2",
    "microdata-rdf-streaming-parser": "3.0.0",
    "rdfxml-streaming-parser": "3.3.0",
    "n3": "2.13.12",
}
_HERE = Path(__file__).parent
_XML_LITERAL = "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral"
_FORBIDDEN = re.compile(r'[\x00-\x20<>"{}|^`\\]')


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a reader found; ``clean`` if it had nothing to complain about."""

    reader: str
    lines: Counter[str]
    clean: bool
    complaint: str = ""


# --- one spelling


def normal(term: Any) -> str:
    """Spell a term in one way: IRIs percent-encoded, tags lower case, XML literals canonical."""
    if isinstance(term, BlankNode):
        return "_:b"
    if isinstance(term, NamedNode):
        encoded = _FORBIDDEN.sub(
            lambda sign: "".join(f"%{b:02X}" for b in sign[0].encode()), term.value
        )
        return f"<{encoded}>"
    if isinstance(term, DefaultGraph):
        return ""
    assert isinstance(term, Literal), term
    if term.datatype.value == _XML_LITERAL:
        return f"{canonical_xml(term.value)!r}^^XML"
    if term.language:
        return f"{term.value!r}@{term.language.lower()}"
    return f"{term.value!r}^^{normal(term.datatype)}"


def canonical_xml(text: str) -> str:
    """Return exclusive canonical XML, so that namespaces that nobody uses do not count."""
    prefixes = sorted(set(re.findall(r"[<\s]/?([A-Za-z_][\w.-]*):", text)) - {"xml", "xmlns"})
    declared = " ".join(f'xmlns:{prefix}="urn:outer"' for prefix in prefixes)
    try:
        root = lxml.etree.fromstring(f"<wrapper {declared}>{text}</wrapper>".encode())
    except lxml.etree.XMLSyntaxError:
        return text
    return lxml.etree.tostring(root, method="c14n", exclusive=True, with_comments=False).decode()


def lines_of(data: bytes, url: str, *, lenient: bool = True) -> Counter[str]:
    """Normalise lines of N-Quads; those in the graph of the document itself have no graph."""
    found: Counter[str] = Counter()
    itself = NamedNode(url)
    for quad in pyoxigraph.parse(data, pyoxigraph.RdfFormat.N_QUADS, lenient=lenient):
        graph = "" if quad.graph_name == itself else normal(quad.graph_name)
        found[f"{normal(quad.subject)} {normal(quad.predicate)} {normal(quad.object)} {graph}"] += 1
    return found


# --- readers

_OXIGRAPH = {
    RdfFormat.RDF_XML: pyoxigraph.RdfFormat.RDF_XML,
    RdfFormat.TURTLE: pyoxigraph.RdfFormat.TURTLE,
    RdfFormat.TRIG: pyoxigraph.RdfFormat.TRIG,
    RdfFormat.N_TRIPLES: pyoxigraph.RdfFormat.N_TRIPLES,
    RdfFormat.N_QUADS: pyoxigraph.RdfFormat.N_QUADS,
}
_RDFLIB = {
    RdfFormat.RDF_XML: "xml", RdfFormat.TURTLE: "turtle", RdfFormat.TRIG: "trig",
    RdfFormat.N_TRIPLES: "nt", RdfFormat.N_QUADS: "nquads", RdfFormat.TRIX: "trix",
}  # fmt: skip
_RAPPER = {
    RdfFormat.RDF_XML: "rdfxml", RdfFormat.TURTLE: "turtle", RdfFormat.N_TRIPLES: "ntriples",
    RdfFormat.N_QUADS: "nquads",
}  # fmt: skip
_JS = {
    RdfFormat.RDF_XML: "rdfxml", RdfFormat.TURTLE: "turtle", RdfFormat.TRIG: "trig",
    RdfFormat.JSON_LD: "jsonld",
}  # fmt: skip


def by_oxigraph(body: bytes, syntax: RdfFormat, url: str) -> Outcome:
    found: list[pyoxigraph.Quad] = []
    complaint = ""
    try:
        found.extend(pyoxigraph.parse(body, _OXIGRAPH[syntax], base_iri=url, lenient=True))
    except (SyntaxError, ValueError) as error:
        complaint = str(error)
    data = pyoxigraph.serialize(found, format=pyoxigraph.RdfFormat.N_QUADS)
    return Outcome("pyoxigraph", lines_of(data, url), not complaint, complaint)


def by_rdflib(body: bytes, syntax: RdfFormat, url: str) -> Outcome:
    before = rdflib.NORMALIZE_LITERALS
    rdflib.NORMALIZE_LITERALS = False
    logging.disable(logging.CRITICAL)
    complaint = ""
    data = rdflib.Dataset(default_union=False)
    try:
        data.parse(io.BytesIO(body), format=_RDFLIB[syntax], publicID=url)
    except Exception as error:
        complaint = str(error) or repr(error)
    finally:
        rdflib.NORMALIZE_LITERALS = before
        logging.disable(logging.NOTSET)
    default = (url, str(DATASET_DEFAULT_GRAPH_ID))
    found: Counter[str] = Counter()
    for s, p, o, graph in data.quads():
        home = graph if graph is not None and str(graph) not in default else None
        terms = [normal(_pyoxigraph_term(term)) for term in (s, p, o)]
        name = "" if home is None else normal(_pyoxigraph_term(home))
        found[" ".join([*terms, name])] += 1
    return Outcome("rdflib", found, not complaint, complaint)


def _pyoxigraph_term(term: Any) -> Any:
    if isinstance(term, rdflib.BNode):
        return BlankNode()
    if isinstance(term, rdflib.Literal):
        if term.language:
            return _Text(str(term), term.language)
        return Literal(str(term), datatype=_name(str(term.datatype or rdflib.XSD.string)))
    return _name(str(term))


def _name(iri: str) -> NamedNode:
    return NamedNode(_FORBIDDEN.sub(lambda s: "".join(f"%{b:02X}" for b in s[0].encode()), iri))


def _Text(text: str, language: str) -> Literal:
    try:
        return Literal(text, language=language)
    except ValueError:
        return Literal(text)


def by_rapper(body: bytes, syntax: RdfFormat, url: str) -> Outcome:
    """Raptor says nothing of graphs in N-Quads' output of other syntaxes."""
    command = ["rapper", "-q", "-i", _RAPPER[syntax], "-o", "nquads", "-", url]
    done = subprocess.run(command, input=body, capture_output=True, timeout=120, check=False)
    complaint = done.stderr.decode("utf-8", "replace")
    try:
        found = lines_of(done.stdout, url)
    except SyntaxError:  # a line that is none: each for itself
        found = Counter()
        for line in done.stdout.splitlines(keepends=True):
            try:
                found += lines_of(line, url)
            except SyntaxError as error:
                complaint += str(error)
    return Outcome("rapper", found, not complaint, complaint)


class JavaScript:
    """The streaming parsers of npm in a process of Node; ``with`` ends it."""

    def __init__(self, modules: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(_HERE / "readers.cjs"), str(modules)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def __enter__(self) -> JavaScript:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)

    def ask(
        self,
        kind: str,
        text: str,
        url: str,
        content_type: str | None = None,
        contexts: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Read a text as ``kind``: jsonld, rdfa, microdata, rdfxml, turtle, trig or n3."""
        request = {
            "kind": kind,
            "text": text,
            "base": url,
            "type": content_type,
            "contexts": contexts,
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        complaint = answer.get("error", "")
        found: Counter[str] = Counter()
        for line in dict.fromkeys(answer["lines"]):
            try:
                found += lines_of(f"{line}\n".encode(errors="replace"), url)
            except SyntaxError as error:
                complaint += str(error)
        return Outcome("npm", found, not complaint, complaint)


def npm_folder() -> Path | None:
    """Install the parsers once a machine; None where there is no Node or no registry."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        return None
    names = [f"{name}@{version}" for name, version in PACKAGES.items()]
    folder = Path(tempfile.gettempdir()) / "semcrawl-wild" / "-".join(PACKAGES.values())
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", *names]
        done = subprocess.run(command, capture_output=True, timeout=300, check=False)
        if done.returncode:
            return None
        (folder / "complete").touch()
    return folder


def all_readings(
    body: bytes,
    syntax: RdfFormat,
    url: str,
    javascript: JavaScript | None,
    contexts: Mapping[str, Any],
) -> Iterable[Outcome]:
    """Read a document with all readers that know its syntax."""
    ways: list[tuple[Mapping[RdfFormat, Any], Callable[[bytes, RdfFormat, str], Outcome]]] = [
        (_OXIGRAPH, by_oxigraph),
        (_RDFLIB, by_rdflib),
    ]
    if shutil.which("rapper"):
        ways.append((_RAPPER, by_rapper))
    for known, reader in ways:
        if syntax in known:
            yield reader(body, syntax, url)
    if javascript is not None and syntax in _JS:
        yield javascript.ask(_JS[syntax], body.decode("utf-8", "replace"), url, None, contexts)
