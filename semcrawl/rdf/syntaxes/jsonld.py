"""Reads JSON-LD 1.1 into quads.

A document is parsed to values once. Each node is then expanded under its context and written as
quads in one step (JSON-LD 1.1 API, sections 5 and 8.2), so that every fault has a known extent: a
value that is wrong costs its statement, a name that cannot be read costs the statements that need
it. Where the standard drops something without a word, it is recorded, but for keys that no context
defines.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from json.encoder import encode_basestring
from typing import Any, cast

from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.syntaxes._jsoncontexts import (
    KEYWORDS,
    LONG,
    UNKNOWN,
    Context,
    Contexts,
    Doubt,
    Term,
    datatype_suffix,
)
from semcrawl.rdf.syntaxes._jsontext import (
    CutArray,
    CutObject,
    JsonText,
    Path,
    Repeated,
    Unreadable,
)
from semcrawl.rdf.terms import RDF, XSD, is_iri, language_tag, mended_iri

#: keys and values of an object by keyword
_Special = dict[str, tuple[str, Any]]
#: a property of an object: what its key means, key, value, the object, and its context
_Entry = tuple[Term, str, Any, dict[str, Any], Context]
#: returns line and column of parts of a value, which are named by their paths
Places = Callable[[list[Path]], list[tuple[int, int]]]

_TYPE, _FIRST, _REST = f"<{RDF}type>", f"<{RDF}first>", f"<{RDF}rest>"
_NIL = f"<{RDF}nil>"
_BOOLEAN, _INTEGER, _DOUBLE = f"^^<{XSD}boolean>", f"^^<{XSD}integer>", f"^^<{XSD}double>"
_JSON = f"^^<{RDF}JSON>"
#: what JSON's escapes in a text may bring into strings that a literal cannot hold as it is
_ODD = re.compile("[\x00-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
#: what such a string comes from, unless the text is damaged
_SIGNS_OF_ODD = (b"\\u", b"\x7f", b"\xef\xbf\xbe", b"\xef\xbf\xbf")
_LABEL = re.compile(r"_:(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?)\Z")
#: lines that are handed on together
_LINES = 2000
#: calls for one level of nesting
_CALLS = 8
#: faults whose places are looked up together
_PENDING = 64
#: keywords of objects that are no nodes, and what they may have beside
_NO_NODE = frozenset({"@value", "@list", "@set"})
#: stands in place of a keyword for a key that may be one
_DOUBTFUL = ""
_GRAPH_ONLY = frozenset({"@graph", _DOUBTFUL})
#: keywords whose values add up
_SEVERAL = frozenset({"@type", "@graph", "@included", "@reverse"})
#: keywords whose value is never null (JSON-LD 1.1 API, 5.1.2, step 13.4)
_NEVER_NULL = frozenset({"@id", "@type", "@index", "@included", "@reverse", "@nest"})
_VALUE_KEYS = frozenset({"@value", "@type", "@language", "@direction", "@index"})
_LIST_KEYS = frozenset({"@list", "@set", "@index"})


def parse_jsonld(
    data: bytes,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    options: ReadOptions,
    contexts: Mapping[str, bytes] | None = None,
    first_line: int = 1,
) -> tuple[str, ...]:
    """Read a JSON-LD document in UTF-8 into ``sink``; return the URLs of missing contexts.

    A context that is missing or wrong is an error, and what depends on it is left out. Damage of
    the JSON (comments, extra commas, raw line ends in strings, an early end) is recorded and costs
    no more than it must. Raises :class:`LimitReached`, and :class:`ValueError` if ``base`` is no
    absolute IRI.
    """
    reader = _Reader(base, sink, errors, options, contexts or {})
    reader.may_be_odd = any(sign in data for sign in _SIGNS_OF_ODD)
    text = JsonText(data.decode("utf-8", "replace"), options.max_depth, errors, first_line)

    def values() -> Iterator[tuple[Any, Places]]:
        for start, value in text.values():
            reader.may_be_odd |= text.is_damaged
            yield value, partial(text.places, start)

    return reader.read_all(values())


def parse_jsonld_value(
    value: Any,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    options: ReadOptions,
    contexts: Mapping[str, bytes] | None = None,
    line: int = 0,
) -> tuple[str, ...]:
    """Read JSON-LD that another parser made values of, like :func:`parse_jsonld`.

    Its errors are at ``line``.
    """
    reader = _Reader(base, sink, errors, options, contexts or {})
    return reader.read_all([(value, lambda paths: [(line, 1)] * len(paths))])


def _allow_depth(depth: int) -> None:
    """Let Python go as deep as a document of this depth needs. Its own calls take no stack."""
    if sys.getrecursionlimit() < _CALLS * depth + 1000:
        sys.setrecursionlimit(_CALLS * depth + 1000)


class _Reader:
    """Writes the statements of values."""

    def __init__(
        self,
        base: str,
        sink: QuadSink,
        errors: ErrorLog,
        options: ReadOptions,
        contexts: Mapping[str, bytes],
    ) -> None:
        self.contexts = Contexts(base, contexts, options.max_context_bytes)
        #: whether strings may hold what a literal cannot hold as it is
        self.may_be_odd = True
        sink.flush()
        self._sink, self._errors, self._options = sink, errors, options
        self._out: list[str] = []
        #: lines that are handed on together: one where terms are long
        self._limit = _LINES
        #: faults of contexts that are recorded
        self._said: set[str] = set()
        #: names of blank nodes whose labels N-Quads cannot have
        self._labels: dict[str, str] = {}
        #: faults whose places are not looked up yet: container, key, message, whether mended
        self._faults: list[tuple[Any, str | int, str, bool]] = []
        self._losses = 0
        #: nodes around the current one
        self._depth = 0
        self._root: Any = None
        self._places: Places
        self._default = sink.default_tail.decode("utf-8", "replace")
        self._fresh = sink.names.fresh

    def read_all(self, values: Iterable[tuple[Any, Places]]) -> tuple[str, ...]:
        """Read a document's values; return the URLs of missing contexts.

        Raises :class:`LimitReached`.
        """
        _allow_depth(self._options.max_depth)
        try:
            for value, self._places in values:
                self._read(value)
        except RecursionError:
            raise LimitReached(f"nested deeper than {self._options.max_depth} levels") from None
        finally:
            self._flush()
        return tuple(self.contexts.needed)

    def _read(self, value: Any) -> None:
        self._root = value
        try:
            if isinstance(value, dict):
                self._object(value, self.contexts.initial, None, self._default, top=True)
            else:
                self._members(value, self.contexts.initial, self._default, value, 0)
        finally:
            self._report()

    def _flush(self) -> None:
        """Hand on the lines so far."""
        if self._out:
            lines = "".join(self._out).encode()
            self._out.clear()
            self._sink.add_quads(lines)
            self._errors.check_time()

    # Faults: they are recorded with their places when the value is read, or many are waiting

    def _lost(self, container: Any, key: str | int, message: str) -> None:
        self._losses += 1
        self._faults.append((container, key, message, False))
        if len(self._faults) >= _PENDING:
            self._report()

    def _mended(self, container: Any, key: str | int, message: str) -> None:
        self._faults.append((container, key, message, True))
        if len(self._faults) >= _PENDING:
            self._report()

    def _report(self) -> None:
        faults, self._faults = self._faults, []
        if not faults:
            return
        room = max(0, self._options.max_errors - len(self._errors.kept))
        places = [(0, 0)] * len(faults)
        if room:
            found = _paths(self._root, [(container, key) for container, key, *_ in faults[:room]])
            places[:room] = self._places(found)
        for (_, _, message, mended), (line, column) in zip(faults, places, strict=True):
            add = self._errors.add_mended if mended else self._errors.add
            add(message, line, column)

    def _context_faults(self, container: Any, key: str | int) -> None:
        """Record what is wrong with the contexts that were just processed, each once."""
        faults, self.contexts.faults = self.contexts.faults, []
        for message, mended in faults:
            if message not in self._said:
                self._said.add(message)
                (self._mended if mended else self._lost)(container, key, message)

    # Nodes

    def _object(
        self,
        obj: dict[str, Any],
        active: Context,
        term: Term | None,
        tail: str,
        *,
        top: bool = False,
        mapped: bool = False,
        given: str = "",
    ) -> str | tuple[str, ...] | None:
        """Write the statements of a node, or a list; return the terms that the object stands for.

        ``term`` is the property that leads to it, ``tail`` ends the lines of its graph. ``given``
        is the subject if it names none; ``mapped`` objects are values of a map.
        """
        size = len(obj)
        if size <= 2 and term is not None and not term.has_context:
            if size == 1 and type(name := obj.get("@id")) is str:
                return active.iris.get(name) or self._reference(name, active, obj, "@id")
            if type(text := obj.get("@value")) is str:
                if size == 1:
                    return self._literal(text, "", obj, "@value")
                if type(tag := obj.get("@language")) is str:
                    suffix = self._language(tag, obj)
                    return self._literal(text, suffix, obj, "@value") if suffix else None
        if active.previous is not None and not mapped:
            active = _reverted(obj, active)
        if term is not None and term.has_context:
            active = self.contexts.scoped(active, term, overrides=True, propagates=True)
            self._context_faults(obj, "@context")
        if "@context" in obj:
            local = obj["@context"]
            if isinstance(local, Repeated | Unreadable | CutObject | CutArray):
                self._lost(obj, "@context", "a context that stands several times, or is no JSON")
                return None
            active = self.contexts.process(active, local)
            self._context_faults(obj, "@context")
        elif active is self.contexts.initial and type(obj) is CutObject:
            active = self.contexts.doubtful(active, "the part that is cut off")
        if active.dead:
            return self._without_context(obj)
        special, entries = self._entries(obj, active)
        typed = active
        if "@type" in special:
            active = self._type_scoped(special["@type"][1], active)
            if active is not typed:
                self._context_faults(obj, special["@type"][0])
                if active.dead:
                    return self._without_context(obj)
                special, entries = self._entries(obj, active)
        if len(special) == 1 and "@language" in special and not entries:
            return None
        if "@value" in special or "@list" in special or "@set" in special:
            if type(obj) is CutObject and "@value" in special:
                return None
            return self._no_node(obj, special, entries, active, typed, term, tail)
        if type(obj) is CutObject and not entries and "@id" not in special:
            return None
        return self._node(obj, special, entries, active, typed, tail, top=top, given=given)

    def _entries(self, obj: dict[str, Any], active: Context) -> tuple[_Special, list[_Entry]]:
        """Return the keywords of an object with their keys and values, and its properties."""
        special: _Special = {}
        entries: list[_Entry] = []
        terms = active.terms
        for key, value in obj.items():
            term = terms.get(key)
            if term is None:
                term = active.term(key)
            if term.predicate and not term.fault:
                entries.append((term, key, value, obj, active))
            elif term.keyword:
                if key != "@context" and (value is not None or term.keyword in _NO_NODE):
                    self._add_special(special, term.keyword, key, value, obj)
                elif value is None and term.keyword in _NEVER_NULL:
                    self._mended(obj, key, f"{term.keyword} is null, which is as none")
            elif term.fault and value is not None:
                self._lost(obj, key, term.fault)
                special[_DOUBTFUL] = (key, None)
        if "@nest" in special:
            for key, value in cast(list[tuple[str, Any]], special.pop("@nest")[1]):
                self._nested(obj, key, value, active, special, entries)
        return special, entries

    def _add_special(
        self, special: _Special, keyword: str, key: str, value: Any, obj: dict[str, Any]
    ) -> None:
        if keyword == "@nest":
            special.setdefault(keyword, (key, []))[1].append((key, value))
        elif keyword not in special:
            special[keyword] = (key, value)
        elif keyword in _SEVERAL:
            special[keyword] = (key, [*_as_list(special[keyword][1]), *_as_list(value)])
        elif value != special[keyword][1]:
            special[keyword] = (key, Unreadable(f"{keyword} stands twice"))

    def _nested(
        self,
        obj: dict[str, Any],
        key: str,
        value: Any,
        active: Context,
        special: _Special,
        entries: list[_Entry],
    ) -> None:
        """Add what is nested in an object to its keywords and properties."""
        term = active.term(key)
        if term.has_context:
            active = self.contexts.scoped(active, term, overrides=True, propagates=True)
            self._context_faults(obj, key)
        for item in _as_list(value):
            if not isinstance(item, dict):
                self._lost(obj, key, "a value of @nest that is no object")
                continue
            inner, properties = self._entries(item, active)
            if "@value" in inner:
                self._lost(obj, key, "a value of @nest that is a value object")
                continue
            for keyword, (inner_key, inner_value) in inner.items():
                self._add_special(special, keyword, inner_key, inner_value, item)
            entries.extend(properties)

    def _type_scoped(self, types: Any, active: Context) -> Context:
        """Return the context that the types of a node make."""
        typed = active
        names = [name for name in _as_list(types) if type(name) is str]
        for name in sorted(names) if len(names) > 1 else names:
            term = typed.terms.get(name) or typed.term(name)
            if term.has_context:
                active = self.contexts.scoped(active, term, overrides=False, propagates=False)
        return active

    def _without_context(self, obj: dict[str, Any]) -> str | None:
        """Return the name of a node of which no more is known, if it has one."""
        name = obj.get("@id")
        if type(name) is str and "://" in name:
            return self._reference(name, self.contexts.initial, obj, "@id")
        return None

    def _node(
        self,
        obj: dict[str, Any],
        special: _Special,
        entries: list[_Entry],
        active: Context,
        typed: Context,
        tail: str,
        *,
        top: bool,
        given: str,
    ) -> str | None:
        """Write what an object says of its subject; return the subject, if it is certain."""
        self._depth += 1
        if self._depth > self._options.max_depth:
            raise LimitReached(f"nested deeper than {self._options.max_depth} levels")
        subject: str | None = given
        if "@id" in special:
            subject = self._subject(special["@id"], active, obj)
        elif not given:
            if (
                top
                and "@graph" in special
                and special.keys() <= _GRAPH_ONLY
                and all(value is None for _, _, value, *_ in entries)
            ):
                key, content = special["@graph"]
                if _DOUBTFUL in special:
                    self._lost(obj, key, "a graph that may have a name")
                else:
                    self._members(content, active, tail, obj, key)
                self._depth -= 1
                return None
            subject = self._fresh()
        out: list[str] | _Count = self._out
        if subject is None:
            subject, out = "", _Count()
        elif len(subject) > LONG:
            self._limit = 1
        append, quote = out.append, encode_basestring
        slow = self.may_be_odd or not self.contexts.knows_languages
        if "@type" in special:
            key, types = special["@type"]
            for name in _as_list(types):
                kind = self._type(name, typed, obj, key)
                if kind is not None:
                    append(f"{subject} {_TYPE} {kind}{tail}")
        for term, key, value, container, scope in entries:
            if not term.plain:
                self._complex(subject, term, key, value, container, scope, tail, out)
                continue
            predicate = term.predicate
            suffix = scope.suffix if term.suffix is None else term.suffix
            several = type(value) is list
            for item in value if several else (value,):
                if type(item) is str and not term.coerce and not slow:
                    append(f"{subject} {predicate} {quote(item)}{suffix}{tail}")
                else:
                    if type(item) is dict:
                        found = self._object(item, scope, term, tail)
                    else:
                        found = self._scalar(item, term, scope, tail, container, key)
                    if type(found) is str:
                        append(f"{subject} {predicate} {found}{tail}")
                    elif found is not None:
                        for each in found:
                            append(f"{subject} {predicate} {each}{tail}")
                if len(self._out) >= self._limit:
                    self._flush()
        if special:
            self._keywords(subject, special, active, tail, obj, out)
        if len(self._out) >= self._limit:
            self._flush()
        self._depth -= 1
        if not isinstance(out, _Count):
            return subject
        for _ in range(out.count):
            self._lost(obj, special["@id"][0], "a statement whose subject is no IRI")
        return None

    def _subject(self, entry: tuple[str, Any], active: Context, obj: Any) -> str | None:
        key, value = entry
        if isinstance(value, list) and len(value) == 1 and not isinstance(value, CutArray):
            self._mended(obj, key, "@id is an array of one")
            value = value[0]
        if isinstance(value, str):
            return active.iris.get(value) or self._reference(value, active, obj, key)
        if not isinstance(value, Unreadable):
            self._lost(obj, key, "@id is no string")
        elif value.reason:
            self._lost(obj, key, value.reason)
        return None

    def _keywords(
        self,
        subject: str,
        special: _Special,
        active: Context,
        tail: str,
        obj: dict[str, Any],
        out: list[str] | _Count,
    ) -> None:
        """Write what ``@graph``, ``@reverse`` and ``@included`` say."""
        for keyword, (key, value) in special.items():
            if keyword == "@graph":
                if subject:
                    self._members(value, active, f" {subject} .\n", obj, key)
                else:
                    self._lost(obj, key, "a graph whose name is no IRI")
            elif keyword == "@included":
                for item in _as_list(value):
                    if not isinstance(item, dict) or not self._is_node(item, active):
                        self._lost(obj, key, "a value of @included that is no node")
                    else:
                        self._object(item, active, None, tail)
            elif keyword == "@reverse":
                for item in _as_list(value):
                    if isinstance(item, dict):
                        self._reversed(subject, item, active, tail, out)
                    else:
                        self._lost(obj, key, "a value of @reverse that is no object")
            elif keyword == "@index":
                if not isinstance(value, str):
                    self._mended(obj, key, "@index is no string")
            elif keyword not in ("@id", "@type", _DOUBTFUL):
                self._lost(obj, key, f"{keyword} has no meaning in a node")

    def _reversed(
        self,
        subject: str,
        item: dict[str, Any],
        active: Context,
        tail: str,
        out: list[str] | _Count,
    ) -> None:
        special, entries = self._entries(item, active)
        for key, _ in special.values():
            self._lost(item, key, "a keyword in @reverse")
        for term, key, value, container, scope in entries:
            self._complex(
                subject, term, key, value, container, scope, tail, out, backwards=not term.reverse
            )

    def _type(self, name: Any, typed: Context, obj: Any, key: str) -> str | None:
        if type(name) is str:
            term = typed.terms.get(name) or typed.term(name)
            if term.predicate and not (term.fault or term.mended):
                return term.predicate
            return self._reference(name, typed, obj, key, vocab=True)
        if not isinstance(name, Unreadable):
            self._lost(obj, key, "@type is no string")
        elif name.reason:
            self._lost(obj, key, name.reason)
        return None

    def _members(self, value: Any, active: Context, tail: str, container: Any, key: Any) -> None:
        """Write the nodes of a graph."""
        if isinstance(value, dict):
            self._object(value, active, None, tail)
        elif isinstance(value, list):
            for number, item in enumerate(value):
                self._members(item, active, tail, value, number)
        elif isinstance(value, Unreadable) and value.reason:
            self._lost(container, key, value.reason)

    def _is_node(self, obj: dict[str, Any], active: Context) -> bool:
        return all(active.term(key).keyword not in _NO_NODE for key in obj)

    # Values

    def _value(
        self, item: Any, term: Term, active: Context, tail: str, container: Any, key: str | int
    ) -> str | tuple[str, ...] | None:
        """Return the terms that a value of a property stands for."""
        if type(item) is dict:
            return self._object(item, active, term, tail)
        return self._scalar(item, term, active, tail, container, key)

    def _scalar(
        self, item: Any, term: Term, active: Context, tail: str, container: Any, key: str | int
    ) -> str | tuple[str, ...] | None:
        """Return the terms of a value that is no plain object."""
        if type(item) is str:
            if term.has_context:
                active = self.contexts.scoped(active, term, overrides=True, propagates=True)
                self._context_faults(container, key)
            if term.coerce == 1:
                return active.iris.get(item) or self._reference(item, active, container, key)
            if term.coerce:
                return self._reference(item, active, container, key, vocab=True)
            suffix = active.suffix if term.suffix is None else term.suffix
            return self._literal(item, suffix, container, key)
        if item is None:
            return None
        if isinstance(item, bool | int | float):
            datatype = term.type if term.type[:1] != "@" else ""
            return self._native(item, datatype, container, key)
        if isinstance(item, Unreadable):
            if item.reason:
                self._lost(container, key, item.reason)
            return None
        if isinstance(item, dict):
            return self._object(item, active, term, tail)
        if isinstance(item, list):
            if isinstance(item, Repeated):
                self._mended(container, key, "a key that stands several times")
            found: list[str] = []
            for number, inner in enumerate(item):
                value = self._value(inner, term, active, tail, item, number)
                found.extend((value,) if type(value) is str else value or ())
            return tuple(found)
        self._lost(container, key, f"a value that JSON has not: {type(item).__name__}")
        return None

    def _literal(self, text: str, suffix: str, container: Any, key: str | int) -> str | None:
        if suffix == UNKNOWN:
            self._lost(container, key, "a string in a language that is not known")
            return None
        if self.may_be_odd and _ODD.search(text):
            if _SURROGATE.search(text):
                self._lost(container, key, "a string with half of a surrogate pair")
                return None
            return _quoted(text) + suffix
        return encode_basestring(text) + suffix

    def _native(
        self,
        value: bool | int | float,
        datatype: str,
        container: Any,
        key: str | int,
    ) -> str | None:
        """Return the literal of a number, ``true`` or ``false`` (section 8.2.2)."""
        suffix = datatype_suffix(datatype) if datatype else None
        if isinstance(value, bool):
            return f'"{"true" if value else "false"}"{_BOOLEAN if suffix is None else suffix}'
        whole = isinstance(value, int) or value.is_integer()
        if whole and abs(value) < 10**21 and datatype != XSD + "double":
            return f'"{int(value)}"{_INTEGER if suffix is None else suffix}'
        try:
            mantissa, exponent = f"{float(value):.15E}".split("E")
        except (OverflowError, ValueError):  # ValueError: infinite
            self._lost(container, key, "a number that is too large")
            return None
        mantissa = mantissa.rstrip("0")
        mantissa += "0" * mantissa.endswith(".")
        return f'"{mantissa}E{int(exponent)}"{_DOUBLE if suffix is None else suffix}'

    def _reference(
        self, text: str, active: Context, container: Any, key: str | int, *, vocab: bool = False
    ) -> str | None:
        """Return the term of an IRI, of a reference to one, or of a blank node."""
        name = text.strip()
        if name.startswith(("http://", "https://")):  # means itself in every context
            found = iri = name
        else:
            try:
                iri = active.expand(name, vocab=vocab) or ""
            except Doubt as doubt:
                self._lost(container, key, str(doubt))
                return None
            if iri.startswith("_:"):
                return self._blank(iri)
            found = "" if iri in KEYWORDS else iri
        if not is_iri(found):
            found = mended_iri(found) or ""
        if not found:
            self._lost(container, key, f"{text[:200]!r} is no IRI")
            return None
        if len(found) > LONG:
            self._limit = 1
        if found != iri or name != text:
            self._mended(container, key, f"the IRI {text[:200]!r} was mended")
        elif not vocab and len(found) <= LONG:
            if len(active.iris) > 50_000:
                active.iris.clear()
            active.iris[text] = f"<{found}>"
        return f"<{found}>"

    def _blank(self, label: str) -> str:
        if _LABEL.match(label) and len(label) > 2:
            names = self._sink.names
            return f"{names.labelled.decode()}{label[2:]}{names.end.decode()}"
        if label not in self._labels:
            self._labels[label] = self._fresh()
        return self._labels[label]

    def _no_node(
        self,
        obj: dict[str, Any],
        special: _Special,
        entries: list[_Entry],
        active: Context,
        typed: Context,
        term: Term | None,
        tail: str,
    ) -> str | tuple[str, ...] | None:
        """Return the terms of a value object, a list or a set."""
        if term is None:  # it belongs to no node
            if "@set" in special:
                self._members(special["@set"][1], active, tail, obj, special["@set"][0])
            return None
        allowed = _VALUE_KEYS if "@value" in special else _LIST_KEYS
        if entries or not special.keys() <= allowed or len(special.keys() & _NO_NODE) > 1:
            self._lost(obj, next(iter(obj)), "an object that is both a value and something else")
            return None
        if "@value" in special:
            return self._value_object(obj, special, typed)
        if "@list" in special:
            key, items = special["@list"]
            return self._list(items, term, active, tail, obj, key)
        key, items = special["@set"]
        return self._value(items, term, active, tail, obj, key)

    def _value_object(self, obj: dict[str, Any], special: _Special, typed: Context) -> str | None:
        key, value = special["@value"]
        datatype, language, suffix = "", None, ""
        if "@type" in special:
            kind_key, kind = special["@type"]
            if kind == "@json" or (isinstance(kind, str) and typed.term(kind).keyword == "@json"):
                return self._json(value, obj, key)
            if not isinstance(kind, str):
                self._lost(obj, kind_key, "the @type of a value is no string")
                return None
            found = self._reference(kind, typed, obj, kind_key, vocab=True)
            if found is None:
                return None
            datatype = found[1:-1]
            end = datatype_suffix(datatype) if found[0] == "<" else None
            if end is None:
                self._lost(obj, kind_key, f"{kind[:200]} cannot be the datatype of a string")
                return None
            suffix = end
        if value is None:
            return None
        if "@language" in special:
            language_key, language = special["@language"]
            if not isinstance(language, str) or not isinstance(value, str) or datatype:
                self._lost(
                    obj, language_key, "@language is no string, or stands with another value"
                )
                return None
        if special.get("@direction", ("", "ltr"))[1] not in ("ltr", "rtl"):
            self._mended(obj, special["@direction"][0], "@direction is neither ltr nor rtl")
        if not isinstance(special.get("@index", ("", ""))[1], str):
            self._mended(obj, special["@index"][0], "@index is no string")
        if isinstance(value, str):
            if language is not None:
                suffix = self._language(language, obj)
                return self._literal(value, suffix, obj, key) if suffix else None
            return self._literal(value, suffix, obj, key)
        if isinstance(value, bool | int | float):
            return self._native(value, datatype, obj, key)
        if not isinstance(value, Unreadable):
            self._lost(obj, key, "@value is neither a string nor a number nor true nor false")
        elif value.reason:
            self._lost(obj, key, value.reason)
        return None

    def _language(self, language: str, container: Any) -> str:
        """Return what follows the quotation mark of a text in a language; nothing if in none."""
        tag, mended = language_tag(language)
        if mended or not tag:
            report = self._mended if tag else self._lost
            report(container, next(iter(container)), f"no language tag: {language[:80]!r}")
        return f"@{tag}" if tag else ""

    def _list(
        self, items: Any, term: Term, active: Context, tail: str, container: Any, key: str | int
    ) -> str | None:
        """Write a list; return its first node. A value that is left out leaves its place."""
        found: list[str | None] = []
        members = items if isinstance(items, list) else [] if items is None else [items]
        for number, item in enumerate(members):
            place = (items, number) if members is items else (container, key)
            if isinstance(item, list) and not isinstance(item, Repeated):
                found.append(self._list(item, term, active, tail, *place))
            elif item is not None:
                before = self._losses
                value = self._value(item, term, active, tail, *place)
                if type(value) is tuple:
                    found.extend(value)
                elif type(value) is str or self._losses > before or isinstance(item, Unreadable):
                    found.append(cast(str | None, value))
        return self._chain(found, tail, whole=not isinstance(items, CutArray))

    def _chain(self, items: list[str | None], tail: str, *, whole: bool) -> str:
        """Write the nodes of a list; one of which the end is missing has none."""
        if not items:
            return _NIL if whole else self._fresh()
        node = first = self._fresh()
        out = self._out
        for number, item in enumerate(items):
            if item is not None:
                out.append(f"{node} {_FIRST} {item}{tail}")
            if number + 1 < len(items):
                following = self._fresh()
                out.append(f"{node} {_REST} {following}{tail}")
                node = following
            if len(out) >= self._limit:
                self._flush()
        if whole:
            out.append(f"{node} {_REST} {_NIL}{tail}")
        return first

    def _json(self, value: Any, container: Any, key: str | int) -> str | None:
        """Return a value as a JSON literal."""
        try:
            text = canonical_json(value)
        except ValueError as error:
            self._lost(container, key, str(error))
            return None
        return self._literal(text, _JSON, container, key)

    # Properties whose terms say more than how to read strings

    def _complex(
        self,
        subject: str,
        term: Term,
        key: str,
        value: Any,
        container: dict[str, Any],
        active: Context,
        tail: str,
        out: list[str] | _Count,
        *,
        backwards: bool | None = None,
    ) -> None:
        """Write the statements of a property; ``backwards`` if its values are the subjects."""
        if isinstance(value, Repeated):
            self._mended(container, key, "a key that stands several times")
            for number, item in enumerate(value):
                one = {key: item}
                _ = number
                self._complex(subject, term, key, item, one, active, tail, out, backwards=backwards)
            return
        if term.mended:
            self._mended(container, key, term.mended)
        if backwards is None:
            backwards = term.reverse
        found: tuple[str, ...] | str | None
        if term.type == "@json":
            found = self._json(value, container, key)
        elif "@list" in term.container and value is not None and not self._is_list(value, active):
            found = self._list(value, term, active, tail, container, key)
        elif type(value) is dict and (maps := term.container & _MAPS):
            found = tuple(self._mapped(maps, term, value, active, tail))
        elif "@graph" in term.container:
            found = tuple(
                self._graph(item, term, active, tail, "")
                for item in _as_list(value)
                if item is not None
            )
        elif backwards and any(self._is_list(item, active) for item in _as_list(value)):
            self._lost(container, key, "a list in a reverse property")
            return
        else:
            found = self._value(value, term, active, tail, container, key)
        for item in (found,) if type(found) is str else found or ():
            if not backwards:
                out.append(f"{subject} {term.predicate} {item}{tail}")
            elif item[0] == '"':
                self._lost(container, key, "a value of a reverse property that is no node")
            elif subject:
                self._out.append(f"{item} {term.predicate} {subject}{tail}")
            else:
                out.append("")
        if len(self._out) >= self._limit:
            self._flush()

    def _is_list(self, value: Any, active: Context) -> bool:
        """Whether a value says itself that it is a list."""
        return isinstance(value, dict) and any(active.term(key).keyword == "@list" for key in value)

    def _mapped(
        self,
        maps: frozenset[str],
        term: Term,
        value: dict[str, Any],
        active: Context,
        tail: str,
    ) -> list[str]:
        """Return the terms of the values of a map, by language, index, identifier or type."""
        if "@language" in maps:
            return list(self._by_language(term, value, active))
        found: list[str] = []
        inner = active
        if maps & {"@id", "@type"} and active.previous is not None:
            inner = active.previous
        for index, item in value.items():
            scope = inner
            if "@type" in maps:
                kind = inner.defined(index)
                if kind is not None and kind.has_context:
                    scope = self.contexts.scoped(inner, kind, overrides=False, propagates=True)
                    self._context_faults(value, index)
            named = active.term(index).keyword != "@none" and index != "@none"
            for each in _flat(item):
                found += self._of_map(
                    maps, term, each, (value, index), active, scope, tail, named=named
                )
        return found

    def _of_map(
        self,
        maps: frozenset[str],
        term: Term,
        item: Any,
        place: tuple[dict[str, Any], str],
        active: Context,
        scope: Context,
        tail: str,
        *,
        named: bool,
    ) -> list[str]:
        """Return the terms of one value of a map; write what its index says of it."""
        index = place[1]
        given = ""
        if "@id" in maps and named:
            name = self._reference(index, active, *place)
            if name is None:
                return []
            given = name
        if isinstance(item, Unreadable | None):
            if item is not None and item.reason:
                self._lost(*place, item.reason)
            return []
        found: str | tuple[str, ...] | None
        if "@graph" in term.container and not (
            isinstance(item, dict) and self._is_graph(item, scope)
        ):
            found = self._graph(item, term, scope, tail, given)
        elif isinstance(item, dict):
            found = self._object(item, scope, term, tail, mapped=True, given=given)
        else:
            found = self._scalar(item, term, scope, tail, *place)
        results: list[str] = []
        for each in (found,) if type(found) is str else found or ():
            if "@type" in maps and named:
                kind = self._type(index, active, *place)
                if kind is not None and each[0] != '"':
                    self._out.append(f"{each} {_TYPE} {kind}{tail}")
            if "@index" in maps and term.index and named:
                of_index = active.term(term.index)
                if each[0] == '"' or not of_index.predicate:
                    self._lost(*place, "an index that is a property, of a value that is no node")
                    continue
                value = self._scalar(index, of_index, active, tail, *place)
                if type(value) is str:
                    self._out.append(f"{each} {of_index.predicate} {value}{tail}")
            results.append(each)
        return results

    def _is_graph(self, obj: dict[str, Any], active: Context) -> bool:
        keywords = {active.term(key).keyword for key in obj}
        return "@graph" in keywords and keywords <= {"@graph", "@id", "@index", "@context"}

    def _graph(self, item: Any, term: Term, active: Context, tail: str, name: str) -> str:
        """Write a value as a graph of its own; return the graph's name."""
        name = name or self._fresh()
        if isinstance(item, dict):
            self._object(item, active, term, f" {name} .\n")
        return name

    def _by_language(self, term: Term, value: dict[str, Any], active: Context) -> Iterator[str]:
        for tag, texts in value.items():
            suffix = ""
            if tag != "@none" and active.term(tag).keyword != "@none":
                suffix = self._language(tag, value)
                if not suffix:
                    continue
            for text in _as_list(texts):
                if isinstance(text, str):
                    found = self._literal(text, suffix, value, tag)
                    if found is not None:
                        yield found
                elif isinstance(text, Unreadable):
                    self._lost(value, tag, text.reason or "a value that cannot be read")
                elif text is not None:
                    self._lost(value, tag, "a text in a language that is no string")


