"""Reads the answers of OAI-PMH repositories: further requests, links, and RDF in records.

The clients on PyPI (sickle, oaipmh-scythe) fetch by themselves and bypass the frontier.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from lxml import etree

from semcrawl.rdf.terms import RDF
from semcrawl.sources.listedlinks import NEXT, DataList, LinkCollector
from semcrawl.web.htmltree import xml_tree

_OAI = "{http://www.openarchives.org/OAI/2.0/}"
_DC = "{http://purl.org/dc/elements/1.1/}"
#: metadata prefixes that hold RDF, the richest first, then the one that every repository has
_PREFIXES = ("rdf", "edm", "ore", "oai_ore", "qdc_rdf", "dcat", "didl_rdf", "oai_dc")
#: elements inside of each other, at most
_DEEPEST = 200


def is_oaipmh(head: bytes) -> bool:
    """Whether a body begins like an answer of OAI-PMH."""
    start = head[:2048]
    return b"OAI-PMH" in start and (b"<OAI-PMH" in start or b":OAI-PMH" in start)


def oaipmh_links(body: bytes, url: str, into: LinkCollector) -> DataList:
    """Read an answer: further requests, addresses in its records, their RDF."""
    found = into.found
    try:
        root = xml_tree(body, recover=True)
    except ValueError as error:
        found.faults.append(str(error)[:120])
        return found
    if root.tag != f"{_OAI}OAI-PMH":
        found.faults.append("it is not OAI-PMH")
        return found
    base = url.partition("?")[0]
    for refusal in root.iterfind(f"{_OAI}error"):
        text = " ".join((refusal.text or "").split())[:100]
        found.faults.append(f"the repository answers {refusal.get('code', 'error')}: {text}")
    if root.find(f"{_OAI}Identify") is not None:
        into.add(f"{base}?verb=ListMetadataFormats", "formats")
    names = [
        (name.text or "").strip()
        for name in root.iterfind(f"{_OAI}ListMetadataFormats/*/{_OAI}metadataPrefix")
    ]
    if prefix := next((each for each in _PREFIXES if each in names), ""):
        into.add(
            f"{base}?{urlencode({'verb': 'ListRecords', 'metadataPrefix': prefix})}", "records"
        )
    for listing in root.iterfind(f"{_OAI}ListRecords"):
        _add_records(listing, base, into)
    return found


def _add_records(listing: Any, base: str, into: LinkCollector) -> None:
    statements = etree.Element(f"{{{RDF}}}RDF", nsmap={"rdf": RDF})
    for metadata in listing.iterfind(f"{_OAI}record/{_OAI}metadata"):
        for identifier in metadata.iter(f"{_DC}identifier", f"{_DC}relation", f"{_DC}source"):
            address = (identifier.text or "").strip()
            if address.startswith(("http://", "https://")):
                into.add(address, identifier.tag.rpartition("}")[2])
        for graph in list(metadata.iter(f"{{{RDF}}}RDF")):
            statements.extend(list(graph))
    if len(statements):
        into.found.rdf = etree.tostring(statements)
    for token in listing.iterfind(f"{_OAI}resumptionToken"):
        if text := (token.text or "").strip():
            query = urlencode({"verb": "ListRecords", "resumptionToken": text[:4000]})
            into.add(f"{base}?{query}", NEXT, rel=NEXT)
