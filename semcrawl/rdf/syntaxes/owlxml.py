"""Converts OWL/XML, a format of Protégé and others, to RDF/XML with py-horned-owl.

The syntax is defined by "OWL 2 XML Serialization", its RDF by "OWL 2 Mapping to RDF Graphs". The
library gets what XML and the syntax leave no choice in: entities expanded, texts whole, IRIs
absolute. An axiom that it does not take is left out alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.mending import resolved
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.syntaxes.xmlevents import XmlEvents
from semcrawl.rdf.terms import RDF, XSD, Scoped, language_tag

MISSING = "OWL/XML needs py-horned-owl, which is not installed (pip install py-horned-owl)"

_OWL = "http://www.w3.org/2002/07/owl#"
#: attributes that hold IRIs
_IRIS = frozenset({"IRI", "ontologyIRI", "versionIRI", "datatypeIRI", "facet"})
#: elements whose text is an IRI; the last has a prefix
_ELEMENTS = frozenset({"IRI", "Import", "AbbreviatedIRI"})
#: elements whose text counts
_TEXTS = _ELEMENTS | {"Literal"}
_STANDARD = {
    "rdf": RDF, "rdfs": "http://www.w3.org/2000/01/rdf-schema#", "xsd": XSD, "owl": _OWL,
    "xml": "http://www.w3.org/XML/1998/namespace",
}  # fmt: skip


class _Axiom(NamedTuple):
    """A child of the ontology, as the library gets it."""

    text: str
    line: int
    column: int


class _Element(NamedTuple):
    """An open element."""

    local: str
    namespaces: Scoped[str | None]
    base: str | None
    language: str


class _OwlReader:
    """Collects the axioms of an ontology."""

    def __init__(self, base: str, errors: ErrorLog, options: ReadOptions) -> None:
        self._errors = errors
        self._elements = [_Element("", Scoped(), base, "")]
        self._pieces: list[str] = []
        self.text: Callable[[str], None] = self._pieces.append
        self._prefixes = {**_STANDARD}
        self._axiom: list[str] = []
        self._place = (0, 0)
        self._is_spoiled = False
        self.head = ""
        self.axioms: list[_Axiom] = []
        self.events = XmlEvents(self, errors, options)

    def start(self, name: str, attributes: list[str | None]) -> None:
        """Begin an element."""
        element, own = self._enter(name, attributes)
        self._elements.append(element)
        self._pieces.clear()
        depth = len(self._elements) - 2
        if depth == 1:
            self._axiom, self._is_spoiled, self._place = [], False, self.events.place()
        text = f"<{element.local or 'x'}"
        if depth == 0:
            text += f' xmlns="{_OWL}"'
        elif not element.local:
            self._lost(f"{name} is no element of OWL")
        for key, value in own.items():
            text += f" {key}={quoteattr(value)}"
        if element.local == "Literal" and element.language and "datatypeIRI" not in own:
            text += f' xml:lang="{element.language}"'
        if depth == 0:
            self.head = self.head or f"{text}>"
        elif element.local == "Prefix":
            self._prefixes[own.get("name", "")] = own.get("IRI", "")
        elif element.local == "AbbreviatedIRI":
            self._axiom.append("<IRI>")
        else:
            self._axiom.append(f"{text}>")

    def end(self) -> None:
        """End the innermost element."""
        element = self._elements.pop()
        text = "".join(self._pieces)
        self._pieces.clear()
        local = element.local
        if local in _ELEMENTS:
            iri = self._iri(text.strip(), element.base, has_prefix=local == "AbbreviatedIRI")
            self._axiom.append(escape(iri))
        elif local == "Literal":
            self._axiom.append(escape(text, {"\r": "&#13;"}))
        self._axiom.append(f"</{'IRI' if local == 'AbbreviatedIRI' else local or 'x'}>")
        if len(self._elements) == 2 and local != "Prefix":
            if not self._is_spoiled:
                self.axioms.append(_Axiom("".join(self._axiom), *self._place))
            self._axiom = []

    def unclosed(self, *, at_end: bool) -> int | None:
        """End the innermost element, whose end tag is missing."""
        if not at_end:
            self._lost("an element without an end tag")
        self._is_spoiled = True
        self.end()
        return None

    def comment(self, text: str) -> None:
        """Take a comment, which says nothing."""

    def instruction(self, target: str, data: str) -> None:
        """Take a processing instruction, which says nothing."""

    def pause(self) -> None:
        """Bound what is held: the document is in memory anyway."""

    def spoil(self) -> None:
        """Take note that the axiom cannot be read."""
        self._is_spoiled = True

    def _lost(self, message: str) -> None:
        self._errors.add(message, *self.events.place())
        self._is_spoiled = True

    def _enter(self, name: str, attributes: list[str | None]) -> tuple[_Element, dict[str, str]]:
        """Return an element, and its attributes as the library gets them."""
        _, namespaces, base, language = self._elements[-1]
        values: dict[str, str] = {}
        declared: dict[str, str | None] = {}
        for key, value in zip(attributes[::2], attributes[1::2], strict=True):
            if not key or value is None:
                self._is_spoiled = True
            elif key == "xmlns" or key.startswith("xmlns:"):
                declared[key[6:]] = value
            elif key == "xml:base":
                base = resolved(value, base)[0] or None
            elif key == "xml:lang":
                language, mended = language_tag(value) if value else ("", False)
                if mended:
                    self._errors.add_mended(f"the language {value} is mended", *self.events.place())
                elif value and not language:
                    self._lost(f"{value[:80]} is no language")
            else:
                values[key] = value
        if declared:
            namespaces = namespaces.extended(declared)
        own = {}
        for key, value in values.items():
            if key == "abbreviatedIRI":
                own["IRI"] = self._iri(value, base, has_prefix=True)
            else:
                own[key] = self._iri(value, base) if key in _IRIS else value
        prefix, colon, local = name.partition(":")
        if not colon:
            prefix, local = "", name
        known = namespaces.get(prefix) == _OWL
        return _Element(local if known else "", namespaces, base, language), own

    def _iri(self, text: str, base: str | None, *, has_prefix: bool = False) -> str:
        """Return an absolute IRI."""
        if has_prefix:
            prefix, colon, local = text.partition(":")
            namespace = self._prefixes.get(prefix)
            if not colon or not namespace:
                self._lost(f"the prefix of {text[:80]} is not declared")
                return ""
            text = namespace + local
        iri, mended = resolved(text, base)
        if not iri:
            self._lost(f"{text[:80]} is no IRI")
        elif mended:
            self._errors.add_mended(f"{text[:80]} is no IRI, and is mended", *self.events.place())
        return iri


def to_rdfxml(data: bytes, base: str, errors: ErrorLog, options: ReadOptions) -> bytes:
    """Convert OWL/XML in UTF-8 to RDF/XML.

    Raises :class:`LimitReached` without the package, and for what is no ontology.
    """
    try:
        import pyhornedowl
    except ImportError:
        raise LimitReached(MISSING) from None
    reader = _OwlReader(base, errors, options)
    reader.events.feed(data, final=True)

    def convert(axioms: Sequence[_Axiom]) -> str:
        text = "".join([reader.head, *(axiom.text for axiom in axioms), "</Ontology>"])
        try:
            mapped: str = pyhornedowl.open_ontology_from_string(text, "owx").save_to_string("owl")
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:  # the library's panics do not derive from Exception
            raise _Refused(str(error)) from None
        return mapped

    try:
        return convert(reader.axioms).encode()
    except _Refused:
        return convert(_taken(reader.axioms, convert, errors)).encode()


class _Refused(LimitReached):
    """The library does not take an ontology."""


def _taken(
    axioms: list[_Axiom], convert: Callable[[Sequence[_Axiom]], str], errors: ErrorLog
) -> list[_Axiom]:
    """Return the axioms that the library takes one by one."""
    errors.check_time()
    try:
        convert(axioms)
    except _Refused as error:
        if len(axioms) <= 1:
            for axiom in axioms:
                errors.add(f"OWL/XML: {error}", axiom.line, axiom.column)
            return []
        middle = len(axioms) // 2
        return [part for half in (axioms[:middle], axioms[middle:])
                for part in _taken(half, convert, errors)]  # fmt: skip
    return axioms
