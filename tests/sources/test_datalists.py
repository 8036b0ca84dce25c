"""Lists of links that are neither pages nor RDF."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.links import FoundBy
from semcrawl.rdf import read
from semcrawl.sources.catalogues import DataList, catalogue_places, form_of, read_list

URL = "http://d.example/list"


def listed(body: bytes | str | object, content_type: str = "", url: str = URL) -> DataList:
    if not isinstance(body, bytes):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
    form = form_of(body, content_type)
    assert form
    return read_list(body, form, url)


def urls(found: DataList) -> list[str]:
    return [link.url for link in found.links]


# -- linksets
LINKSET = {
    "linkset": [
        {
            "anchor": "http://d.example/item/1",
            "describedby": [{"href": "/item/1.ttl", "type": "text/turtle"}],
            "item": [{"href": "file.csv", "type": "text/csv"}, {"href": "/item/1.ttl"}],
        }
    ]
}


def test_a_linkset_in_json_gives_links_with_relation_and_type() -> None:
    found = listed(LINKSET, "application/linkset+json")
    assert [(link.url, link.rel, link.type) for link in found.links] == [
        ("http://d.example/item/1.ttl", "describedby", "text/turtle"),
        ("http://d.example/file.csv", "item", "text/csv"),
    ]
    assert {link.found_by for link in found.links} == {FoundBy.HEADER}


def test_a_linkset_in_text_goes_over_many_lines() -> None:
    text = '<item/1.ttl>\n; rel="describedby"\n; type="text/turtle" ; anchor="http://x.example/",\n'
    text += '<b>; rel=item; profile="http://p.example/ http://q.example/"\n'
    found = listed(text, "application/linkset; charset=utf-8")
    assert [(link.url, link.rel, link.type, link.cues) for link in found.links] == [
        ("http://d.example/item/1.ttl", "describedby", "text/turtle", ""),
        ("http://d.example/b", "item", "", "profile:http://p.example/ profile:http://q.example/"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        {"linkset": [{"item": "x"}, 3, {"item": [{"href": 5}, "y"]}]},
        {"linkset": {}},
        {"linkset": None},
    ],
)
def test_a_linkset_that_is_none_gives_no_link(data: object) -> None:
    assert listed(data).links == []


# -- CKAN
def ckan(*packages: object, count: int = 1000) -> dict[str, object]:
    return {"help": "x", "success": True, "result": {"count": count, "results": packages}}


PACKAGE = {
    "title": "Curlews",
    "resources": [
        {"url": "/a", "format": "TTL"},
        {"url": "/b", "mimetype": "application/rdf+xml", "format": "RDF"},
        {"url": "/c", "format": "CSV", "name": "Table"},
    ],
}


def test_ckan_gives_resources_with_their_media_types_and_the_next_page() -> None:
    url = "http://d.example/api/3/action/package_search?rows=2&start=4"
    found = listed(ckan(PACKAGE, {"resources": None}), "application/json", url)
    assert [(link.url, link.type) for link in found.links] == [
        ("http://d.example/a", "text/turtle"),
        ("http://d.example/b", "application/rdf+xml"),
        ("http://d.example/c", "text/csv"),
        ("http://d.example/api/3/action/package_search?rows=2&start=6", ""),
    ]
    assert [link.is_next for link in found.links] == [False, False, False, True]


@pytest.mark.parametrize("answer", [ckan(count=1000), ckan(PACKAGE, count=1), ckan({}, count="9")])  # type: ignore[arg-type]
def test_ckan_has_no_next_page_after_the_last_or_where_its_numbers_lie(answer: object) -> None:
    assert not any(link.is_next for link in listed(answer).links)


def test_the_names_of_ckans_data_sets_lead_to_these() -> None:
    found = listed(
        {"success": True, "result": ["a b"]}, url="http://d.example/api/3/action/package_list"
    )
    assert urls(found) == ["http://d.example/api/3/action/package_show?id=a+b"]


# -- data.json
def test_data_json_gives_distributions_and_landing_pages() -> None:
    data = {
        "conformsTo": "https://project-open-data.cio.gov/v1.1/schema",
        "dataset": [
            {
                "title": "Tides",
                "identifier": "http://d.example/id/tides",
                "landingPage": "/tides",
                "distribution": [
                    {"downloadURL": "/tides.data", "mediaType": "text/turtle"},
                    {"accessURL": "/api", "format": "API"},
                ],
            },
            "nonsense",
        ],
    }
    assert [(link.url, link.type, link.title) for link in listed(data).links] == [
        ("http://d.example/tides.data", "text/turtle", "Tides"),
        ("http://d.example/api", "", "Tides"),
        ("http://d.example/tides", "", "Tides"),
        ("http://d.example/id/tides", "", "Tides"),
    ]


# -- OAI-PMH
def oai(content: str) -> bytes:
    return (
        '<?xml version="1.0"?><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
        f"<request>x</request>{content}</OAI-PMH>"
    ).encode()


OAI = "http://d.example/oai?verb=x"
RECORD = """<record><metadata><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><rdf:Description rdf:about="http://d.example/{0}">
<dc:title>{0}</dc:title><dc:identifier>http://d.example/{0}/page</dc:identifier>
</rdf:Description></rdf:RDF></metadata></record>"""


def test_a_repository_is_asked_for_rdf_if_it_has_any() -> None:
    names = "".join(
        f"<metadataFormat><metadataPrefix>{name}</metadataPrefix></metadataFormat>"
        for name in ("oai_dc", "marc", "edm")
    )
    found = listed(oai(f"<ListMetadataFormats>{names}</ListMetadataFormats>"), url=OAI)
    assert urls(found) == ["http://d.example/oai?verb=ListRecords&metadataPrefix=edm"]


def test_records_give_rdf_addresses_and_the_next_page() -> None:
    content = RECORD.format("a") + RECORD.format("b") + "<resumptionToken>t&amp;1</resumptionToken>"
    found = listed(oai(f"<ListRecords>{content}</ListRecords>"), url=OAI)
    assert urls(found) == [
        "http://d.example/a/page",
        "http://d.example/b/page",
        "http://d.example/oai?verb=ListRecords&resumptionToken=t%261",
    ]
    assert found.links[-1].is_next
    reading = read(found.rdf, OAI, "application/rdf+xml")
    assert (reading.quads, reading.error_count) == (4, 0)


def test_a_repository_that_refuses_is_told_of() -> None:
    found = listed(oai('<error code="badResumptionToken">gone</error>'), url=OAI)
    assert found.faults == ["the repository answers badResumptionToken: gone"]


# -- bad input
@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b'{"linkset":' + b"[" * 100_000, "application/linkset+json"),
        (b'{"linkset":' + b'{"a":' * 100_000, "application/linkset+json"),
        (b'{"success": true, "result": {"results": [', "application/json"),
        (
            b'<!DOCTYPE x [<!ENTITY a "b">]><OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"/>',
            "",
        ),
        (b"<OAI-PMH", "text/xml"),
    ],
)
def test_bombs_and_broken_lists_are_a_fault_in_one_line(body: bytes, content_type: str) -> None:
    found = listed(body, content_type)
    assert found.links == []
    assert len(found.faults) == 1
    assert "\n" not in found.faults[0]
    assert len(found.faults[0]) < 200


def test_only_so_many_links_of_a_list_are_taken() -> None:
    data = {"linkset": [{"item": [{"href": f"/{n}"} for n in range(50)]}]}
    found = read_list(json.dumps(data).encode(), "linkset", URL, limit=20)
    assert (len(found.links), found.faults) == (20, ["only the first 20 links are kept"])


@given(
    st.binary(max_size=400),
    st.sampled_from(["linkset", "linkset-text", "ckan", "data.json", "oai-pmh"]),
)
def test_no_body_makes_reading_raise(body: bytes, form: str) -> None:
    read_list(body, form, URL)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["linkset", "result", "results", "resources", "dataset", "distribution",
                         "url", "href", "item", "count", "title", "title*", "format"]),
        inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@given(JSON, st.sampled_from(["linkset", "ckan", "data.json"]))
def test_no_json_makes_reading_raise(data: object, form: str) -> None:
    read_list(json.dumps(data).encode(), form, URL)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{}",
        b"[]",
        b'{"a": 1}',
        b"<html></html>",
        b'{"@context": {}, "@id": "x"}',
        b"\xff\xfe",
    ],
)
def test_other_bodies_are_no_lists(body: bytes) -> None:
    assert form_of(body, "application/json") == ""


# -- software
@pytest.mark.parametrize(
    ("head", "wanted"),
    [
        ('<meta name="generator" content="ckan 2.9"><body data-site-root="http://d.example/data/">',
         "http://d.example/data/catalog.ttl"),
        ('<meta content="EPrints 3" name="Generator">',
         "http://d.example/cgi/oai2?verb=ListMetadataFormats"),
        ('<meta name="generator" content="ckan"><body data-site-root="http://evil.example/">',
         "http://d.example/catalog.ttl"),
    ],
)  # fmt: skip
def test_software_shows_where_its_catalogue_is(head: str, wanted: str) -> None:
    places = catalogue_places(head.encode(), URL)
    assert wanted in [link.url for link in places]
    assert all(link.leads_on for link in places)


def test_other_software_has_no_catalogue() -> None:
    assert catalogue_places(b'<meta name="generator" content="Hugo 0.1">', URL) == []


# -- feeds
RSS = """<?xml version="1.0"?><!-- a > b --><rss version="2.0"
 xmlns:atom="http://www.w3.org/2005/Atom"><channel>
