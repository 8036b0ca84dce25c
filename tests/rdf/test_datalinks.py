"""Links that the data of pages name."""

import json

import pytest

from semcrawl.errors import UsageError
from semcrawl.links import FoundBy, Link
from semcrawl.rdf import data_links, read_embedded
from semcrawl.rdf.datalinks import named_media_type
from semcrawl.rdf.options import embedded_links

URL = "http://example.org/dir/page"
DATA = embedded_links(["data"])


def links(body: str, properties: frozenset[str] = DATA) -> list[Link]:
    reading = read_embedded(body.encode(), URL, "text/html")
    return data_links(reading.nquads, URL, properties)


def json_ld(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


DATASET = {
    "@context": "https://schema.org/",
    "@type": "Dataset",
    "name": "Curlews",
    "distribution": {
        "@type": "DataDownload",
        "contentUrl": "../curlews",
        "encodingFormat": "text/turtle",
    },
}


def test_a_distribution_is_a_link_with_its_property_and_media_type() -> None:
    (link,) = links(json_ld(DATASET))
    assert link.url == "http://example.org/curlews"
    assert link.predicate == "http://schema.org/contentUrl"
    assert link.type == "text/turtle"
    assert link.element == "embedded"
    assert link.found_by is FoundBy.EMBEDDED


@pytest.mark.parametrize(
    "body",
    [
        '<div itemscope itemtype="http://schema.org/Dataset"><a itemprop="distribution" '
        'href="http://example.org/a.ttl">x</a></div>',
        '<div itemscope itemtype="http://schema.org/Dataset"><meta itemprop="distribution" '
        'content="http://example.org/a.ttl#x"></div>',
        '<div prefix="dcat: http://www.w3.org/ns/dcat#" about="#d" property="dcat:distribution" '
        'resource="/a.ttl"></div>',
        '<div prefix="void: http://rdfs.org/ns/void#" about="#d"><a property="void:dataDump" '
        'href="/a.ttl">x</a></div>',
    ],
)
def test_every_kind_of_embedded_data_gives_links(body: str) -> None:
    assert [link.url for link in links(body)] == ["http://example.org/a.ttl"]


def test_other_properties_and_the_page_itself_are_no_links() -> None:
    data = {
        "@context": "https://schema.org/",
        "@id": URL,
        "url": URL + "#top",
        "image": "http://example.org/a.png",
        "author": {"@id": "http://example.org/me"},
        "sameAs": ["mailto:a@example.org", "http://example.org/same"],
    }
    assert [link.url for link in links(json_ld(data))] == ["http://example.org/same"]


def test_a_link_is_named_once_and_no_more_than_asked_for() -> None:
    data = {
        "@context": "https://schema.org/",
        "hasPart": [f"http://example.org/{n % 7}" for n in range(50)],
    }
    nquads = read_embedded(json_ld(data).encode(), URL, "text/html").nquads
    assert len(data_links(nquads, URL, DATA)) == 7
    assert len(data_links(nquads, URL, DATA, limit=3)) == 3


@pytest.mark.parametrize(
    ("named", "wanted"),
    [
        ("Text/Turtle; charset=utf-8", "text/turtle"),
        ("https://www.iana.org/assignments/media-types/application/rdf+xml", "application/rdf+xml"),
        (
            "http://publications.europa.eu/resource/authority/file-type/RDF_XML",
            "application/rdf+xml",
        ),
        ("http://publications.europa.eu/resource/authority/file-type/RDF_TURTLE", "text/turtle"),
        ("TTL", "text/turtle"),
        (".nt", "application/n-triples"),
        ("CSV", "text/csv"),
        ("", ""),
    ],
)
def test_media_types_are_read_as_catalogues_write_them(named: str, wanted: str) -> None:
    assert named_media_type(named) == wanted


def test_no_properties_are_none_and_unknown_names_are_refused() -> None:
    assert embedded_links([]) == frozenset()
    assert embedded_links(["http://v.example/x"]) == {"http://v.example/x"}
    with pytest.raises(UsageError, match="SEMCRAWL_EMBEDDED_LINKS: 'dta'"):
        embedded_links(["dta"])
