"""Values of RDFa properties."""

from __future__ import annotations

from lxml import etree

from semcrawl.rdf.embedded.dates import date_datatype
from semcrawl.rdf.embedded.rdfa_terms import Names
from semcrawl.rdf.terms import RDF, literal_term

_TEXT = etree.XPath("string()")
_XML_LITERAL = f"<{RDF}XMLLiteral>"
_HTML_LITERAL = f"<{RDF}HTML>"


def property_value(
    element: etree._Element,
    names: Names,
    language: str,
    relations: bool,
    resource: str | None,
    about: str | None,
    typed: str | None,
) -> str:
    """Return the value of an element's properties (Core, section 7.5, step 11)."""
    content, datatype = element.get("content"), element.get("datatype")
    if datatype is not None:
        kind = names.property(datatype.strip()) if datatype.strip() else None
        if kind in (_XML_LITERAL, _HTML_LITERAL) and content is None:
            return literal_term(_inner(element, kind), datatype=kind[1:-1])
        text = content if content is not None else _time_of(element)
        if text is None:
            text = _TEXT(element)
        if kind:
            return literal_term(text, datatype=kind[1:-1])
        return literal_term(text, language)
    if content is not None:
        return literal_term(content, language)
    moment = _time_of(element)
    if moment is not None:
        if kind := date_datatype(moment):
            return literal_term(moment, datatype=kind)
        return literal_term(moment, language)
    if not relations and resource is not None:
        return resource
    if typed is not None and about is None:
        return typed
    return literal_term(_TEXT(element), language)


def _time_of(element: etree._Element) -> str | None:
    moment: str | None = element.get("datetime")
    if moment is None and element.tag == "time":
        moment = str(_TEXT(element))
    return moment


def _inner(element: etree._Element, kind: str) -> str:
    """Return an element's content as markup."""
    method = "xml" if kind == _XML_LITERAL else "html"
    head = _markup(element.text)
    return head + "".join(
        etree.tostring(child, encoding="unicode", method=method, with_tail=True)
        for child in element
    )


def _markup(text: str | None) -> str:
    """Return ``text`` as it stands in markup."""
    return (text or "").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
