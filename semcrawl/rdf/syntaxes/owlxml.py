"""Converts OWL/XML, a format of Protégé and others, to RDF/XML with py-horned-owl.

The syntax is defined by "OWL 2 XML Serialization", its RDF by "OWL 2 Mapping to RDF Graphs".
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from lxml import etree

from semcrawl.rdf.limits import LimitReached

MISSING = "OWL/XML needs py-horned-owl, which is not installed (pip install py-horned-owl)"

_OWL = "{http://www.w3.org/2002/07/owl#}"
#: attributes that may hold relative IRIs
_ATTRIBUTES = ("IRI", "ontologyIRI", "versionIRI", "datatypeIRI")
_ELEMENTS = (f"{_OWL}IRI", f"{_OWL}Import")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BASE = "{http://www.w3.org/XML/1998/namespace}base"


def to_rdfxml(data: bytes, base: str) -> bytes:
    """Convert OWL/XML in UTF-8, with entities already bounded, to RDF/XML.

    Raises :class:`LimitReached` for invalid documents, and without the package.
    """
    try:
        import pyhornedowl
    except ImportError:
        raise LimitReached(MISSING) from None
    text = _with_absolute_iris(data, base)
    try:
        ontology = pyhornedowl.open_ontology_from_string(text, "owx")
        mapped: str = ontology.save_to_string("owl")
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException as error:  # the library's panics do not derive from Exception
        raise LimitReached(f"OWL/XML: {error}") from None
    return mapped.encode()


def _with_absolute_iris(data: bytes, base: str) -> str:
    """Return the document with entities expanded and IRIs resolved: the library has no base."""
    parser = etree.XMLParser(resolve_entities="internal", no_network=True, huge_tree=False)
    try:
        root = etree.fromstring(data, parser, base_url=base)
    except etree.XMLSyntaxError as error:
        raise LimitReached(f"OWL/XML: {error}") from None
    for element in root.iter(etree.Element):
        for name in _ATTRIBUTES:
            if (iri := element.get(name)) is not None:
                element.set(name, _resolved(element, iri))
        if element.tag in _ELEMENTS:
            element.text = _resolved(element, (element.text or "").strip())
    for element in root.iter(etree.Element):
        element.attrib.pop(_BASE, None)
    text: str = etree.tostring(root, encoding="unicode")
    return text


def _resolved(element: etree._Element, iri: str) -> str:
    if _ABSOLUTE.match(iri):
        return iri
    try:
        # urljoin drops an empty fragment
        return urljoin(element.base or "", iri) + ("#" if iri.endswith("#") else "")
    except ValueError:
        return iri
