"""Topics given as a shape: a SPARQL ASK query or SHACL shapes that documents satisfy.

Checks documents against a query or shapes, in a process that the caller may end.
Queries may not contact other servers, and shapes may not import others. Memory is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from math import exp
from statistics import fmean, median
from typing import TYPE_CHECKING, Any, Self

import pyoxigraph

from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError
from semcrawl.processes import bound_memory
from semcrawl.rdf import detect
from semcrawl.rdf.shortnames import PREFIXES, calls_service, query_error, terms_in
from semcrawl.reading.pool import ReadingLost, ReadingProcesses
from semcrawl.settings.reader import Values
from semcrawl.topics.contract import MARKUP, STATEMENTS, STOPPED, Document, Judgement, TopicOptions
from semcrawl.topics.sourcefiles import statements_of
from semcrawl.topics.texts import blocks
from semcrawl.topics.vocabularies import Vocabulary
from semcrawl.web.vocabulary import Kind

if TYPE_CHECKING:
    import rdflib


_SH = "http://www.w3.org/ns/shacl#"
#: most bytes of memory (address space) of the process that checks
MEMORY = 2 << 30


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
        graph, targeted = shapes_of(shapes)
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
def shapes_of(lines: bytes) -> tuple[rdflib.Graph, list[Any]]:
    """Return the graph of SHACL shapes in N-Quads, and the shapes with a target.

    Raises ``UsageError`` if none has one, or if a query would ask other servers.
    """
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
    return merged(pyoxigraph.parse(lines, format=pyoxigraph.RdfFormat.N_QUADS, lenient=True))


def merged(quads: Iterable[pyoxigraph.Quad]) -> rdflib.Graph:
    """Make a graph of quads, without graph names and without statements about triple terms."""
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
    for quad in quads:
        if isinstance(quad.object, pyoxigraph.Triple):
            continue  # rdflib has no triple terms
        graph.add((term(quad.subject), term(quad.predicate), term(quad.object)))
    return graph


_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#: properties of shapes whose values are terms in the data
_ABOUT_TERMS = frozenset(
    _SH + name for name in ("targetClass", "class", "path", "targetSubjectsOf", "targetObjectsOf")
)
_QUERY = re.compile(r"\s*(?:(?:PREFIX|BASE|ASK)\b|#)", re.I)


class Shape:
    """RDF for which a SPARQL ASK query is true, or in which a node conforms to SHACL shapes.

    With a query the relevance is 0 or 1. With shapes it is 1 when all target nodes conform, above ½
    when some do, and 0 otherwise. The check runs in a process of its own, in bounded time and
    memory. A check that does not end in time counts as 0.
    """

    name = "shape"
    needs = frozenset({STATEMENTS, MARKUP})
    takes_long = True

    def __init__(self, shape: str | bytes, terms: Iterable[str], options: TopicOptions) -> None:
        """Take an ASK query, or shapes as N-Quads; ``terms`` are the data's IRIs in them.

        Raises ``UsageError`` for a wrong query or wrong shapes.
        """
        self._shape = shape
        self._options = options
        self._words = Vocabulary(sorted({term for term in terms if term != _TYPE}), options)
        self.knows_words = any(term != _TYPE for term in terms)
        seconds = Values(options.settings)["SEMCRAWL_ABOUT_SHAPE_TIMEOUT"]
        if fault := _fault_of(shape, seconds, MEMORY):
            raise UsageError(fault)
        self._processes = ReadingProcesses(1, seconds)

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read a query, or a file or URL with a query (``.rq``) or shapes.

        Raises ``UsageError`` for a wrong one, and for shapes if pyshacl is not installed.
        """
        name = argument.strip()
        if not name:
            raise UsageError("name a file with a query or shapes, such as shape:dataset.rq")
        if _QUERY.match(name) and "{" in name:
            return cls(name, list(terms_in(name)), options)
        name = name.strip('"')
        data = options.read(name)
        if name.endswith((".rq", ".sparql")) or detect(data, None, name).kind is not Kind.RDF:
            query = data.decode("utf-8-sig", "replace")
            if not _QUERY.match(query):
                raise UsageError(f"{name} holds neither an ASK query nor SHACL shapes")
            return cls(query, list(terms_in(query)), options)
        if find_spec("pyshacl") is None:
            raise UsageError(f"SHACL needs pyshacl: {install_hint('shacl')}")
        shapes = statements_of(name, options)
        quads = pyoxigraph.parse(shapes, format=pyoxigraph.RdfFormat.N_QUADS)
        terms = [
            quad.object.value
            for quad in quads
            if quad.predicate.value in _ABOUT_TERMS
            and isinstance(quad.object, pyoxigraph.NamedNode)
        ]
        try:
            return cls(shapes, terms, options)
        except UsageError as error:
            raise UsageError(f"{name}: {error}") from error

    def judge(self, document: Document) -> Judgement:
        """Check the statements of a document.

        A page that does not satisfy the shape is near the topic if it names a term of it.
        """
        judged = self._judged(document)
        if judged.relevance or not self.knows_words:
            return judged
        return self._words.named(document) or judged

    def _judged(self, document: Document) -> Judgement:
        lines = b"".join(blocks(document, self._options.max_size))
        if not lines:
            return Judgement.of(0.0, [(self.name, "it makes no statement")])
        try:
            checked = self._check(lines)
        except ReadingLost as lost:
            return Judgement.of(0.0, [(self.name, f"{STOPPED}: {lost}")])
        if checked.fault:
            return Judgement.of(0.0, [(self.name, checked.fault)])
        if isinstance(self._shape, str):
            return Judgement.of(float(checked.holds), [(self.name, f"ASK: {checked.holds}")])
        row = (self.name, f"{checked.conforming} of {checked.nodes} nodes conform")
        share = checked.conforming / checked.nodes if checked.nodes else 0.0
        return Judgement.of(0.5 + share / 2 if checked.holds else 0.0, [row])

    def similarity(self, text: str, language: str = "") -> float:
        """Similarity to the terms in the query or shapes."""
        return self._words.similarity(text, language) if self.knows_words else 0.0

    def iri_similarity(self, iri: str) -> float:
        """Similarity to the terms in the query or shapes."""
        return self._words.iri_similarity(iri) if self.knows_words else 0.0

    def close(self) -> None:
        """End the checking process."""
        self._processes.close()

    def _check(self, lines: bytes) -> Checked:
        return _checked(self._processes, self._shape, lines, MEMORY)


