"""Reads RDF/XML: the productions of "RDF 1.1 XML Syntax", section 7, over the events of XML.

A fault costs what it touches. What cannot be read has the term ``None``, and statements with such
a term are left out. What only a missing end tag made part of an element is taken back.
"""

from __future__ import annotations

from collections.abc import Callable

from semcrawl.rdf.limits import ErrorLog
from semcrawl.rdf.mending import label, resolved
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import LONGEST_LINE, QuadSink
from semcrawl.rdf.syntaxes.xmlevents import XmlEvents, XmlLiteral
from semcrawl.rdf.terms import RDF, XSD, Scoped, canonical, language_tag

#: namespace of the Internationalization Tag Set
ITS = "http://www.w3.org/2005/11/its"
_XML = "http://www.w3.org/XML/1998/namespace"
_SPACE = " \t\n\r"
_NCNAME = re.compile(r"[^\W\d][\w.\-\xb7]*\Z")
_TYPE, _FIRST, _REST, _NIL = (f"<{RDF}{n}>" for n in ("type", "first", "rest", "nil"))
_STATEMENT, _REIFIES = f"<{RDF}Statement>", f"<{RDF}reifies>"
_XML_LITERAL, _STRING = f"<{RDF}XMLLiteral>", f"<{XSD}string>"
#: datatypes of literals whose language is missing
_NEED_LANGUAGE = frozenset({f"<{RDF}langString>", f"<{RDF}dirLangString>"})
#: attributes with a meaning of their own, by name in the namespace of RDF
_SYNTAX = frozenset(
    {"about", "ID", "nodeID", "resource", "datatype", "parseType", "bagID", "aboutEach",
     "aboutEachPrefix", "li", "RDF", "Description", "type", "version", "annotation",
     "annotationNodeID"}
)  # fmt: skip
#: names that are no node elements, and no property elements
_NO_NODE = frozenset(
    RDF + name
    for name in ("RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype", "bagID",
                 "li", "aboutEach", "aboutEachPrefix")
)  # fmt: skip
_NO_PROPERTY = _NO_NODE - {f"{RDF}li"} | {f"{RDF}Description"}
#: attributes that documents from before 2004 write without a namespace (section 6.1.4)
_UNQUALIFIED = frozenset({"about", "ID", "resource", "parseType", "type", "bagID"})
#: characters that are kept of text where none may be
_MOST_STRAY = 1 << 16
#: characters of statements that are held till the end of a node, and at most
_FLUSH, _MOST_HELD = 1 << 16, 1 << 22
_MOST_CACHED, _MOST_SCOPES = 1 << 16, 1 << 10
_MOST_IDS = 1 << 20


# what an element is, and so what it may contain
_NODE = 0  #: properties
_RESOURCE = 1  #: a property with properties of a blank node
_PROPERTY = 2  #: a node or text
_ROOT = 3  #: nodes
_COLLECTION = 4  #: nodes
_LITERAL = 5  #: XML
_TRIPLE = 6  #: a node with one statement
_SKIPPED = 7  #: what has no meaning


class _Scope:
    """Namespaces, base and language in an element, inherited by those inside."""

    __slots__ = ("attributes", "base", "direction", "elements", "inner", "iris", "language",
                 "namespaces", "version")  # fmt: skip

    def __init__(self, base: str | None) -> None:
        self.namespaces = Scoped[str | None]({"xml": _XML})
        self.base = base
        #: ``None``: not certain
        self.language: str | None = ""
        self.direction = ""
        self.version = "1.1"
        #: what names and references mean here
        self.elements: dict[str, tuple[str | None, str | None]] = {}
        self.attributes: dict[str, tuple[str, str | None]] = {}
        self.iris: dict[str, str] = {}
        #: scopes of the elements inside, by their attributes
        self.inner: dict[tuple[tuple[str, str | None], ...], _Scope] = {}

    def copy(self) -> _Scope:
        new = _Scope.__new__(_Scope)
        for name in self.__slots__:
            setattr(new, name, getattr(self, name))
        new.inner = {}
        return new


