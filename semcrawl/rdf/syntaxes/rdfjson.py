"""Reads RDF/JSON: an object of subjects, each an object of predicates with arrays of values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyoxigraph

from semcrawl.rdf.limits import ErrorLog
from semcrawl.rdf.mending import label
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.syntaxes._jsontext import CutObject, JsonText, Path, Repeated, Unreadable
from semcrawl.rdf.terms import RDF, language_tag, mended_iri

_NEED_LANGUAGE = (RDF + "langString", RDF + "dirLangString")
#: subjects after which the time is checked
_PER_CHECK = 1000
#: faults whose places are looked up together
_PENDING = 64

_Resource = pyoxigraph.NamedNode | pyoxigraph.BlankNode


def parse_rdfjson(data: bytes, sink: QuadSink, errors: ErrorLog, options: ReadOptions) -> None:
    """Read an RDF/JSON document in UTF-8 into ``sink``.

    A wrong value costs its statement; damage of the JSON costs what it does in JSON-LD. IRIs must
    be absolute, as the syntax demands. Raises :class:`LimitReached`.
    """
    text = JsonText(data.decode("utf-8", "replace"), options.max_depth, errors)
    for start, value in text.values():
        _Walk(text, start, sink, errors, options).read(value)


class _Walk:
    """Writes the statements of one value."""

    def __init__(
        self, text: JsonText, start: int, sink: QuadSink, errors: ErrorLog, options: ReadOptions
    ) -> None:
        self._text, self._start = text, start
        self._sink, self._errors, self._options = sink, errors, options
        #: faults whose places are not looked up yet: path, message, whether mended
        self._faults: list[tuple[Path, str, bool]] = []
        #: what is mended in the statement at hand
        self._mended: list[str] = []

    def read(self, graph: Any) -> None:
        try:
            for number, (subject, predicates, place) in enumerate(self._members(graph, ())):
                if number % _PER_CHECK == 0:
                    self._errors.check_time()
                for predicate, values, inner in self._members(predicates, place):
                    for value, path in self._values(values, inner):
                        self._write(subject, predicate, value, path)
        finally:
            self._report()

    def _members(self, value: Any, path: Path) -> Iterator[tuple[str, Any, Path]]:
        """Yield key, value and path of each member of an object, and of one that stands again."""
        if not isinstance(value, dict):
            self._fault(path, value, "no object of subjects, or of predicates")
            return
        for key, inner in value.items():
            for number, one in enumerate(inner if isinstance(inner, Repeated) else ()):
                yield key, one, (*path, key, -1 - number)
            if not isinstance(inner, Repeated):
                yield key, inner, (*path, key)

    def _values(self, values: Any, path: Path) -> Iterator[tuple[Any, Path]]:
        if isinstance(values, list):
            for number, value in enumerate(values):
                yield value, (*path, number)
        elif isinstance(values, dict):
            self._fault(path, values, "a value in no array", mended=True)
            yield values, path
        else:
            self._fault(path, values, "values in no array")

    def _write(self, subject: str, predicate: str, value: Any, path: Path) -> None:
        self._mended.clear()
        try:
            terms = self._resource(subject), self._iri(predicate), self._term(value)
        except ValueError as error:
            self._fault(path, value, str(error))
            return
        for message in self._mended:
            self._fault(path, value, message, mended=True)
        self._sink.write(f"{terms[0]} {terms[1]} {terms[2]} .\n".encode())

    def _fault(self, path: Path, value: Any, message: str, *, mended: bool = False) -> None:
        if isinstance(value, CutObject):
            return  # where the text is cut is recorded
        if isinstance(value, Unreadable):
            message = value.reason
        if message:
            self._faults.append((path, message, mended))
        if len(self._faults) >= _PENDING:
            self._report()

    def _report(self) -> None:
        faults, self._faults = self._faults, []
        room = max(0, self._options.max_errors - len(self._errors.kept))
        places = self._text.places(self._start, [path for path, *_ in faults[:room]])
        places += [(0, 0)] * (len(faults) - len(places))
        for (_, message, mended), place in zip(faults, places, strict=True):
            add = self._errors.add_mended if mended else self._errors.add
            add(message, *place)

    # Terms. What is none raises ``ValueError``.

    def _resource(self, name: str) -> _Resource:
        return self._node(name) if name.startswith("_:") else self._iri(name)

    def _node(self, name: str) -> pyoxigraph.BlankNode:
        # RDF/JSON has no rule for the names of nodes
        return pyoxigraph.BlankNode(label(name.removeprefix("_:"))[0])

    def _iri(self, name: str) -> pyoxigraph.NamedNode:
        iri = mended_iri(name)
        if iri is None:
            raise ValueError(f"{name[:80]!r} is no absolute IRI")
        if iri != name:
            self._mended.append(f"the IRI {name[:80]!r} was mended")
        return pyoxigraph.NamedNode(iri)

    def _term(self, value: Any) -> _Resource | pyoxigraph.Literal:
        """Return the term of an object."""
        if not isinstance(value, dict) or isinstance(value, CutObject):
            raise ValueError("a value is no object")
        kind, text = value.get("type"), value.get("value")
        language, datatype = value.get("lang"), value.get("datatype")
        if any(isinstance(part, Repeated) for part in value.values()):
            raise ValueError("a value has a key twice")
        if not isinstance(text, str):
            raise ValueError("a value has no text")
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            raise ValueError("a value has half a character")
        if kind == "uri":
            return self._iri(text)
        if kind == "bnode":
            return self._node(text)
        if kind != "literal":
            raise ValueError(f"a value has the unknown type {str(kind)[:80]}")
        if language and datatype in (None, _NEED_LANGUAGE[0]):
            tag, mended = language_tag(language) if isinstance(language, str) else ("", False)
            if not tag:
                raise ValueError(f"{str(language)[:80]!r} is no language tag")
            if mended:
                self._mended.append(f"the language {language[:80]!r} is read as {tag}")
            return pyoxigraph.Literal(text, language=tag)
        if language:
            raise ValueError("a literal has a language and a datatype")
        if datatype is None:
            return pyoxigraph.Literal(text)
        if not isinstance(datatype, str) or datatype in _NEED_LANGUAGE:
            raise ValueError(f"a literal has the datatype {str(datatype)[:80]} and no language")
        return pyoxigraph.Literal(text, datatype=self._iri(datatype))
