"""Lists of others and results of searches: what is read out of each."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.sources.seedlists import read_description, read_list, read_results, searxng

LOV = json.dumps(
    [
        {
            "titles": [
                {"value": "Vocabulaire", "lang": "fr"},
                {"value": "A  Vocabulary", "lang": "en"},
            ],
            "uri": "http://v.example/ns",
            "nsp": "http://v.example/ns#",
            "prefix": "v",
        },
        {"nsp": "http://w.example/ns#"},
    ]
).encode()
CLOUD = json.dumps(
    {
        "one": {
            "title": "Data set one",
            "website": "http://one.example/",
            "full_download": [
                {"download_url": "http://one.example/dump.nt.gz", "status": "OK"},
                {"download_url": "http://one.example/gone.nt.gz", "status": "FAIL (404)"},
            ],
            "sparql": [{"access_url": "http://one.example/sparql", "status": "OK"}],
            "example": [{"access_url": "http://one.example/thing"}],
            "other_download": "nonsense",
        }
    }
).encode()
OPML = b"""<?xml version="1.0"?><opml version="2.0"><body><outline text="Feeds">
<outline text="A feed" xmlUrl="http://f.example/rss" htmlUrl="http://f.example/"/></outline></body></opml>"""


def test_vocabularies_of_lov_are_told_by_prefix_and_english_title() -> None:
    one, other = read_list(LOV)
    assert (one.url, one.why) == ("http://v.example/ns", "vocabulary v (A Vocabulary)")
    assert other.url == "http://w.example/ns#"


def test_data_sets_of_the_lod_cloud_give_dumps_and_endpoints_that_are_not_known_to_fail() -> None:
    assert [(s.url, s.why) for s in read_list(CLOUD)] == [
        ("http://one.example/dump.nt.gz", "dump of Data set one"),
        ("sparql+http://one.example/sparql", "SPARQL endpoint of Data set one"),
        ("http://one.example/thing", "example of Data set one"),
        ("http://one.example/", "website of Data set one"),
    ]


def test_outlines_give_feeds_and_their_pages() -> None:
    assert [(s.url, s.why) for s in read_list(OPML)] == [
        ("http://f.example/rss", "A feed"),
        ("http://f.example/", "A feed"),
    ]


def test_plain_text_gives_an_address_of_each_line() -> None:
    text = "\ufeffhttp://a.example/\n# http://comment.example/\nname, https://b.example/x, 7\nno\n"
    assert [s.url for s in read_list(text.encode())] == ["http://a.example/", "https://b.example/x"]
    assert [s.url for s in read_list(b'["http://a.example/"]')] == ["http://a.example/"]


@pytest.mark.parametrize("body", [b"{}", b"[1]", b"{", b"<html></html>", b"[" * 100_000])
def test_what_is_no_list_is_an_error_in_one_line(body) -> None:
    with pytest.raises(ValueError, match=r"\Ait is [^\n]+\Z"):
        read_list(body)


BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">'
    b'<!ENTITY f SYSTEM "file:///etc/passwd">]>'
)


def test_entities_are_not_resolved() -> None:
    body = BOMB + b'<opml><body><outline text="&f;" xmlUrl="http://&b;.example/"/></body></opml>'
    with pytest.raises(ValueError, match="DOCTYPE"):
        read_list(body)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_list_or_an_error(body) -> None:
    with suppress(ValueError):
        read_list(body)


# -- searches
DESCRIPTION = b"""<?xml version="1.0"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>Search</ShortName>
<Url type="text/html" template="http://s.example/html?q={searchTerms}"/>
<Url type="application/rss+xml" indexOffset="0"
 template="/rss?q={searchTerms}&amp;start={startIndex}&amp;n={count?}&amp;x={unknown?}"/>
</OpenSearchDescription>"""


def test_a_description_tells_how_a_service_is_asked() -> None:
    service = read_description(DESCRIPTION, "http://s.example/opensearch.xml")
    assert service.url("a b&c", 1, 10, 50) == "http://s.example/rss?q=a%20b%26c&start=10&n=50&x="
    assert service.has_pages


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html/>", "not an OpenSearch description"),
        (b"nothing", "not an OpenSearch description"),
        (DESCRIPTION.replace(b"application/rss+xml", b"image/png"), "neither RSS nor Atom"),
    ],
)
def test_what_is_no_description_of_a_search_is_told(body, words) -> None:
    with pytest.raises(ValueError, match=words):
        read_description(body, "http://s.example/")


def test_a_parameter_that_must_be_known_and_is_not_is_told() -> None:
    template = DESCRIPTION.replace(b"{unknown?}", b"{unknown}")
    with pytest.raises(ValueError, match="unknown"):
        read_description(template, "http://s.example/").url("a", 0, 0, 10)


def test_results_are_read_as_json_or_as_a_feed() -> None:
    service = searxng("http://s.example/searx/")
    assert (
        service.url("a b", 1, 0, 0) == "http://s.example/searx/search?q=a%20b&pageno=2&format=json"
    )
    body = (
        b'{"results": [{"url": "http://a.example/", "title": "A\\n title"}, {"title": "none"}, 3]}'
    )
    (found,) = read_results(body, service)
    assert (found.url, found.why) == ("http://a.example/", "A title")
    feed = (
        b'<rss version="2.0"><channel><link>http://s.example/</link>'
        b"<item><title>B</title><link>http://b.example/</link></item></channel></rss>"
    )
    results = read_results(feed, read_description(DESCRIPTION, "http://s.example/"))
    assert [one.url for one in results] == ["http://b.example/"]
    for wrong in (b"<html>", b'{"results": 3}', b"[]"):
        with pytest.raises(ValueError, match="JSON"):
            read_results(wrong, service)