class _Element:
    """An open element. Which attributes count depends on its kind."""

    #: a value of it is not certain
    spoiled = False
    #: number of statements before a text where none may be
    stray: int | None = None
    #: of a node: the last rdf:li
    li = 0
    #: of a node: whether it is in no property element, so that its end is known by its tag alone
    top = False
    #: of a node: statements that without its end tag may belong to another one, and those of nodes
    #: where properties are expected; each from one number of statements to another
    unsure: list[tuple[int, int]] | None = None
    misplaced: list[tuple[int, int]] | None = None
    misplaced_at = 0
    #: of a property
    predicate: str | None = None
    object: str | None = None
    has_object = False
    #: whether a node inside is the object, and whether it surely is a node
    inner = False
    sure_child = False
    #: whether it surely is a property, by its attributes or its text
    is_sure = False
    text = ""
    datatype: str | None = None
    reified: str | None = None
    annotations: tuple[str | None, ...] = ()
    #: offsets of the first two elements inside
    child_at: int | None = None
    second_at: int | None = None
    items: list[str | None]
    literal: XmlLiteral
    #: of what is skipped: open elements inside
    depth = 0

    def __init__(self, kind: int, scope: _Scope, subject: str | None, at: int, mark: int) -> None:
        self.kind = kind
        self.scope = scope
        #: of a node, or of a property's statement
        self.subject = subject
        #: offset of the tag, and number of the statements before it
        self.at = at
        self.mark = mark


