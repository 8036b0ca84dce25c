"""Collects the triples of a page before their IRIs are resolved.

Parses a page into one model of elements, attributes and declarations.
A page labelled XHTML that is well-formed is read as XML, all others as HTML, like in browsers. The
two trees of lxml differ: XML's keeps ``xmlns:p`` apart from the attributes, and names elements and
``xml:lang`` by their namespace. :class:`PageTree` hides that: the elements of XHTML have the names
that they have in HTML, and the same page says the same whatever it is labelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from lxml import etree

from semcrawl.links.trees import is_empty, with_lost_attributes, with_rest, without_names
from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.terms import RDF, iri_of, language_tag, literal_term

#: what HTML and XML call white space
WHITE_SPACE = " \t\n\r\f"
_LINE_ENDS = str.maketrans("", "", "\t\n\r")
_RDFA = "http://www.w3.org/ns/rdfa#"
_TYPE = f"<{RDF}type>"
_COPY, _PATTERN = f"<{_RDFA}copy>", f"<{_RDFA}Pattern>"
_LITERAL = re.compile(r'("(?:[^"\\]|\\.)*+")(?:@(.*)|\^\^<(.*)>)?\Z', re.DOTALL)
#: datatypes of literals with a language, and never of others
_OF_LANGUAGES = frozenset({RDF + "langString", RDF + "dirLangString"})


class Triple(NamedTuple):
    """Three terms as the page has them, and the line they come from.

    They are written as in N-Triples, but IRIs may be relative, and IRIs and languages wrong.
    """

    subject: str
    predicate: str
    object: str
    line: int


def words(text: str) -> list[str]:
    """Return the words between white space, which is that of HTML, not Unicode's."""
    return text.split() if text.isascii() else re.findall(r"[^ \t\n\r\f]+", text)


def address(text: str) -> str:
    """Return the term for an IRI, without white space around it and line ends in it.

    That is how browsers read a URL (WHATWG, URL, section 4.4).
    """
    return f"<{text.strip(WHITE_SPACE).translate(_LINE_ENDS)}>"


def literal(text: str, language: str = "", datatype: str = "") -> str:
    """Return the term for a literal."""
    quoted = literal_term(text)
    if datatype:
        return f"{quoted}^^<{datatype}>"
    # a quote would end the term
    return quoted + "@" + language.replace('"', "'") if language else quoted


def statements(triples: Iterable[Triple], errors: ErrorLog) -> Iterator[tuple[str, int]]:
    """Yield the statements in Turtle, each on a line, and their lines in the page.

    IRIs and languages are mended, or the statement is left out; ``errors`` has both.
    """
    for triple in triples:
        one, two, three, line = triple
        subject, predicate = _iri(one, line, errors), _iri(two, line, errors)
        if (value := _value(three, line, errors)) is not None:
            yield f"{subject} {predicate} {value} .\n", line


def _iri(term: str, line: int, errors: ErrorLog) -> str:
    if term[0] != "<":
        return term
    iri = term[1:-1]
    if (mended := iri_of(iri)) == iri:
        return term
    errors.add_mended(f"characters of <{iri}> that no IRI has are percent-encoded", line)
    return f"<{mended}>"


def _value(term: str, line: int, errors: ErrorLog) -> str | None:
    if term[0] != '"':
        return _iri(term, line, errors)
    if term[-1] == '"' or (parts := _LITERAL.match(term)) is None:
        return term
    text, language, datatype = parts.groups()
    if language is not None:
        tag, mended = language_tag(language)
        if mended:
            errors.add_mended(f"the language {language!r} is read as {tag}", line)
        elif not tag:  # it is unknown (HTML, 3.2.6.2)
            errors.add_mended(f"the language {language!r} is none; its text has none", line)
        return f"{text}@{tag}" if tag else str(text)
    if datatype in _OF_LANGUAGES:
        errors.add(f"a literal of the type <{datatype}> without a language", line)
        return None
    return f"{text}^^{_iri(f'<{datatype}>', line, errors)}"


class TripleList(list[Triple]):
    """The bounded triples of one page and kind: a few kilobytes can state millions."""

    def __init__(self, limit: int, size: int) -> None:
        """Allow at most ``limit`` triples of ``size`` characters, and forty steps for each."""
        super().__init__()
        self._limit = limit
        self._size = self._left = size
        self._steps = 40 * limit

    def add(self, triple: Triple) -> None:
        """Add a triple. Raises :class:`LimitReached`."""
        if len(self) >= self._limit:
            raise LimitReached(f"more than {self._limit} triples in one page")
        self._left -= len(triple.subject) + len(triple.predicate) + len(triple.object)
        if self._left < 0:
            raise LimitReached(f"triples of more than {self._size} characters in one page")
        self.append(triple)

    def step(self) -> None:
        """Count a visited element. Raises :class:`LimitReached`."""
        self._steps -= 1
        if self._steps < 0:
            raise LimitReached("the page's elements refer to each other too often")


