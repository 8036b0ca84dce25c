"""Resolves RDFa's terms, CURIEs and IRIs (RDFa Core 1.1, section 7.4) and makes its literals.

The initial context is https://www.w3.org/2011/rdfa-context/rdfa-1.1.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from lxml import etree

from semcrawl.rdf.embedded._literalmarkup import html_content, xml_content
from semcrawl.rdf.embedded.pagetree import PageTree, text_of
from semcrawl.rdf.embedded.triples import WHITE_SPACE, address, literal
from semcrawl.rdf.scopes import Scoped
from semcrawl.rdf.terms import RDF, date_datatype

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
