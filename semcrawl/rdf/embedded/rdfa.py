"""Processes RDFa 1.1 in pages.

Follows RDFa Core 1.1, section 7.5, with the rules of HTML+RDFa 1.1, section 3. One XPath query
selects the elements with attributes of RDFa; no others are visited.

Resolves RDFa's terms, CURIEs and IRIs (RDFa Core 1.1, section 7.4) and makes its literals.
The initial context is https://www.w3.org/2011/rdfa-context/rdfa-1.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin

from lxml import etree

from semcrawl.rdf.embedded.triples import (
    WHITE_SPACE,
    PageTree,
    Triple,
    TripleList,
    address,
    copy_patterns,
    literal,
    own_language,
    text_of,
    words,
)
from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.terms import RDF, Scoped, date_datatype

_XML = "http://www.w3.org/XML/1998/namespace"
#: elements without content or end tag, and those whose text is not escaped (HTML, section 13.3)
_VOID = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track"
    " wbr".split()
)
_RAW = frozenset("iframe noembed noframes plaintext script style xmp".split())
_XML_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_HTML_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\xa0": "&nbsp;"})
_XML_VALUE = _XML_TEXT | str.maketrans({'"': "&quot;", "\t": "&#x9;", "\n": "&#xA;"})
_HTML_VALUE = _HTML_TEXT | str.maketrans({'"': "&quot;"})


def xml_content(tree: PageTree, element: etree._Element, context: Mapping[str, str]) -> str:
    """Return an element's content as XML.

    The outermost elements declare the namespaces of ``context``, by prefix, but for those that they
    declare themselves (RDFa Core 1.1, section 7.5, step 11).
    """
    return "".join(_Writer(tree, context, html=False).content(element))


def html_content(tree: PageTree, element: etree._Element) -> str:
    """Return an element's content as HTML, as browsers serialise it."""
    return "".join(_Writer(tree, {}, html=True).content(element))


class _Writer:
    def __init__(self, tree: PageTree, context: Mapping[str, str], *, html: bool) -> None:
        self._tree = tree
        self._context = context
        self._html = html
        self._text = _HTML_TEXT if html else _XML_TEXT
        self._value = _HTML_VALUE if html else _XML_VALUE

    def content(self, element: etree._Element) -> Iterator[str]:
        """Yield the pieces of an element's content. The nesting may be deep."""
        yield self._escaped(element.text, element)
        open_elements = [(element, iter(element))]
        while open_elements:
            parent, children = open_elements[-1]
            child = next(children, None)
            if child is None:
                open_elements.pop()
                if open_elements:
                    yield f"</{_name(parent)}>"
                    yield self._escaped(parent.tail, open_elements[-1][0])
            elif not isinstance(child.tag, str):
                yield _other(child)
                yield self._escaped(child.tail, parent)
            else:
                context = self._context if parent is element else {}
                empty = not len(child) and not child.text
                end = ">" if self._html or not empty else "/>"
                yield f"<{_name(child)}{''.join(self._attributes(child, context))}{end}"
                if empty and (not self._html or child.tag in _VOID):
                    yield self._escaped(child.tail, parent)
                else:
                    yield self._escaped(child.text, child)
                    open_elements.append((child, iter(child)))

    def _escaped(self, text: str | None, parent: etree._Element) -> str:
        if not text or (self._html and parent.tag in _RAW):
            return text or ""
        return text.translate(self._text)

    def _attributes(self, element: etree._Element, context: Mapping[str, str]) -> Iterator[str]:
        for name, value in element.attrib.items():
            if name != "xmlns" and not name.startswith("xmlns:"):
                yield f' {_attribute(element, name)}="{value.translate(self._value)}"'
        for prefix, iri in sorted({**context, **self._tree.namespaces(element)}.items()):
            name = f"xmlns:{prefix}" if prefix else "xmlns"
            yield f' {name}="{iri.translate(self._value)}"'


def _name(element: etree._Element) -> str:
    local = etree.QName(element).localname if element.tag.startswith("{") else element.tag
    return f"{element.prefix}:{local}" if element.prefix else str(local)


def _attribute(element: etree._Element, name: str) -> str:
    if not name.startswith("{"):
        return name
    namespace, _, local = name[1:].partition("}")
    if namespace == _XML:
        return f"xml:{local}"
    prefix = next((p for p, iri in element.nsmap.items() if p and iri == namespace), None)
    return f"{prefix}:{local}" if prefix else local