def copy_patterns(triples: list[Triple]) -> Iterator[Triple]:
    """Yield ``triples`` with each ``rdfa:copy`` replaced by the pattern's statements.

    See HTML+RDFa 1.1, section 3.5.
    """
    if not any(t.predicate == _COPY for t in triples):
        yield from triples
        return
    patterns = {t.subject for t in triples if t.predicate == _TYPE and t.object == _PATTERN}
    about: dict[str, list[Triple]] = {}
    for triple in triples:
        about.setdefault(triple.subject, []).append(triple)
    used = {t.object for t in triples if t.predicate == _COPY and t.object in patterns}
    for triple in triples:
        if triple.subject in used:
            continue
        if triple.predicate != _COPY or triple.object not in patterns:
            yield triple
            continue
        seen, waiting = set[str](), [triple.object]
        while waiting:
            pattern = waiting.pop()
            if pattern in seen:
                continue
            seen.add(pattern)
            for other in about.get(pattern, ()):
                if other.predicate == _COPY and other.object in patterns:
                    waiting.append(other.object)
                elif other.object != _PATTERN:
                    yield Triple(triple.subject, other.predicate, other.object, other.line)


_XHTML = "{http://www.w3.org/1999/xhtml}"
_XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_DECLARED_XHTML = re.compile(
    rb"\s*<(?:\?xml\s|!doctype\s+html\s+public\s+\"-//W3C//DTD XHTML)", re.I
)
_TEXT = etree.XPath("string()")


class PageTree:
    """A page's elements, be it HTML or XHTML."""

    def __init__(
        self,
        root: etree._Element,
        declared: Mapping[etree._Element, Mapping[str, str]] | None = None,
    ) -> None:
        """Take the tree that begins at ``root``.

        ``declared`` has the namespaces by prefix that each element of an XML tree declares; it is
        None for a tree of HTML.
        """
        self.root = root
        self._declared = declared
        self._languages: dict[etree._Element | None, str] = {None: ""}

    def namespaces(self, element: etree._Element) -> Mapping[str, str]:
        """Return the namespaces that an element declares, by prefix; the default one's is empty."""
        if self._declared is not None:
            return self._declared.get(element, {})
        return {
            name[6:]: value
            for name, value in element.attrib.items()
            if name == "xmlns" or name.startswith("xmlns:")
        }

    def select(self, query: etree.XPath) -> list[etree._Element]:
        """Return the elements that ``query`` finds or that declare a namespace, in their order."""
        found: list[etree._Element] = query(self.root)
        if not self._declared:
            return found
        chosen = {*found, *self._declared}
        if len(chosen) == len(found):
            return found
        return [element for element in self.root.iter(etree.Element) if element in chosen]

    def language(self, element: etree._Element) -> str:
        """Return the language of an element's text; empty if none is known."""
        known, asked = self._languages, []
        one: etree._Element | None = element
        while one is not None and one not in known:
            asked.append(one)
            own = own_language(one)
            if own is not None:
                known[one] = own
                break
            one = one.getparent()
        for other in asked:
            known[other] = known[one]
        return known[element]


def own_language(element: etree._Element) -> str | None:
    """Return the language that an element itself names; None if it names none."""
    for name in (_XML_LANG, "xml:lang", "lang"):
        if (language := element.get(name)) is not None:
            return str(language)
    return None


def text_of(element: etree._Element) -> str:
    """Return an element's text and that of all elements inside it."""
    return str(_TEXT(element))


def parse_page(text: bytes, content_type: str | None, errors: ErrorLog) -> PageTree | None:
    """Parse a page in UTF-8; return None if it has no element. Faults go to ``errors``."""
    media = (content_type or "").partition(";")[0].strip().lower()
    if media.endswith("xml") or (media != "text/html" and _DECLARED_XHTML.match(text)):
        tree = _parse_xml(text)
        if tree is not None:
            return tree
    # by default libxml2 drops what is nested 256 deep, and texts of ten megabytes
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True)
    try:
        root = with_rest(etree.fromstring(text, parser))
    except (etree.XMLSyntaxError, ValueError) as error:
        if not is_empty(error):
            errors.add(f"the page cannot be parsed: {error}")
        return None
    last = parser.error_log.last_error
    if last is not None and last.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        errors.add("the page is not read to its end: its elements are nested too deep", last.line)
    return None if root is None else PageTree(with_lost_attributes(root, text))


def _parse_xml(text: bytes) -> PageTree | None:
    """Parse XHTML; return None if it is not well-formed, or not XHTML."""
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities="internal", no_network=True, load_dtd=False,
        huge_tree=False,
    )  # fmt: skip
    try:
        root = etree.fromstring(without_names(text), parser)
    except etree.XMLSyntaxError:
        return None
    if root.tag != _XHTML + "html":
        return None
    declared: dict[etree._Element, dict[str, str]] = {}
    prefixes: dict[str, str] = {}
    for event, found in etree.iterwalk(root, events=("start-ns", "start")):
        if event == "start-ns":
            prefixes[found[0] or ""] = found[1]
        elif prefixes:
            declared[found], prefixes = prefixes, {}
    for element in root.iter(_XHTML + "*"):
        element.tag = element.tag[len(_XHTML) :]
    return PageTree(root, declared)