_MAPS = frozenset({"@language", "@index", "@id", "@type"})


class _Count:
    """Counts lines instead of keeping them."""

    def __init__(self) -> None:
        self.count = 0

    def append(self, line: str) -> None:
        self.count += 1


def _reverted(obj: dict[str, Any], active: Context) -> Context:
    """Return the context of an inner object, where the current one was for the outer alone."""
    keywords = [active.term(key).keyword for key in obj]
    if "@value" in keywords or keywords == ["@id"]:
        return active
    return active.previous or active


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def _quoted(text: str) -> str:
    """Return a literal without its datatype, in canonical N-Triples."""
    return _ODD.sub(
        lambda m: f"\\u{ord(m[0]):04X}", _PLAIN_ESCAPES.sub(lambda m: _ESCAPES[m[0]], text)
    ).join('""')


_ESCAPES = {
    '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f",
}  # fmt: skip
_PLAIN_ESCAPES = re.compile(r'["\\\n\r\t\x08\x0c]')


def canonical_json(value: Any) -> str:
    """Return JSON in its canonical form (RFC 8785). Raises :class:`ValueError`.

    >>> canonical_json({"b": [1.0, 1e-7, 1e30], "a": None})
    '{"a":null,"b":[1,1e-7,1e+30]}'
    """
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int | float):
        return _number(float(value))
    if isinstance(value, dict) and not isinstance(value, CutObject):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        members = (f"{encode_basestring(key)}:{canonical_json(value[key])}" for key in keys)
        return "{" + ",".join(members) + "}"
    if isinstance(value, list) and not isinstance(value, Repeated | CutArray):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    raise ValueError("a JSON literal with a part that cannot be read")