def _checked(processes: ReadingProcesses, shape: str | bytes, lines: bytes, memory: int) -> Checked:
    if isinstance(shape, str):
        return processes.call(ask, shape, lines, memory)
    return processes.call(conform, shape, lines, memory)


@lru_cache(maxsize=4)
def _fault_of(shape: str | bytes, seconds: int, memory: int) -> str:
    """Return what is wrong with a query or shapes; empty if they are valid.

    Cached, as a crawl makes its topic several times.
    """
    processes = ReadingProcesses(1, seconds)
    try:
        return _checked(processes, shape, b"", memory).fault
    except ReadingLost as lost:
        return str(lost)
    finally:
        processes.close()


#: rounds of the estimate; it changes little after ten
_ROUNDS = 25
#: least spread of a heap, and a bad heap's without data, relative to the middle of the good one
_LEAST_SPREAD, _USUAL_SPREAD = 0.08, 0.2
#: documents that the assumed middle of a heap counts for
_ASSUMED = 3.0
#: least share of a heap
_LEAST_SHARE = 0.1
#: bounds of the border, relative to the middle of the good heap of the samples
_LOWEST, _HIGHEST = 0.55, 0.8


@dataclass(frozen=True, slots=True)
class Heap:
    """Similarities around a middle."""

    middle: float
    spread: float
    #: share of all documents
    share: float = 0.5

    def likelihood(self, value: float) -> float:
        """Return how likely a document of this heap has a similarity, up to a factor."""
        away = (value - self.middle) / self.spread
        return self.share / self.spread * exp(-away * away / 2)


@dataclass(frozen=True, slots=True)
class Heaps:
    """The good and the bad heap, and the similarity at which both are equally likely."""

    good: Heap
    bad: Heap
    border: float

    @classmethod
    def of(
        cls, good: Sequence[float], bad: Sequence[float], crawl: Sequence[float], foreign: float
    ) -> Heaps:
        """Estimate two normal distributions (expectation maximisation).

        ``good``: similarities of the good samples, each left out of the topic that it is compared
        with. ``bad``: those of the bad samples. ``crawl``: those of documents of which nothing is
        known. ``foreign``: the assumed middle of the bad heap, which counts for few documents.
        """
        high = median(good)
        assumed = (
            Heap(high, _spread(good, high, high)),
            Heap(
                median(bad) if bad else foreign,
                _spread(bad, median(bad), high) if bad else _USUAL_SPREAD * high,
            ),
        )
        heaps = assumed
        for _ in range(_ROUNDS if crawl else 0):
            likely = [_share_of(heaps[0], heaps[1], value) for value in crawl]
            heaps = (
                _fitted(assumed[0], good, crawl, likely, high),
                _fitted(assumed[1], bad, crawl, [1 - one for one in likely], high),
            )
            share = min(max(fmean(likely), _LEAST_SHARE), 1 - _LEAST_SHARE)
            heaps = replace(heaps[0], share=share), replace(heaps[1], share=1 - share)
        return cls(*heaps, _border(*heaps, high))


def _share_of(good: Heap, bad: Heap, value: float) -> float:
    """Return the probability that a document is good."""
    if value >= good.middle:  # a wide bad heap reaches far
        return 1.0
    if value <= bad.middle:
        return 0.0
    one, other = good.likelihood(value), bad.likelihood(value)
    return one / (one + other) if one + other else float(value * 2 > good.middle + bad.middle)


def _fitted(
    assumed: Heap,
    samples: Sequence[float],
    crawl: Sequence[float],
    likely: Sequence[float],
    high: float,
) -> Heap:
    """Return the heap of its samples and of the documents that are likely to belong to it."""
    values = [*samples, *crawl]
    weights = [*(1.0 for _ in samples), *likely]
    total = sum(weights) + _ASSUMED
    middle = (
        sum(w * v for w, v in zip(weights, values, strict=True)) + _ASSUMED * assumed.middle
    ) / total
    square = (
        sum(w * (v - middle) ** 2 for w, v in zip(weights, values, strict=True))
        + _ASSUMED * assumed.spread**2
    ) / total
    return Heap(middle, max(square**0.5, _LEAST_SPREAD * high))


def _spread(values: Sequence[float], middle: float, high: float) -> float:
    """Return the spread of samples around their middle, which few outliers do not change."""
    away = 1.5 * median(abs(value - middle) for value in values) if values else 0.0
    return max(away, _LEAST_SPREAD * high)


def _border(good: Heap, bad: Heap, high: float) -> float:
    """Return where a document is as likely good as bad."""
    low, top = min(bad.middle, good.middle), good.middle
    for _ in range(40):
        middle = (low + top) / 2
        if good.likelihood(middle) >= bad.likelihood(middle):
            top = middle
        else:
            low = middle
    return min(max(top, _LOWEST * high), _HIGHEST * high)
