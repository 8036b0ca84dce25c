"""OWL/XML, in which Protégé and others save ontologies: py-horned-owl makes it RDF/XML.

The mapping to RDF is that of "OWL 2 Mapping to RDF Graphs"; the syntax that of "OWL 2 XML
Serialization".
"""

from __future__ import annotations

import re
from urllib.parse import urljoin

from lxml import etree

from semcrawl.rdf.limits import LimitReached

MISSING = "OWL/XML is read by py-horned-owl, which is not installed (pip install py-horned-owl)"

_OWL = "{http://www.w3.org/2002/07/owl#}"
#: where IRIs stand that may be relative
_ATTRIBUTES = ("IRI", "ontologyIRI", "versionIRI", "datatypeIRI")
_ELEMENTS = (f"{_OWL}IRI", f"{_OWL}Import")
_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_BASE = "{http://www.w3.org/XML/1998/namespace}base"


def to_rdfxml(data: bytes, base: str) -> bytes:
    """Return an ontology in OWL/XML (UTF-8, its entities bounded already) as RDF/XML.

    Raises :class:`LimitReached` for other documents, and without the package.
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
    except BaseException as error:  # the library's panics are no ``Exception``
        raise LimitReached(f"OWL/XML: {error}") from None
    return mapped.encode()


def _with_absolute_iris(data: bytes, base: str) -> str:
    """Return the document without entities, its IRIs resolved: the library has no base."""
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
        # (an empty fragment is lost on the way)
        return urljoin(element.base or "", iri) + ("#" if iri.endswith("#") else "")
    except ValueError:
        return iri
