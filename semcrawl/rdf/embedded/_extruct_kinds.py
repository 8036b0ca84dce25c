"""Maps the microformats and the Dublin Core that extruct finds to triples.

Microformats (h-card, h-event and their older forms) become vCard in RDF and the iCalendar ontology
of the W3C's RDF calendar group, as Apache Any23 maps them. Other microformats have no agreed
vocabulary and are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from semcrawl.rdf.embedded.triples import Triple, literal
from semcrawl.rdf.terms import RDF, date_datatype, iri_term, literal_term

_TYPE = f"<{RDF}type>"
_VCARD = "http://www.w3.org/2006/vcard/ns#"
_ICAL = "http://www.w3.org/2002/12/cal/icaltzd#"
_IRI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+\Z")
#: microformat → class, namespace of class and properties
_CLASSES = {
    "h-card": ("VCard", _VCARD),
    "h-adr": ("Address", _VCARD),
    "h-geo": ("Location", _VCARD),
    "h-event": ("Vevent", _ICAL),
}
#: properties that have another name in the vocabulary
_PROPERTIES = {
    _VCARD: {"name": "fn", "honorific-prefix": "honorific-prefix", "job-title": "title"},
    _ICAL: {"name": "summary", "start": "dtstart", "end": "dtend", "category": "categories"},
}
_KNOWN = {
    _VCARD: frozenset(
        "name honorific-prefix given-name additional-name family-name honorific-suffix nickname"
        " email logo photo url uid category adr post-office-box extended-address street-address"
        " locality region postal-code country-name label geo latitude longitude tel note bday key"
        " org job-title title role sound rev tz".split()
    ),
    _ICAL: frozenset(
        "name summary start end duration description url category location geo uid"
        " attendee organizer status".split()
    ),
}
#: properties whose values may be IRIs
_ADDRESSES = frozenset({"email", "logo", "photo", "url", "uid", "key", "sound", "tel"})
#: deepest nesting of items that is read
_MAX_DEPTH = 20


def microformats(page: str, url: str) -> Iterator[Triple]:
    """Yield the statements of the cards, addresses and events of the page at ``url``.

    Each item is a blank node. Raises ``ImportError`` without extruct.
    """
    from extruct.microformat import MicroformatExtractor

    reader = _Reader()
    for item in MicroformatExtractor().extract(page, base_url=url):
        yield from reader.read(item)


class _Reader:
    """Reads the items of one page and numbers their blank nodes."""

    def __init__(self) -> None:
        self._items = 0

    def read(self, item: Mapping[str, Any], depth: int = 0) -> Iterator[Triple]:
        """Yield the statements of an item and of the items inside it."""
        known = next((_CLASSES[kind] for kind in item.get("type", ()) if kind in _CLASSES), None)
        if known is None:
            children = [item for values in item.get("properties", {}).values() for item in values]
            for child in (*children, *item.get("children", ())):
                if isinstance(child, dict) and "type" in child and depth < _MAX_DEPTH:
                    yield from self.read(child, depth + 1)
            return
        name, namespace = known
        self._items += 1
        subject = f"_:f{self._items}"
        yield Triple(subject, _TYPE, iri_term(namespace + name), 0)
        for key, values in item.get("properties", {}).items():
            implied = key == "name" and name in ("Address", "Location")
            if implied or key not in _KNOWN[namespace]:
                continue
            predicate = iri_term(namespace + _PROPERTIES[namespace].get(key, key))
            for value in values:
                if isinstance(value, dict) and "type" in value and depth < _MAX_DEPTH:
                    inner = f"_:f{self._items + 1}"
                    said = list(self.read(value, depth + 1))
                    if said and said[0].subject == inner:
                        yield Triple(subject, predicate, inner, 0)
                        yield from said
                        continue
                yield Triple(subject, predicate, _term(key, value), 0)
        for child in item.get("children", ()):
            if depth < _MAX_DEPTH:
                yield from self.read(child, depth + 1)


def _term(key: str, value: Any) -> str:
    """Return a value as a term. Markup and pictures are dictionaries with a ``value``."""
    text = str(value.get("value", "") if isinstance(value, dict) else value).strip()
    if key in _ADDRESSES and _IRI.match(text):
        return iri_term(text)
    return literal_term(text, datatype=date_datatype(text))


_ELEMENTS = "http://purl.org/dc/elements/1.1/"
_TERMS = "http://purl.org/dc/terms/"


def dublin_core(page: str) -> Iterator[Triple]:
    """Yield the Dublin Core statements about a page; IRIs may be relative.

    ``DC.title`` is a property of Elements 1.1 and ``DCTERMS.title`` one of DCMI Terms, unless the
    page declares other namespaces ("Expressing Dublin Core metadata using HTML/XHTML meta and link
    elements", DCMI, 2008). Raises ``ImportError`` without extruct.
    """
    from extruct.dublincore import DublinCoreExtractor

    for found in DublinCoreExtractor().extract(page):
        namespaces = {"dc": _ELEMENTS, "dcterms": _TERMS}
        namespaces.update((name.lower(), iri) for name, iri in found["namespaces"].items())
        for entry in (*found["elements"], *found["terms"]):
            prefix, dot, _ = (entry.get("name") or entry.get("rel") or "").partition(".")
            namespace = namespaces.get(prefix.lower())
            # extruct takes ``<meta name="description">`` for Dublin Core as well
            if not dot or namespace is None:
                continue
            term = iri_term(namespace + entry["URI"].rpartition("/")[2])
            if (target := entry.get("href")) is not None:
                yield Triple("<>", term, iri_term(target), 0)
            elif text := (entry.get("content") or "").strip():
                datatype = date_datatype(text)
                yield Triple("<>", term, literal(text, entry.get("lang", ""), datatype), 0)