def _other(node: etree._Element) -> str:
    """Return a comment, an instruction or a reference."""
    if node.tag is etree.Comment:
        return f"<!--{node.text}-->"
    if node.tag is etree.ProcessingInstruction:
        return f"<?{node.target} {node.text}?>" if node.text else f"<?{node.target}?>"
    return str(node.text or "")


_W3 = "http://www.w3.org/"
XHV = _W3 + "1999/xhtml/vocab#"

PREFIXES: Mapping[str, str] = {
    "as": _W3 + "ns/activitystreams#",
    "csvw": _W3 + "ns/csvw#",
    "dcat": _W3 + "ns/dcat#",
    "dqv": _W3 + "ns/dqv#",
    "duv": _W3 + "ns/duv#",
    "grddl": _W3 + "2003/g/data-view#",
    "jsonld": _W3 + "ns/json-ld#",
    "ldp": _W3 + "ns/ldp#",
    "ma": _W3 + "ns/ma-ont#",
    "oa": _W3 + "ns/oa#",
    "odrl": _W3 + "ns/odrl/2/",
    "org": _W3 + "ns/org#",
    "owl": _W3 + "2002/07/owl#",
    "prov": _W3 + "ns/prov#",
    "qb": "http://purl.org/linked-data/cube#",
    "rdf": _W3 + "1999/02/22-rdf-syntax-ns#",
    "rdfa": _W3 + "ns/rdfa#",
    "rdfs": _W3 + "2000/01/rdf-schema#",
    "rif": _W3 + "2007/rif#",
    "rr": _W3 + "ns/r2rml#",
    "sd": _W3 + "ns/sparql-service-description#",
    "skos": _W3 + "2004/02/skos/core#",
    "skosxl": _W3 + "2008/05/skos-xl#",
    "sosa": _W3 + "ns/sosa/",
    "ssn": _W3 + "ns/ssn/",
    "time": _W3 + "2006/time#",
    "void": "http://rdfs.org/ns/void#",
    "wdr": _W3 + "2007/05/powder#",
    "wdrs": _W3 + "2007/05/powder-s#",
    "xhv": XHV,
    "xml": _W3 + "XML/1998/namespace",
    "xsd": _W3 + "2001/XMLSchema#",
    "cc": "http://creativecommons.org/ns#",
    "ctag": "http://commontag.org/ns#",
    "dc": "http://purl.org/dc/terms/",
    "dc11": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "gr": "http://purl.org/goodrelations/v1#",
    "ical": _W3 + "2002/12/cal/icaltzd#",
    "og": "http://ogp.me/ns#",
    "rev": "http://purl.org/stuff/rev#",
    "schema": "http://schema.org/",
    "sioc": "http://rdfs.org/sioc/ns#",
    "v": "http://rdf.data-vocabulary.org/#",
    "vcard": _W3 + "2006/vcard/ns#",
}

TERMS: Mapping[str, str] = {
    "describedby": _W3 + "2007/05/powder-s#describedby",
    "license": XHV + "license",
    "role": XHV + "role",
}

#: Terms of documents declared as XHTML+RDFa (XHTML+RDFa 1.1, section 4).
XHTML_TERMS: Mapping[str, str] = {
    **TERMS,
    **{
        term: XHV + term
        for term in (
            "alternate appendix bookmark chapter cite contents copyright first glossary help icon "
            "index itsRules last meta next p3pv1 prev previous section start stylesheet subsection "
            "top up"
        ).split()
    },
}

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_TERM = re.compile(r"[^\W\d][\w./-]*\Z")
_PAIRS = re.compile(r"([^\s:]*):\s+(\S+)")


