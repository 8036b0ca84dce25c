"""JSON whose context is named by a ``Link`` header (JSON-LD 1.1, section 6.1)."""

from __future__ import annotations

import json

import pyoxigraph as ox
import pytest

from semcrawl.links import context_links, header_links, json_ld_alternate
from semcrawl.rdf import detect, read
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://broker.example/entities/1"
CONTEXT = "http://c.example/core.jsonld"
REL = 'rel="http://www.w3.org/ns/json-ld#context"'
TERMS = {"id": "@id", "type": "@type", "@vocab": "http://v.example/"}
CONTEXTS = {CONTEXT: json.dumps({"@context": TERMS}).encode()}


def statements(text: str, **more: object) -> list[str]:
    """The statements of JSON with the context, without their graph."""
    reading = read(
        *(text.encode(), URL, "application/json"), contexts=CONTEXTS, link_contexts=(CONTEXT,)
    )
    assert not reading.error_count, reading.errors
    quads = ox.parse(input=reading.nquads, format=ox.RdfFormat.N_QUADS)
    return sorted(" ".join(map(str, quad.triple)) for quad in quads)


NAME = '<urn:1> <http://v.example/name> "Ann"'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('{"id": "urn:1", "name": "Ann"}', [NAME]),
        ('[{"id":"urn:1","name":"Ann"}]', [NAME]),
        ("{}", []),
        ("[]", []),
        (
            '{"@context": {"name": "urn:own"}, "id": "urn:1", "name": "Ann"}',
            ['<urn:1> <urn:own> "Ann"'],
        ),
        ('{"@context": [{"n": "urn:own"}], "id": "urn:1", "name": "Ann"}', [NAME]),
        ('{"@context": null, "@id": "urn:1", "name": "Ann", "urn:p": 1}', None),
        ('{"@graph": [{"id": "urn:1", "name": "Ann"}]}', [NAME]),
        ('[{"@context": {"name": "urn:own"}, "id": "urn:1", "name": "Ann"}, 5]',
         ['<urn:1> <urn:own> "Ann"']),
    ],
)  # fmt: skip
def test_the_context_of_the_header_is_the_first(text: str, wanted: list[str] | None) -> None:
    found = statements(text)
    if wanted is None:  # the document's own null takes all terms back
        wanted = ['<urn:1> <urn:p> "1"^^<http://www.w3.org/2001/XMLSchema#integer>']
    assert found == wanted


def test_errors_keep_their_lines() -> None:
    text = '{\n"id": "urn:1",\n"name": "Ann",,\n"x": 1}'
    reading = read(text.encode(), URL, "application/json", contexts=CONTEXTS,
                   link_contexts=(CONTEXT,))  # fmt: skip
    assert reading.error_count
    assert reading.errors[0].line == 3


def test_a_missing_context_is_needed_and_nothing_is_invented() -> None:
    text = b'{"id": "urn:1", "name": "Ann"}'
    reading = read(text, URL, "application/json", link_contexts=(CONTEXT,))
    assert reading.contexts_needed == (CONTEXT,)
    assert not reading.quads


def test_two_contexts_are_an_error() -> None:
    reading = read(b'{"id": "urn:1"}', URL, "application/json", link_contexts=("urn:a", "urn:b"))
    assert (reading.quads, reading.error_count) == (0, 1)
    assert "Link headers name a context" in reading.errors[0].message


@pytest.mark.parametrize(
    ("headers", "media", "wanted"),
    [
        ([f"<{CONTEXT}>; {REL}"], "application/json", (CONTEXT,)),
        ([f'<{CONTEXT}>; {REL}; type="application/ld+json"'], "application/geo+json", (CONTEXT,)),
        ([f"</core.jsonld>; {REL}, <x>; rel=next"], "application/json; charset=utf-8",
         ("http://broker.example/core.jsonld",)),
        ([f"<{CONTEXT}>; {REL}", f"<{CONTEXT}>; {REL}"], "application/json", (CONTEXT,)),
        ([f"<{CONTEXT}>; {REL}", f"</b>; {REL}"], "application/json",
         (CONTEXT, "http://broker.example/b")),
        ([f"<{CONTEXT}>; {REL}"], "application/ld+json", ()),
        ([f"<{CONTEXT}>; {REL}"], "application/rdf+json", ()),
        ([f"<{CONTEXT}>; {REL}"], "text/html", ()),
        ([f"<{CONTEXT}>; {REL}"], "", ()),
        ([f"<{CONTEXT}>; rel=describedby"], "application/json", ()),
    ],
)  # fmt: skip
def test_headers_name_contexts_of_json_only(
    headers: list[str], media: str, wanted: tuple[str, ...]
) -> None:
    assert context_links(headers, URL, media) == wanted


def test_a_context_is_no_link() -> None:
    header = f'<{CONTEXT}>; {REL}; type="application/ld+json", </other>; rel=describedby'
    assert [link.url for link in header_links(header, URL)] == ["http://broker.example/other"]


def test_the_json_ld_of_a_page_is_found_in_its_headers() -> None:
    headers = [
        "</style.css>; rel=preload",
        '</docs/context.jsonld>; rel="alternate"; type="application/ld+json"',
    ]
    found = json_ld_alternate(headers, "https://schema.example/")
    assert found == "https://schema.example/docs/context.jsonld"
    assert json_ld_alternate(headers[:1], URL) is None


def test_detection_needs_json() -> None:
    for body in (b'{"id": 1}', b"\xef\xbb\xbf [ ]"):
        found = detect(body, "application/json", URL, link_contexts=(CONTEXT,))
        assert (found.kind, found.format) == (Kind.RDF, RdfFormat.JSON_LD)
    page = b"<!DOCTYPE html><html><body>error"
    assert detect(page, "application/json", URL, link_contexts=(CONTEXT,)).kind is Kind.HTML
    assert detect(b'"text"', "application/json", URL, link_contexts=("x",)).kind is Kind.OTHER
