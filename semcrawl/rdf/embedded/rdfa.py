"""Processes RDFa 1.1 in pages.

Follows RDFa Core 1.1, section 7.5, with the rules of HTML+RDFa 1.1, section 3. One XPath query
selects the elements with attributes of RDFa; no others are visited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

from lxml import etree

from semcrawl.rdf.embedded.pagetree import PageTree, own_language
from semcrawl.rdf.embedded.rdfa_terms import (
    PREFIXES,
    TERMS,
    XHTML_TERMS,
    XHV,
    Names,
    declared_prefixes,
    has_scheme,
    property_value,
)
from semcrawl.rdf.embedded.triples import (
    WHITE_SPACE,
    Triple,
    TripleList,
    address,
    copy_patterns,
    words,
)
from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.scopes import Scoped
from semcrawl.rdf.terms import RDF

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