class RdfXmlReader:
    """Writes the statements of a document to a sink."""

    def __init__(self, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions) -> None:
        """Begin the document with the base ``base``."""
        self._sink = sink
        self._errors = errors
        self.events = XmlEvents(self, errors, options)
        self._pieces: list[str] = []
        #: takes a piece of text
        self.text: Callable[[str], None] = self._pieces.append
        self._document = _Scope(base)
        self._elements: list[_Element] = []
        #: statements that may still be taken back
        self._out: list[str] = []
        #: characters of these, and statements written before
        self._size = self._written = 0
        self._nodes = 0
        #: identifiers met so far, with their bases
        self.identifiers: set[tuple[str | None, str]] = set()

    # --- events

    def start(self, name: str, attributes: list[str | None]) -> None:
        """Begin an element."""
        if not self._elements:
            self._start_root(name, attributes)
            return
        parent = self._elements[-1]
        kind = parent.kind
        if self._pieces:
            self._take_text(parent)
        if kind == _LITERAL:
            if fault := parent.literal.start(name, attributes):
                self._lost(fault)
                parent.spoiled = True
            return
        if kind == _SKIPPED:
            parent.depth += 1
            return
        scope = parent.scope
        for key in attributes[::2]:
            if not key or key[:3] == "xml":
                scope = self._enter(scope, attributes)
                break
        if kind <= _RESOURCE:
            self._start_property(name, attributes, scope, parent)
            return
        if kind == _PROPERTY:
            if parent.child_at is None:
                parent.child_at = self.events.at
            elif parent.second_at is None:
                parent.second_at = self.events.at
        self._start_node(name, attributes, scope, parent)

    def end(self) -> None:
        """End the innermost element."""
        element = self._elements[-1]
        if self._pieces:
            self._take_text(element)
        kind = element.kind
        if kind == _NODE:
            self._elements.pop()
            self._end_node(element)
        elif kind == _PROPERTY:
            self._elements.pop()
            self._end_property(element)
        elif kind == _LITERAL and element.literal.depth:
            element.literal.end()
        elif kind == _SKIPPED and element.depth:
            element.depth -= 1
        else:
            self._elements.pop()
            if kind == _RESOURCE:
                self._take_back_misplaced(element)
            elif kind == _COLLECTION:
                self._end_collection(element)
            elif kind == _LITERAL:
                if not element.spoiled:
                    self._state(element, self._typed(str(element.literal), _XML_LITERAL))
            elif kind == _TRIPLE:
                self._end_triple(element)
            if not self._elements:
                self.flush()

    def comment(self, text: str) -> None:
        """Take a comment, which only XML literals keep."""
        element = self._elements[-1]
        if element.kind == _LITERAL:
            self._take_text(element)
            element.literal.comment(text)

    def instruction(self, target: str, data: str) -> None:
        """Take a processing instruction, which only XML literals keep."""
        element = self._elements[-1]
        if element.kind == _LITERAL:
            self._take_text(element)
            element.literal.instruction(target, data)

    def spoil(self) -> None:
        """Take note that the text of the innermost element is not certain."""
        if not self._elements:
            return
        element = self._elements[-1]
        element.spoiled = True
        if element.stray is not None:  # a start tag is spoilt; what follows it was inside
            self._take_back(element.stray)

    def unclosed(self, *, at_end: bool) -> int | None:
        """End the innermost element, whose end tag is missing."""
        element = self._elements[-1]
        self._pieces.clear()
        kind = element.kind
        if kind in (_LITERAL, _SKIPPED):
            element.spoiled = True
            if kind == _LITERAL and element.literal.depth:
                element.literal.end()
                return None
            if kind == _SKIPPED and element.depth:
                element.depth -= 1
                return None
        self._elements.pop()
        if kind == _ROOT or at_end:
            self.flush()
            return None
        if kind == _NODE:
            if element.top:
                self._lost("an element without an end tag", element.at)
                back = element.misplaced_at if element.misplaced else None
                if back is not None and element.misplaced and self.events.can_return(back):
                    first = element.misplaced[0][0]
                    self._take_back(first)
                    element.unsure = [u for u in element.unsure or () if u[1] <= first]
                else:
                    back = None
                for mark, end in reversed(element.unsure or ()):
                    self._lost("a statement that may belong to another node", element.at)
                    self._take_back(mark, end)
                element.misplaced = None
                self._end_node(element)
                return back
            else:
                self._noted("an element without an end tag", element.at)
            self._end_node(element)
            return None
        return self._end_unclosed_property(element)

    def flush(self) -> None:
        """Hand the statements over to the sink."""
        if self._out:
            self._written += len(self._out)
            self._sink.write("".join(self._out).encode("utf-8", "replace"))
            self._out.clear()
            self._size = 0

    # --- the root

    def _start_root(self, name: str, attributes: list[str | None]) -> None:
        scope = self._enter(self._document, attributes)
        if self._element_name(name, scope)[0] != f"{RDF}RDF":
            self._start_node(name, attributes, scope, None)
            return
        root = _Element(_ROOT, scope, None, self.events.at, self._mark())
        self._elements.append(root)
        pairs = list(zip(attributes[::2], attributes[1::2], strict=True))
        for key, value in pairs:  # the version says what the other attributes mean
            if self._attribute(key or "", root.scope)[0] == "version":
                root.scope = self._directed(root.scope, "version", value)
        for key, value in pairs:
            kind, _ = self._attribute(key or "", root.scope)
            if kind == "direction":
                root.scope = self._directed(root.scope, kind, value)
            elif kind not in ("xml", "version"):
                self._leave_out("plain", key or "")

    @property
    def root_scope(self) -> tuple[Scoped[str | None], str | None, str | None, str] | None:
        """Namespaces, base, language and version in ``rdf:RDF``; None without such a root."""
        if len(self._elements) != 1 or self._elements[0].kind != _ROOT:
            return None
        scope = self._elements[0].scope
        return scope.namespaces, scope.base, scope.language, scope.version + scope.direction

    # --- node elements

    def _start_node(
        self, name: str, attributes: list[str | None], scope: _Scope, parent: _Element | None
    ) -> None:
        iri, type_ = scope.elements.get(name) or self._element_name(name, scope)
        subject: str | None = ""
        values: list[tuple[str | None, str]] = []
        types: list[str | None] = []
        names = 0
        at = self.events.at
        for index in range(0, len(attributes), 2):
            key, value = attributes[index] or "", attributes[index + 1]
            kind, predicate = scope.attributes.get(key) or self._attribute(key, scope)
            if kind == "property":
                if value is not None:
                    values.append((predicate, value))
            elif kind == "xml":
                continue
            elif kind in ("about", "ID", "nodeID"):
                names += 1
                if value is None:
                    subject = None
                elif kind == "about":
                    subject = self._iri(value, scope)
                    if parent and parent.kind == _PROPERTY:
                        parent.sure_child = True
                elif kind == "ID":
                    subject = self._identifier(value, scope)
                else:
                    subject = self._labelled(value, scope)
            elif kind == "type":
                types.append(None if value is None else self._iri(value, scope))
            elif kind in ("version", "direction"):
                scope = self._directed(scope, kind, value)
            elif kind == "":  # an attribute that cannot be read
                subject, names = None, 1
            elif kind in ("resource", "aboutEach", "aboutEachPrefix"):
                self._lost(f"the attribute {key} of a node element")
                if not names:
                    subject = None
            else:
                self._leave_out(kind, key)
        if names > 1:
            self._lost("a node element with two names")
            subject = None
        if subject == "":
            subject = self._blank_node()
        element = _Element(_NODE, scope, subject, at, self._mark())
        element.top = parent is None or parent.kind != _PROPERTY
        self._elements.append(element)
        if iri != f"{RDF}Description":
            if iri in _NO_NODE:
                self._lost(f"{name} is no node element")
            elif type_ is None:
                self._lost(f"{name} has no IRI: its prefix is not declared, or no IRI")
            else:
                self._add(subject, _TYPE, type_)
        elif parent and parent.kind == _PROPERTY:
            parent.sure_child = True
        for type_ in types:
            self._add(subject, _TYPE, type_)
        for predicate, value in values:
            self._add(subject, predicate, self._literal(value, scope))

    def _end_node(self, element: _Element) -> None:
        self._take_back_misplaced(element)
        if not self._elements:
            self.flush()
            return
        parent = self._elements[-1]
        kind = parent.kind
        if kind == _ROOT:
            if self._size > _FLUSH:
                self.flush()
        elif kind == _PROPERTY:
            if parent.has_object:
                self._lost("a second object in a property element", element.at)
                parent.spoiled = parent.spoiled or parent.inner
            else:
                parent.has_object = parent.inner = True
                parent.object = element.subject
        elif kind == _COLLECTION:
            parent.items.append(element.subject)
        elif kind <= _RESOURCE:
            parent.misplaced = [*(parent.misplaced or ()), (element.mark, self._mark())]

    def _take_back_misplaced(self, element: _Element) -> None:
        for mark, end in reversed(element.misplaced or ()):
            self._take_back(mark, end)

    # --- property elements

    def _start_property(
        self, name: str, attributes: list[str | None], scope: _Scope, parent: _Element
    ) -> None:
        iri, predicate = scope.elements.get(name) or self._element_name(name, scope)
        at = self.events.at
        if iri == f"{RDF}li":
            parent.li += 1
            predicate = f"<{RDF}_{parent.li}>"
        elif iri in _NO_PROPERTY:
            self._start_misplaced(name, iri, attributes, scope, parent)
            return
        elif predicate is None:
            self._lost(f"{name} has no IRI: its prefix is not declared, or no IRI")
        element = _Element(_PROPERTY, scope, parent.subject, at, self._mark())
        element.predicate = predicate
        if attributes:
            parse_type = ""
            values: list[tuple[str | None, str | None]] = []
            for index in range(0, len(attributes), 2):
                key, value = attributes[index] or "", attributes[index + 1]
                kind, term = scope.attributes.get(key) or self._attribute(key, scope)
                if kind == "xml":
                    continue
                if kind == "about":
                    self._start_misplaced(name, iri, attributes, scope, parent)
                    return
                if kind in ("resource", "datatype", "parseType"):
                    element.is_sure = True
                if value is None:
                    element.spoiled = True
                elif kind == "resource" or kind == "nodeID":
                    if element.has_object:
                        self._lost("a property element with two objects")
                        element.spoiled = True
                    element.has_object = True
                    element.object = (
                        self._iri(value, scope)
                        if kind == "resource"
                        else self._labelled(value, scope)
                    )
                elif kind == "datatype":
                    element.datatype = self._iri(value, scope)
                    element.spoiled = element.spoiled or element.datatype is None
                elif kind == "parseType":
                    parse_type = value
                elif kind == "ID":
                    element.reified = self._identifier(value, scope)
                elif kind == "type":
                    values.append((_TYPE, self._iri(value, scope)))
                elif kind == "property":
                    values.append((term, self._literal(value, scope)))
                elif kind in ("version", "direction"):
                    element.scope = scope = self._directed(scope, kind, value)
                elif kind in ("annotation", "annotationNodeID"):
                    of = self._iri if kind == "annotation" else self._labelled
                    element.annotations = (*element.annotations, of(value, scope))
                else:
                    self._leave_out(kind, key)
            if parse_type:
                self._start_parse_type(element, parse_type, values)
                return
            if values:
                if not element.has_object:
                    element.has_object, element.object = True, self._blank_node()
                for term, value in values:
                    self._add(element.object, term, value)
            if element.has_object and element.datatype:
                self._lost("a datatype of an object that is no literal")
        self._elements.append(element)

    def _start_misplaced(
        self,
        name: str,
        iri: str | None,
        attributes: list[str | None],
        scope: _Scope,
        parent: _Element,
    ) -> None:
        """Begin a node element where a property element is expected.

        If an end tag is missing before it, it is a node. Else its statements are taken back.
        """
        self._lost(f"{name} is no property element here")
        if iri == f"{RDF}Description" or iri not in _NO_PROPERTY:
            outer = self._elements[-2].scope if len(self._elements) > 1 else self._document
            if parent.misplaced is None:
                parent.misplaced_at = self.events.at
            self._start_node(name, attributes, self._enter(outer, attributes), parent)
        else:
            self._skip(scope)

    def _skip(self, scope: _Scope) -> None:
        self._elements.append(_Element(_SKIPPED, scope, None, self.events.at, self._mark()))

    def _start_parse_type(
        self,
        element: _Element,
        parse_type: str,
        values: list[tuple[str | None, str | None]],
    ) -> None:
        """Begin a property element with ``rdf:parseType``."""
        scope = element.scope
        if values:
            self._lost("property attributes beside rdf:parseType")
        if element.has_object or (element.datatype and element.datatype != _XML_LITERAL):
            self._lost("rdf:parseType beside an object or a datatype")
            element.spoiled = True
        if parse_type == "Resource":
            node = self._blank_node()
            if not element.spoiled:
                self._state(element, node)
            element.kind, element.subject, element.li = _RESOURCE, node, 0
        elif parse_type == "Collection":
            element.kind, element.items = _COLLECTION, []
        elif parse_type == "Triple" and scope.version == "1.2":
            element.kind = _TRIPLE
        else:
            element.kind, element.literal = _LITERAL, XmlLiteral(scope.namespaces)
        self._elements.append(element)

    def _end_property(self, element: _Element) -> None:
        text = element.text
        if element.has_object:
            object_ = element.object
            if text.strip(_SPACE):
                self._lost("text beside an object", element.at)
                if element.inner:
                    self._take_back(element.mark)
                    return
        elif element.spoiled:
            return
        elif element.datatype is not None:
            object_ = self._typed(text, element.datatype, element)
        else:
            object_ = self._literal(text, element.scope, element.at)
            element.is_sure = bool(text.strip(_SPACE))
        if not element.spoiled:
            self._state(element, object_)
        parent = self._elements[-1]
        if not element.is_sure and parent.kind == _NODE and parent.top:
            parent.unsure = parent.unsure or []
            parent.unsure.append((element.mark, self._mark()))

    def _end_collection(self, element: _Element) -> None:
        if element.spoiled:
            return
        rest = _NIL
        for item in reversed(element.items):
            cell = self._blank_node()
            if item is not None:
                self._add(cell, _FIRST, item)
            self._add(cell, _REST, rest)
            rest = cell
        self._state(element, rest)

    def _end_triple(self, element: _Element) -> None:
        inner = self._out[max(element.mark - self._written, 0) :]
        self._take_back(element.mark)
        if len(inner) == 1 and not element.spoiled:
            self._state(element, f"<<( {inner[0][:-3]} )>>")
        else:
            self._lost("a triple term that is not one statement", element.at)

    def _end_unclosed_property(self, element: _Element) -> int | None:
        """End a property element whose end tag is missing; may return where to go on."""
        if element.kind != _PROPERTY:
            self._lost("an element without an end tag", element.at)
            self._take_back(element.mark)
            return None
        has_text = bool(element.text.strip(_SPACE)) or element.datatype is not None
        if element.has_object and not element.inner and not has_text:
            self._noted("an element without an end tag", element.at)
            self._take_back(element.mark)
            self._end_property(element)
            return element.child_at
        if element.inner and element.sure_child and not has_text:
            self._noted("an element without an end tag", element.at)
            if element.second_at is None:
                self._end_property(element)
                return None
        self._lost("an element without an end tag", element.at)
        self._take_back(element.mark)
        return element.child_at if has_text else element.second_at

    # --- statements

    def _state(self, element: _Element, object_: str | None) -> None:
        """State a property element's statement, and what is said about it."""
        subject, predicate = element.subject, element.predicate
        if object_ is None or predicate is None:
            return
        if subject is None:
            self._lost("a statement whose subject is not certain", element.at)
            return
        self._write(f"{subject} {predicate} {object_} .\n")
        if element.reified is not None:
            self._add(element.reified, _TYPE, _STATEMENT)
            self._add(element.reified, f"<{RDF}subject>", subject)
            self._add(element.reified, f"<{RDF}predicate>", predicate)
            self._add(element.reified, f"<{RDF}object>", object_)
        for annotation in element.annotations:
            self._add(annotation, _REIFIES, f"<<( {subject} {predicate} {object_} )>>")

    def _add(self, subject: str | None, predicate: str | None, object_: str | None) -> None:
        if subject is not None and predicate is not None and object_ is not None:
            self._write(f"{subject} {predicate} {object_} .\n")
        elif subject is None:
            self._lost("a statement whose subject is not certain")

    def _write(self, line: str) -> None:
        self._out.append(line)
        self._size += len(line)
        if self._size > _MOST_HELD:
            self.flush()

    def _mark(self) -> int:
        """Return the number of statements so far."""
        return self._written + len(self._out)

    def _take_back(self, mark: int, end: int | None = None) -> None:
        """Leave out the statements from ``mark`` on, or those between two numbers."""
        first = max(mark - self._written, 0)
        last = len(self._out) if end is None else max(end - self._written, 0)
        del self._out[first:last]

    def pause(self) -> None:
        """Bound what is held."""
        if not self._elements:
            self._pieces.clear()
            return
        element = self._elements[-1]
        if element.kind not in (_PROPERTY, _LITERAL):
            self._pieces[:] = ["".join(self._pieces)[:_MOST_STRAY]]
            return
        if self._pieces:
            self._take_text(element)
        size = 0
        if element.kind == _PROPERTY:
            size = len(element.text)
        elif element.kind == _LITERAL:
            size = element.literal.size
        if size > LONGEST_LINE:
            if not element.spoiled:
                self._lost("a statement of more than 16 MiB", element.at)
            element.spoiled = True
            if element.kind == _PROPERTY:
                element.text = ""
            else:
                element.literal.forget()

    def _take_text(self, element: _Element) -> None:
        text = "".join(self._pieces)
        self._pieces.clear()
        if element.kind == _PROPERTY:
            element.text += text
        elif element.kind == _LITERAL:
            element.literal.text(text)
        elif element.kind != _SKIPPED and text.strip(_SPACE):
            self._lost(f"text where no text may be: {text.strip(_SPACE)[:40]}")
            if element.stray is None:
                element.stray = self._mark()

    def _lost(self, message: str, at: int | None = None) -> None:
        self._errors.add(message, *self.events.place(at))

    def _noted(self, message: str, at: int | None = None) -> None:
        """Record what is mended, or wrong without any loss."""
        self._errors.add_mended(message, *self.events.place(at))

    def _leave_out(self, kind: str, name: str) -> None:
        """Record an attribute that is no statement."""
        if kind == "unbound":
            self._lost(f"{name} has no IRI: its prefix is not declared, or no IRI")
        else:
            self._noted(f"the attribute {name} has no meaning here")

    # --- scopes and names

    def _enter(self, scope: _Scope, attributes: list[str | None]) -> _Scope:
        """Return the scope of an element with these attributes."""
        key = tuple(
            (name, value)
            for name, value in zip(attributes[::2], attributes[1::2], strict=True)
            if name and name[:3] == "xml"
        )
        if attributes and not attributes[-2]:  # in what is not readable may be a base, a language
            scope = scope.copy()
            scope.base, scope.language, scope.iris = None, None, {}
        if not key:
            return scope
        inner = scope.inner.get(key)
        if inner is not None:
            return inner
        sound = True
        inner = scope.copy()
        declared: dict[str, str | None] = {}
        for name, value in key:
            if name == "xmlns" or name.startswith("xmlns:"):
                declared[name[6:]] = value
            elif name == "xml:lang":
                inner.language, certain = self._language(value)
                sound = sound and certain
            elif name == "xml:base":
                base, mended = ("", False) if value is None else resolved(value, scope.base)
                if not base:
                    self._lost(f"{value} is no base IRI")
                elif mended:
                    self._noted(f"the base IRI {value} is mended")
                inner.base, inner.iris = base.partition("#")[0] or None, {}
                sound = sound and bool(base) and not mended
        if declared:
            inner.namespaces = scope.namespaces.extended(declared)
            inner.elements, inner.attributes = {}, {}
        if sound and len(scope.inner) < _MOST_SCOPES:
            scope.inner[key] = inner
        return inner

    def _language(self, value: str | None) -> tuple[str | None, bool]:
        """Return a language tag, None if it is not certain, and whether nothing is wrong."""
        if not value:
            return value, value is not None
        tag, mended = language_tag(value)
        if not tag:
            self._noted(f"{value[:80]} is no language")
            return None, False
        if mended:
            self._noted(f"the language {value} is mended")
        return tag, not mended

    def _directed(self, scope: _Scope, kind: str, value: str | None) -> _Scope:
        """Return the scope of an element with ``rdf:version`` or ``its:dir`` (RDF 1.2)."""
        scope = scope.copy()
        scope.attributes, scope.inner = {}, {}
        if kind == "version" and value in ("1.1", "1.2", "1.2-basic"):
            scope.version = value
        elif kind == "direction" and value in ("ltr", "rtl"):
            scope.direction = value
        else:
            self._noted(f"{value} is no {kind}")
        return scope

    def _element_name(self, name: str, scope: _Scope) -> tuple[str | None, str | None]:
        """Return the IRI of an element's name, and its term."""
        found = scope.elements.get(name)
        if found is None:
            found = self._named(name, scope)
            scope.elements[name] = found
        return found

    def _named(self, name: str, scope: _Scope) -> tuple[str | None, str | None]:
        prefix, colon, local = name.partition(":")
        if not colon:
            prefix, local = "", name
        namespace = scope.namespaces.get(prefix)
        if prefix == "rdf" and namespace is None:
            self._noted("the prefix rdf is not declared, or not readable")
            namespace = RDF
            for each in (scope, *(element.scope for element in self._elements)):
                each.namespaces = each.namespaces.extended({prefix: RDF})
        if not namespace:
            return None, None
        iri, mended = resolved(namespace + local, None)
        if mended and iri:
            self._noted(f"the name {name} is mended")
        return namespace + local, f"<{iri}>" if iri else None

    def _attribute(self, name: str, scope: _Scope) -> tuple[str, str | None]:
        """Return what an attribute is, and the term of its name if it is a property."""
        found = scope.attributes.get(name)
        if found is None:
            found = self._new_attribute(name, scope)
            scope.attributes[name] = found
        return found

    def _new_attribute(self, name: str, scope: _Scope) -> tuple[str, str | None]:
        if name[:3].lower() == "xml" or not name:
            return "xml" if name else "", None
        if ":" not in name:
            return name if name in _UNQUALIFIED else "plain", None
        iri, term = self._named(name, scope)
        if term is None or iri is None:
            return "unbound", None
        local = iri.removeprefix(RDF)
        if local != iri and local in _SYNTAX:
            return local, None
        if iri == f"{ITS}dir" and scope.version != "1.1":
            return "direction", None
        if iri == f"{ITS}version" and scope.version != "1.1":
            return "xml", None
        return "property", term

    # --- terms

    def _iri(self, reference: str, scope: _Scope) -> str | None:
        """Return the term of a reference."""
        term = scope.iris.get(reference)
        if term is not None:
            return term
        iri, mended = resolved(reference, scope.base)
        if not iri:
            self._lost(f"{reference[:80]} is no IRI")
            return None
        term = f"<{iri}>"
        if mended:
            self._noted(f"{reference[:80]} is no IRI, and is mended")
        else:
            if len(scope.iris) >= _MOST_CACHED:
                scope.iris.clear()
            scope.iris[reference] = term
        return term

    def _identifier(self, value: str, scope: _Scope) -> str | None:
        """Return the term of an ``rdf:ID``."""
        if not _NCNAME.match(value):
            self._noted(f"the rdf:ID {value[:80]} is no name")
        elif (scope.base, value) in self.identifiers:
            self._noted(f"the rdf:ID {value[:80]} stands twice")
        elif len(self.identifiers) < _MOST_IDS:
            self.identifiers.add((scope.base, value))
        return self._iri(f"#{value}", scope)

    def _labelled(self, value: str, _scope: _Scope) -> str:
        """Return the term of an ``rdf:nodeID``; another name gets a label that no name has."""
        name, mended = label(value)
        if mended:
            self._noted(f"the rdf:nodeID {value[:80]} is no name")
        return f"_:{name}"

    def _blank_node(self) -> str:
        """Return a new blank node, labelled like those that the parser generates."""
        self._nodes += 1
        return f"_:f{self._nodes:031x}"

    def _literal(self, text: str, scope: _Scope, at: int | None = None) -> str | None:
        """Return the term of a literal with the language in scope."""
        text = canonical(text)
        language = scope.language
        if language:
            direction = f"--{scope.direction}" if scope.direction else ""
            return f'"{text}"@{language}{direction}'
        if language is None:
            self._lost("a literal whose language is not certain", at)
            return None
        return f'"{text}"'

    def _typed(self, text: str, datatype: str, element: _Element | None = None) -> str | None:
        """Return the term of a literal with a datatype."""
        if datatype in _NEED_LANGUAGE and element is not None:
            if element.scope.language:
                self._noted("a datatype beside a language", element.at)
                return self._literal(text, element.scope, element.at)
            self._lost(f"a literal of {datatype} without a language", element.at)
            return None
        text = canonical(text)
        return f'"{text}"' if datatype == _STRING else f'"{text}"^^{datatype}'