@dataclass(frozen=True, slots=True)
class Names:
    """The prefixes, terms and default vocabulary in scope at an element."""

    prefixes: Scoped[str]
    terms: Mapping[str, str]
    vocabulary: str = ""
    #: the prefixes that the page itself declares, and its default namespace with an empty one
    declared: Scoped[str] = field(default_factory=Scoped)

    def with_prefixes(self, declared: Mapping[str, str]) -> Names:
        """Return a copy with more prefixes."""
        return replace(
            self,
            prefixes=self.prefixes.extended(declared),
            declared=self.declared.extended(declared),
        )

    def with_vocabulary(self, vocabulary: str) -> Names:
        """Return a copy with another default vocabulary; empty: none."""
        return replace(self, vocabulary=vocabulary)

    def curie(self, text: str) -> str | None:
        """Return the term (``<iri>`` or ``_:label``) for a CURIE; None for other text."""
        prefix, colon, rest = text.partition(":")
        if not colon or rest.startswith("//"):
            return None
        if prefix == "_":
            # characters that no label of N-Triples may have become their code points
            return "_:e" + re.sub(r"[^A-Za-z0-9-]", lambda m: f"_{ord(m[0]):x}_", rest)
        if not prefix:
            return address(XHV + rest)
        namespace = self.prefixes.get(prefix.lower())
        return None if namespace is None else address(namespace + rest)

    def property(self, text: str) -> str | None:
        """Resolve a TERMorCURIEorAbsIRI; None when it names nothing."""
        if ":" not in text:
            if not _TERM.match(text):
                return None
            if self.vocabulary:
                return address(self.vocabulary + text)
            found = self.terms.get(text) or self.terms.get(text.lower())
            return address(found) if found else None
        term = self.curie(text)
        if term is not None:
            return term
        return address(text) if has_scheme(text) else None

    def resource(self, text: str) -> str | None:
        """Resolve a SafeCURIEorCURIEorIRI; None for a safe CURIE that names nothing."""
        text = text.strip(WHITE_SPACE)
        if text.startswith("[") and text.endswith("]"):
            return self.curie(text[1:-1].strip(WHITE_SPACE)) if text != "[]" else None
        if ":" in text:
            term = self.curie(text)
            if term is not None and not text.startswith(":"):
                return term
        return address(text)


def has_scheme(iri: str) -> bool:
    """Whether an IRI is absolute."""
    return _SCHEME.match(iri) is not None


def declared_prefixes(text: str) -> dict[str, str]:
    """Return prefixes and IRIs of a ``prefix`` attribute."""
    return {prefix.lower(): iri for prefix, iri in _PAIRS.findall(text) if prefix and prefix != "_"}


_XML_LITERAL = f"<{RDF}XMLLiteral>"
_HTML_LITERAL = f"<{RDF}HTML>"


def property_value(
    tree: PageTree,
    element: etree._Element,
    names: Names,
    language: str,
    relations: bool,
    resource: str | None,
    typed: str | None,
) -> str:
    """Return the value of an element's properties (Core, section 7.5, step 11)."""
    content, datatype = element.get("content"), element.get("datatype")
    if datatype is not None:
        kind = names.property(datatype.strip(WHITE_SPACE)) if datatype.strip() else None
        if content is None and kind == _XML_LITERAL:
            # only pages that name the namespace of their elements give it to literals
            context = names.declared if "" in names.declared else Scoped()
            return literal(xml_content(tree, element, context), datatype=kind[1:-1])
        if content is None and kind == _HTML_LITERAL:
            return literal(html_content(tree, element), datatype=kind[1:-1])
        text = content if content is not None else _time_of(element)
        if text is None:
            text = text_of(element)
        if kind:
            return literal(text, datatype=kind[1:-1])
        return literal(text, language)
    if content is not None:
        return literal(content, language)
    moment = _time_of(element)
    if moment is not None:
        if kind := date_datatype(moment):
            return literal(moment, datatype=kind)
        return literal(moment, language)
    if not relations and resource is not None:
        return resource
    # ``about="[]"``, which names nothing, counts as present
    if typed is not None and element.get("about") is None:
        return typed
    return literal(text_of(element), language)


def _time_of(element: etree._Element) -> str | None:
    moment: str | None = element.get("datetime")
    if moment is None and element.tag == "time":
        moment = text_of(element)
    return moment


#: not ``//*``, which takes quadratic time
_MARKED = (
    "descendant-or-self::*[@property or @typeof or @about or @resource or @rel or @rev or @href or"
    " @src or @vocab or @prefix or @inlist or @lang or @*[starts-with(name(), 'xml')]%s]"
)
_ELEMENTS = etree.XPath(_MARKED % "")
_ELEMENTS_WITH_ROLES = etree.XPath(_MARKED % " or @role")
_TYPE = f"<{RDF}type>"
_FIRST, _REST, _NIL = f"<{RDF}first>", f"<{RDF}rest>", f"<{RDF}nil>"
_RDFA = PREFIXES["rdfa"]


