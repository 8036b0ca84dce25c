"""Dublin Core in ``meta`` and ``link`` elements, found by extruct."""

from __future__ import annotations

from collections.abc import Iterator

from semcrawl.rdf.embedded.dates import date_datatype
from semcrawl.rdf.embedded.triples import Triple
from semcrawl.rdf.terms import iri_term, literal_term

_ELEMENTS = "http://purl.org/dc/elements/1.1/"
_TERMS = "http://purl.org/dc/terms/"


def dublin_core(page: str) -> Iterator[Triple]:
    """Yield the statements of a page's Dublin Core about the page; IRIs may be relative.

    ``DC.title`` is the title of the elements 1.1 and ``DCTERMS.title`` that of the terms, unless
    the page declares another namespace ("Expressing Dublin Core metadata using HTML/XHTML meta and
    link elements", DCMI, 2008). Raises ``ImportError`` without extruct.
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
                yield Triple("<>", term, literal_term(text, entry.get("lang", ""), datatype), 0)