def _number(value: float) -> str:
    """Return a number as ECMAScript writes it."""
    if not math.isfinite(value):
        raise ValueError("a number that is too large")
    if value == 0:
        return "0"
    mantissa, _, exponent = f"{value!r}".replace("e", "E").partition("E")
    sign, mantissa = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = int(exponent or 0) + len(whole)
    if whole == "0":
        point = int(exponent or 0) - (len(fraction) - len(digits))
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits.ljust(point, "0")
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{rest}e{point - 1:+d}"


def _paths(root: Any, wanted: list[tuple[Any, str | int]]) -> list[Path]:
    """Return the paths of members of containers in a value; that of the value if unknown."""
    found: dict[int, Path] = {}
    missing = {id(container) for container, _ in wanted}
    waiting: list[tuple[Any, Path]] = [(root, ())]
    while waiting and missing:
        value, path = waiting.pop()
        if id(value) in missing:
            missing.discard(id(value))
            found[id(value)] = path
        members: Iterator[tuple[str | int, Any]]
        if isinstance(value, dict):
            members = iter(value.items())
        elif isinstance(value, Repeated):
            members = ((-1 - number, item) for number, item in enumerate(value))
        elif isinstance(value, list):
            members = enumerate(value)
        else:
            continue
        waiting.extend(
            (item, (*path, step)) for step, item in members if isinstance(item, dict | list)
        )
    paths: list[Path] = []
    for container, key in wanted:
        step = -1 - key if isinstance(container, Repeated) and isinstance(key, int) else key
        paths.append((*found[id(container)], step) if id(container) in found else ())
    return paths


_CONTEXT = "@context"


def with_context(data: bytes, url: str) -> bytes:
    """Return JSON in UTF-8 that begins with the context at ``url`` (JSON-LD 1.1, section 6.1).

    The document's own contexts come after it. Line numbers stay the same, but for arrays and
    documents with a context. Of broken JSON the beginning is changed only.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, list) or (isinstance(value, dict) and _CONTEXT in value):
        nodes = value if isinstance(value, list) else [value]
        changed = [_with(node, url) if isinstance(node, dict) else node for node in nodes]
        written = changed if isinstance(value, list) else changed[0]
        return json.dumps(written).encode()
    start = data.find(b"{")
    if start < 0 or data[:start].strip():
        return data
    comma = b"," if value != {} else b""
    member = f'"{_CONTEXT}":{json.dumps(url)}'.encode()
    return data[: start + 1] + member + comma + data[start + 1 :]


def _with(node: dict[str, Any], url: str) -> dict[str, Any]:
    own = node.get(_CONTEXT, [])
    contexts = [url, *(own if isinstance(own, list) else [own])]
    return {_CONTEXT: contexts, **{key: value for key, value in node.items() if key != _CONTEXT}}
