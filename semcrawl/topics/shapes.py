"""Topics given as a shape: a SPARQL ASK query or SHACL shapes that documents satisfy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from typing import Self

import pyoxigraph

from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError
from semcrawl.rdf import detect
from semcrawl.rdf.sparqltext import terms_in
from semcrawl.reading.pool import ReadingLost, ReadingProcesses
from semcrawl.settings.reader import Values
from semcrawl.topics.contract import MARKUP, STATEMENTS, STOPPED, Document, Judgement
from semcrawl.topics.excerpts import blocks
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.shapechecks import Checked, ask, conform
from semcrawl.topics.sourcefiles import statements_of
from semcrawl.topics.vocabularies import Vocabulary
from semcrawl.web.vocabulary import Kind

_SH = "http://www.w3.org/ns/shacl#"
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
        self._memory = Values(options.settings)["SEMCRAWL_ABOUT_SHAPE_MEMORY"]
        if fault := _fault_of(shape, seconds, self._memory):
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
        return _checked(self._processes, self._shape, lines, self._memory)


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
