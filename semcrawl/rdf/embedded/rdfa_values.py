"""Values of RDFa properties."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from lxml import etree

from semcrawl.rdf.embedded.dates import date_datatype
from semcrawl.rdf.embedded.rdfa_terms import Names
from semcrawl.rdf.terms import RDF, literal_term

_TEXT = etree.XPath("string()")
_XML_LITERAL = f"<{RDF}XMLLiteral>"
_HTML_LITERAL = f"<{RDF}HTML>"
#: a start tag as lxml writes it: its name, attributes and end
_START_TAG = re.compile(r"<([^\s/>!?]+)([^>]*?)(/?>)")
_NAMESPACE = re.compile(r' (xmlns(?::[^\s=]+)?)="([^"]*)"')


def property_value(
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
        kind = names.property(datatype.strip()) if datatype.strip() else None
        if kind in (_XML_LITERAL, _HTML_LITERAL) and content is None:
            return literal_term(_inner(element, kind, names), datatype=kind[1:-1])
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
    # an ``about`` that names nothing (``[]``) is there all the same
    if typed is not None and element.get("about") is None:
        return typed
    return literal_term(_TEXT(element), language)


def _time_of(element: etree._Element) -> str | None:
    moment: str | None = element.get("datetime")
    if moment is None and element.tag == "time":
        moment = str(_TEXT(element))
    return moment


def _inner(element: etree._Element, kind: str, names: Names) -> str:
    """Return an element's content as markup."""
    method = "xml" if kind == _XML_LITERAL else "html"
    children: Iterable[str] = (
        etree.tostring(child, encoding="unicode", method=method, with_tail=True)
        for child in element
    )
    # elements of XHTML keep their namespace though the tree goes without it
    xhtml = element.nsmap.get(None)
    if kind == _XML_LITERAL and xhtml:
        namespaces = {"xmlns": xhtml, **{f"xmlns:{p}": iri for p, iri in names.declared.items()}}
        children = (_with_namespaces(child, namespaces) for child in children)
    return _markup(element.text) + "".join(children)


def _with_namespaces(markup: str, namespaces: Mapping[str, str]) -> str:
    """Declare the namespaces in scope in the first start tag (Core, section 7.5, step 11)."""
    start = _START_TAG.match(markup)
    if start is None:
        return markup  # a comment or an instruction
    name, attributes, end = start.groups()
    declared = dict(_NAMESPACE.findall(attributes))
    declared.update({n: _markup(iri).replace('"', "&quot;") for n, iri in namespaces.items()})
    written = "".join(f' {name}="{iri}"' for name, iri in declared.items())
    return f"<{name}{_NAMESPACE.sub('', attributes)}{written}{end}" + markup[start.end() :]


def _markup(text: str | None) -> str:
    """Return ``text`` as it stands in markup."""
    return (text or "").replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