<link>http://d.example/</link><atom:link rel="next" href="/rss?page=2"/><item><title>One</title>
<link>/one</link><enclosure url="/one.ttl" type="text/turtle" length="9"/></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="/atom"/>
<link rel="next" href="/atom?page=2"/><entry><title>Two</title><link rel="edit" href="/edit"/>
<link href="/two"/><link rel="alternate" type="application/rdf+xml" href="/two.xml"/></entry>
</feed>"""


@pytest.mark.parametrize(
    ("feed", "entries"),
    [
        (RSS, [("one", ""), ("one.ttl", "text/turtle"), ("rss?page=2", "")]),
        (ATOM, [("two", ""), ("two.xml", "application/rdf+xml"), ("atom?page=2", "")]),
    ],
    ids=["RSS", "Atom"],
)
def test_a_feed_gives_its_entries_with_types_and_its_next_page(feed, entries) -> None:
    found = listed(feed, "text/xml")
    links = sorted((link.is_next, link.url, link.type) for link in found.links)
    assert links == sorted(
        ("page" in name, f"http://d.example/{name}", type_) for name, type_ in entries
    )
    assert {link.title for link in found.links if not link.is_next} <= {"One", "Two"}


def test_what_is_no_feed_is_no_list() -> None:
    """RSS 1.0 is RDF; pages may name a feed."""
    for body in (b"<rdf:RDF xmlns='http://purl.org/rss/1.0/'>", b"<html><feed></html>", b"<feeds>"):
        assert not form_of(body, "application/rss+xml")


def test_a_page_that_begins_with_many_comments_is_told_from_a_feed_at_once():
    comments = b"<!-- a -->\n" * 200
    assert form_of(comments + b"<html>", "text/html") == ""
    assert form_of(comments + b"<rss version='2.0'>", "text/xml") == "feed"
