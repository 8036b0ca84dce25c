"""Parses a page into one model of elements, attributes and declarations.

A page labelled XHTML that is well-formed is read as XML, all others as HTML, like in browsers. The
two trees of lxml differ: XML's keeps ``xmlns:p`` apart from the attributes, and names elements and
``xml:lang`` by their namespace. :class:`PageTree` hides that: the elements of XHTML have the names
that they have in HTML, and the same page says the same whatever it is labelled.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lxml import etree

from semcrawl.rdf.limits import ErrorLog
from semcrawl.web.htmltree import is_empty, with_lost_attributes, with_rest, without_names

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
