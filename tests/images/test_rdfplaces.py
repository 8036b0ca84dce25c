"""Images that RDF names are found, whichever vocabulary says so, with the texts about them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.images.outcomes import FoundAs
from semcrawl.images.places import ShownImage
from semcrawl.images.rdfplaces import rdf_places
from semcrawl.rdf import read

URL = "http://example.org/data.ttl"
PREFIXES = """
@prefix dc: <http://purl.org/dc/elements/1.1/> .
@prefix schema: <http://schema.org/> . @prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix edm: <http://www.europeana.eu/schemas/edm/> .
@prefix dcmi: <http://purl.org/dc/dcmitype/> . @prefix oa: <http://www.w3.org/ns/oa#> .
@prefix sc: <http://iiif.io/api/presentation/2#> . @prefix og: <http://ogp.me/ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix svcs: <http://rdfs.org/sioc/services#> .
"""


def places(turtle: str) -> list[ShownImage]:
    return rdf_places(read((PREFIXES + turtle).encode(), URL).nquads, URL)


@pytest.mark.parametrize(
    ("turtle", "address", "text"),
    [
        ("<#a> schema:image <a.jpg> ; schema:name 'A pie' .", "a.jpg", "A pie"),
        ("<#a> schema:image 'http://example.org/a.jpg' ; schema:name 'A pie' .", "a.jpg", "A pie"),
        ("<#a> foaf:depiction <a.jpg> ; foaf:name 'Ann' .", "a.jpg", "Ann"),
        ("<#a> foaf:img <a.jpg> ; rdfs:label 'Ann' .", "a.jpg", "Ann"),
        ("<> og:image <a.jpg> ; og:title 'The page' .", "a.jpg", "The page"),
        ("<#g> edm:isShownBy <show?id=3> . <#g> dc:title 'Painting' .", "show?id=3", "Painting"),
        (
            "<#a> schema:image [ a schema:ImageObject ; schema:contentUrl <a.jpg> ;"
            " schema:caption 'Just \"baked\"' ] ; schema:name 'A pie' .",
            "a.jpg",
            'Just "baked"',
        ),
        ("<x> a dcmi:StillImage ; dc:title 'A print' .", "x", "A print"),
    ],
)
def test_an_image_has_the_text_nearest_to_it(turtle: str, address: str, text: str) -> None:
    (image,) = places(turtle)
    assert (image.url, image.found_as) == ("http://example.org/" + address, FoundAs.RDF)
    assert image.texts[0].text == text


@pytest.mark.parametrize(
    "turtle",
    [
        "<#film> schema:contentUrl <film.mp4> .",
        "<#a> schema:image <drawing.svg> .",
        "<#a> schema:image _:unknown .",
        "<#a> schema:image 'no address at all://' .",
        "<#a> schema:image <urn:isbn:1> .",
        "<#a> schema:name 'image' .",
    ],
)
def test_what_is_no_image_to_fetch_is_none(turtle: str) -> None:
    assert places(turtle) == []


def test_a_iiif_manifest_gives_its_images_and_their_labels() -> None:
    image, by_service = places(
        "<#canvas> rdfs:label 'Folio 1' ; sc:hasImageAnnotations <#anno> ."
        " <#anno> oa:hasBody <http://iiif.example/1/full/full/0/default.jpg> ."
        " <http://iiif.example/1/full/full/0/default.jpg> a dcmi:Image ;"
        " svcs:has_service <http://iiif.example/1> ."
        " [] a dcmi:Image ; svcs:has_service <http://iiif.example/2/> ."
    )
    assert image.found_as is FoundAs.IIIF
    assert [text.text for text in image.texts] == ["Folio 1"]
    assert by_service.url == "http://iiif.example/2/full/full/0/default.jpg"


def test_nearer_texts_come_first_and_tell_their_distance() -> None:
    (image,) = places(
        "<#book> schema:name 'The book' ; schema:hasPart <#page> ."
        " <#page> schema:name 'Page 3' ; schema:image <a.jpg> . <a.jpg> schema:caption 'A map' ."
    )
    assert [(text.text, text.distance) for text in image.texts] == [
        ("A map", 1),
        ("Page 3", 2),
        ("The book", 3),
    ]


def test_each_image_is_named_once_and_there_is_a_bound() -> None:
    assert len(places("<#a> schema:image <a.jpg> . <#b> foaf:depiction <a.jpg> .")) == 1
    many = " ".join(f"<#a> schema:image <{n}.jpg> ." for n in range(1500))
    assert len(places(many)) == 1000


@given(st.binary(max_size=400))
def test_anything_that_is_no_quads_gives_nothing_or_addresses(noise: bytes) -> None:
    lines = b'<http://a/> <http://schema.org/image> "' + noise + b'" .\n' + noise
    for image in rdf_places(lines, URL):
        assert image.url.startswith("http")