@dataclass(slots=True)
class _Context:
    """The evaluation context (Core, section 7.2) that an element passes to its descendants."""

    parent_subject: str
    parent_object: str
    names: Names
    language: str = ""
    incomplete: list[tuple[str, str]] = field(default_factory=list)
    lists: dict[str, list[str]] = field(default_factory=dict)
    #: subject of the lists that begin here; None: they belong to an outer context
    list_owner: str | None = None


class RdfaProcessor:
    """Reads the RDFa of one tree."""

    def __init__(
        self,
        tree: PageTree,
        url: str = "",
        *,
        roles: bool = False,
        limit: int = 200_000,
        size: int = 64 * 2**20,
    ) -> None:
        """Prepare to read the page at ``url``.

        Only relative IRIs of prefixes are resolved, against ``url``; all others stay relative.
        """
        self._tree, root = tree, tree.root
        self._url = url
        self._roles = roles
        self._triples, self._copied = TripleList(limit, size), TripleList(limit, size)
        self._blank = 0
        doctype = root.getroottree().docinfo.public_id or ""
        version = root.get("version") or ""
        self._xhtml = "XHTML+RDFa" in doctype or "XHTML+RDFa" in version

    def triples(self) -> Iterator[Triple]:
        """Yield the triples, with patterns copied (HTML+RDFa 1.1, section 3.5).

        Raises :class:`LimitReached` after the last that the limit allows.
        """
        names = Names(Scoped(PREFIXES), XHTML_TERMS if self._xhtml else TERMS)
        top = _Context("<>", "<>", names, list_owner="<>")
        stack: list[tuple[etree._Element | None, _Context]] = [(None, top)]
        find = _ELEMENTS_WITH_ROLES if self._roles else _ELEMENTS
        reached: LimitReached | None = None
        try:
            for element in self._tree.select(find):
                above = set(element.iterancestors())
                while stack[-1][0] is not None and stack[-1][0] not in above:
                    self._close(stack.pop()[1])
                stack.append((element, self._visit(element, stack[-1][1])))
            while stack:
                self._close(stack.pop()[1])
        except LimitReached as limit:
            reached = limit
        for triple in copy_patterns(self._triples):
            self._copied.add(triple)
            yield triple
        if reached is not None:
            raise reached

    def _new_blank(self) -> str:
        self._blank += 1
        return f"_:r{self._blank}"

    def _visit(self, element: etree._Element, context: _Context) -> _Context:
        """Process one element; return the context of its descendants."""
        get = element.get
        line = element.sourceline or 0
        names = self._names(element, context, line)
        language = own_language(element)
        if language is None:
            language = context.language
        about = self._resource(names, get("about"))
        resource = self._resource(names, get("resource"))
        if resource is None:
            resource = self._link(get("href"))
            if resource is None:
                resource = self._link(get("src"))
        properties = get("property")
        types = get("typeof")
        rel, rev = self._relations(names, get("rel"), get("rev"), properties is not None)
        if self._roles and (role := get("role")):
            self._add_roles(names, role, get("id"), line)
        root = element is self._tree.root
        if not root and element.tag in ("head", "body") and about is None and context.parent_object:
            root_subject: str | None = context.parent_object
        else:
            root_subject = "<>" if root else None

        subject: str | None
        current: str | None = None
        typed: str | None = None
        skip = False
        if rel is None and rev is None:
            if properties is not None and get("content") is None and get("datatype") is None:
                subject = about or root_subject or context.parent_object
                if types is not None:
                    typed = about or root_subject
                    if typed is None:
                        typed = current = resource or self._new_blank()
            else:
                subject = about or resource or root_subject
                if subject is None:
                    if types is not None:
                        subject = self._new_blank()
                    else:
                        subject = context.parent_object
                        skip = properties is None
                if types is not None:
                    typed = subject
        else:
            subject = about or root_subject or context.parent_object
            current = resource
            if types is not None:
                if about is None:
                    if current is None:
                        current = self._new_blank()
                    typed = current
                else:
                    typed = about
        if typed is not None and types:
            for name in words(types):
                if (term := names.property(name)) is not None:
                    self._add(typed, _TYPE, term, line)

        lists, owner = context.lists, None
        if subject != context.parent_subject:
            lists, owner = {}, subject
        in_list = get("inlist") is not None
        incomplete: list[tuple[str, str]] = []
        if rel is not None or rev is not None:
            if current is not None:
                for term in rel or ():
                    if in_list:
                        lists.setdefault(term, []).append(current)
                    else:
                        self._add(subject, term, current, line)
                for term in rev or ():
                    self._add(current, term, subject, line)
            else:
                for term in rel or ():
                    if in_list:
                        lists.setdefault(term, [])
                    incomplete.append(("list" if in_list else "forward", term))
                incomplete.extend(("reverse", term) for term in rev or ())
                if incomplete:  # ``rel="nofollow"`` relates nothing
                    current = self._new_blank()
        if properties:
            terms = [t for p in words(properties) if (t := names.property(p)) is not None]
            if terms:
                relations = rel is not None or rev is not None
                value = property_value(
                    self._tree, element, names, language, relations, resource, typed
                )
                for term in terms:
                    if in_list:
                        lists.setdefault(term, []).append(value)
                    else:
                        self._add(subject, term, value, line)
        if not skip:
            for kind, term in context.incomplete:
                if kind == "list":
                    context.lists.setdefault(term, []).append(subject)
                elif kind == "forward":
                    self._add(context.parent_subject, term, subject, line)
                else:
                    self._add(subject, term, context.parent_subject, line)
        if skip:
            return _Context(
                context.parent_subject, context.parent_object, names, language,
                context.incomplete, context.lists,
            )  # fmt: skip
        return _Context(subject, current or subject, names, language, incomplete, lists, owner)

    def _names(self, element: etree._Element, context: _Context, line: int) -> Names:
        names = context.names
        vocabulary = element.get("vocab")
        if vocabulary is not None:
            vocabulary = vocabulary.strip(WHITE_SPACE)
            if vocabulary:
                self._add("<>", f"<{_RDFA}usesVocabulary>", address(vocabulary), line)
            names = names.with_vocabulary(vocabulary)
        declared = {
            prefix.lower(): iri
            for prefix, iri in self._tree.namespaces(element).items()
            if prefix != "_"
        }
        declared.update(declared_prefixes(element.get("prefix", "")))
        if not declared:
            return names
        return names.with_prefixes({p: self._absolute(iri) for p, iri in declared.items()})

    def _absolute(self, iri: str) -> str:
        """Resolve a prefix's IRI against the URL, not the page's base (Core, section 7.4.1)."""
        if has_scheme(iri):
            return iri
        try:
            # with nothing after it, an empty fragment would be lost
            return urljoin(self._url, iri + "x")[:-1]
        except ValueError:
            return iri

    @staticmethod
    def _resource(names: Names, value: str | None) -> str | None:
        return None if value is None else names.resource(value)

    @staticmethod
    def _link(value: str | None) -> str | None:
        return None if value is None else address(value)

    @staticmethod
    def _relations(
        names: Names, rel: str | None, rev: str | None, with_property: bool
    ) -> tuple[list[str] | None, list[str] | None]:
        """Resolve ``rel`` and ``rev``; next to ``property``, words without a colon are ignored."""
        found: list[list[str] | None] = []
        for value in (rel, rev):
            if value is None:
                found.append(None)
                continue
            terms = words(value)
            if with_property:
                terms = [word for word in terms if ":" in word]
                if not terms:
                    found.append(None)
                    continue
            named = [names.property(word) for word in terms]
            # a blank node is no predicate: it relates nothing
            found.append([term for term in named if term is not None and term[0] == "<"])
        return found[0], found[1]

    def _add_roles(self, names: Names, role: str, identity: str | None, line: int) -> None:
        """Add the triples of a role attribute (Role Attribute 1.0, section 4)."""
        subject = address("#" + identity) if identity else self._new_blank()
        names = names.with_vocabulary(XHV)
        for word in words(role):
            if (term := names.property(word)) is not None:
                self._add(subject, f"<{XHV}role>", term, line)

    def _close(self, context: _Context) -> None:
        """Add the triples of the lists that begin at an element (Core, section 7.5, step 14)."""
        if context.list_owner is None:
            return
        for term, items in context.lists.items():
            head = _NIL
            for item in reversed(items):
                node = self._new_blank()
                self._add(node, _FIRST, item, 0)
                self._add(node, _REST, head, 0)
                head = node
            self._add(context.list_owner, term, head, 0)

    def _add(self, subject: str, predicate: str, object_: str, line: int) -> None:
        if subject[0] != '"' and predicate[0] == "<":
            self._triples.add(Triple(subject, predicate, object_, line))
