"""Languages: all readers mend the same tags, and none writes a tag that is none."""

from __future__ import annotations

import json

import pyoxigraph
import pytest

from semcrawl.rdf import read, read_embedded

URL = "http://h.example/data"
RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.example/">'
    '<rdf:Description rdf:about="http://e.example/s"><e:p xml:lang="TAG">x</e:p>'
    "</rdf:Description></rdf:RDF>"
)
TRIX = (
    '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><triple>'
    "<uri>http://e.example/s</uri><uri>http://e.example/p</uri>"
    '<plainLiteral xml:lang="TAG">x</plainLiteral></triple></graph></TriX>'
)
STATEMENT = '<http://e.example/s> <http://e.example/p> "x"@TAG .'
JSON_LD = {"@id": "http://e.example/s", "http://e.example/p": {"@value": "x", "@language": "TAG"}}
DEFAULT = {"@context": {"@language": "TAG"}, "@id": "http://e.example/s", "http://e.example/p": "x"}
TERM = {
    "@context": {"p": {"@id": "http://e.example/p", "@language": "TAG"}},
    "@id": "http://e.example/s",
    "p": "x",
}
RDF_JSON = {
    "http://e.example/s": {"http://e.example/p": [{"type": "literal", "value": "x", "lang": "TAG"}]}
}
DOCUMENTS = {
    "application/rdf+xml": RDF_XML,
    "application/trix": TRIX,
    "text/turtle": STATEMENT,
    "application/trig": STATEMENT,
    "text/n3": STATEMENT,
    "application/n-triples": STATEMENT,
    "application/n-quads": STATEMENT,
    "application/ld+json": json.dumps(JSON_LD),
    "application/ld+json; profile=default": json.dumps(DEFAULT),
    "application/ld+json; profile=term": json.dumps(TERM),
    "application/ld+yaml": json.dumps(JSON_LD),
    "application/rdf+json": json.dumps(RDF_JSON),
}
PAGES = {
    "rdfa": '<p about="http://e.example/s" property="http://e.example/p" lang="TAG">x</p>',
    "microdata": '<div itemscope itemid="http://e.example/s" itemtype="http://e.example/T">'
    '<p itemprop="http://e.example/p" lang="TAG">x</p></div>',
}
MENDED = ["en_US", "EN_us", " en-us"]
WRONG = ["englishlang", "en-", "utf-8", "en_US@euro", "*", "English language"]


def literal(nquads: bytes) -> list[str]:
    """The text with its language; a strict reader takes the lines."""
    quads = pyoxigraph.parse(nquads, pyoxigraph.RdfFormat.N_QUADS)
    return [str(quad.object) for quad in quads if "e.example/p" in str(quad.predicate)]


@pytest.mark.parametrize("media_type", DOCUMENTS)
def test_what_no_reading_gives_costs_the_literal(media_type: str) -> None:
    """The name of a locale is a tag with other signs; what is no tag is left out and recorded."""
    for tag in [*MENDED, *WRONG]:
        if " " in tag and DOCUMENTS[media_type] == STATEMENT:
            continue  # no tag of these syntaxes
        text = DOCUMENTS[media_type].replace("TAG", tag)
        reading = read(text.encode(), URL, media_type)
        assert literal(reading.nquads) == (['"x"@en-us'] if tag in MENDED else []), tag
        assert reading.error_count, tag


@pytest.mark.parametrize("kind", PAGES)
def test_what_is_no_tag_is_unknown_in_pages(kind: str) -> None:
    """So HTML has it (3.2.6.2), whose language is no part of the text."""
    for tag in [*MENDED, *WRONG]:
        page = f"<!doctype html><title>t</title>{PAGES[kind].replace('TAG', tag)}"
        reading = read_embedded(page.encode(), URL, "text/html")
        assert literal(reading.nquads) == (['"x"@en-us'] if tag in MENDED else ['"x"']), tag
        assert reading.error_count, tag
