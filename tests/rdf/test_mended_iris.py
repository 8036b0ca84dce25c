"""IRIs with characters that they must not have: all readers mend them in the same way."""

from __future__ import annotations

import html
import json

import pyoxigraph
import pytest

from semcrawl.rdf import read, read_embedded

URL = "http://h.example/data"
STATEMENT = "<http://e.example/s> <http://e.example/p> <IRI> ."
JSON_LD = {"@id": "http://e.example/s", "http://e.example/p": {"@id": "IRI"}}
RDF_JSON = {"http://e.example/s": {"http://e.example/p": [{"type": "uri", "value": "IRI"}]}}
RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.example/">'
    '<rdf:Description rdf:about="http://e.example/s"><e:p rdf:resource="IRI"/>'
    "</rdf:Description></rdf:RDF>"
)
TRIX = (
    '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph><triple>'
    "<uri>http://e.example/s</uri><uri>http://e.example/p</uri><uri>IRI</uri>"
    "</triple></graph></TriX>"
)
DOCUMENTS = {
    "text/turtle": STATEMENT,
    "application/trig": STATEMENT,
    "text/n3": STATEMENT,
    "application/n-triples": STATEMENT,
    "application/n-quads": STATEMENT,
    "application/ld+json": json.dumps(JSON_LD),
    "application/ld+yaml": json.dumps(JSON_LD),
    "application/rdf+json": json.dumps(RDF_JSON),
    "application/rdf+xml": RDF_XML,
    "application/trix": TRIX,
    "rdfa": '<a about="http://e.example/s" property="http://e.example/p" href="IRI">x</a>',
    "microdata": '<div itemscope itemid="http://e.example/s" itemtype="http://e.example/T">'
    '<a itemprop="http://e.example/p" href="IRI">x</a></div>',
}
WITH_SPACE = {"a b": "a%20b", "a  b?c d#e f": "a%20%20b?c%20d#e%20f"}
OTHERS = {
    "{id}": "%7Bid%7D",
    "a|b^c`d": "a%7Cb%5Ec%60d",
    "a[1]?b[2]#c[3]": "a%5B1%5D?b%5B2%5D#c%5B3%5D",
    "100%": "100%25",
    "a#b#c": "a#b%23c",
    "ä%41": "ä%41",
    "\ue000\x7f": "%EE%80%80%7F",
}


def objects(syntax: str, iri: str) -> tuple[list[str], int]:
    """The object of the statement, as a strict reader has it, and the number of errors."""
    text = DOCUMENTS[syntax]
    if "json" in syntax or "yaml" in syntax:
        iri = json.dumps(iri)[1:-1]
    elif text != STATEMENT:
        iri = html.escape(iri)
    reader, media_type = (read, syntax) if "/" in syntax else (read_embedded, "text/html")
    reading = reader(text.replace("IRI", iri).encode(), URL, media_type)
    quads = pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS)
    found = [str(quad.object)[1:-1] for quad in quads if "e.example/p" in str(quad.predicate)]
    return found, reading.error_count


@pytest.mark.parametrize("syntax", DOCUMENTS)
def test_what_an_iri_must_not_contain_is_percent_encoded(syntax: str) -> None:
    """Each mend is recorded; in TriG a space may show that a sign is missing."""
    for written, mended in {**WITH_SPACE, **OTHERS}.items():
        found, errors = objects(syntax, f"http://x.example/{written}")
        is_lost = syntax == "application/trig" and written in WITH_SPACE
        assert found == ([] if is_lost else [f"http://x.example/{mended}"]), written
        assert errors == (written != mended), written


@pytest.mark.parametrize("syntax", DOCUMENTS)
def test_a_host_that_cannot_be_one_costs_the_statement(syntax: str) -> None:
    for iri in ("http://[x/", "http://x.example:port/", "1http://x.example/ y"):
        found, errors = objects(syntax, iri)
        if iri.startswith("1"):  # relative, where relative ones are allowed
            assert all("1http" in each for each in found)
        else:
            assert found == [], iri
            assert errors == 1, iri
