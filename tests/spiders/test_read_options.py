"""Choosing what is read, followed and aimed at."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.crawler import Crawler
from scrapy.settings import Settings

from semcrawl.config.options import document_reader, read_options
from semcrawl.config.targets import Targets, saved_name
from semcrawl.errors import UsageError
from semcrawl.rdf import Embedded, ReadOptions, read, read_embedded
from semcrawl.rdf.options import LINK_PRESETS, embedded_kinds, link_properties
from semcrawl.spiders.contexts import ContextRules
from semcrawl.spiders.html import HtmlSpider
from semcrawl.web.urls import normalise
from semcrawl.web.vocabulary import Kind

SEE_ALSO = "http://www.w3.org/2000/01/rdf-schema#seeAlso"


def test_the_settings_default_to_what_the_reader_defaults_to() -> None:
    found = read_options(Settings(reading_settings()))
    assert found == ReadOptions()


def test_presets_and_properties_add_up() -> None:
    found = link_properties(["see-also", "http://v.example/part"])
    assert found == LINK_PRESETS["see-also"] | {"http://v.example/part"}
    assert SEE_ALSO in found


def test_all_properties_are_no_restriction() -> None:
    assert link_properties(["foaf", "all"]) == frozenset()
    assert link_properties([]) == frozenset()


def test_kinds_of_embedded_data_by_name() -> None:
    assert embedded_kinds(["JSONLD", " rdfa"]) == {Embedded.JSON_LD, Embedded.RDFA}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SEMCRAWL_EMBEDDED", ["jsonld", "runes"], ("runes", "rdfa")),
        ("SEMCRAWL_RDF_LINKS", ["friends"], ("friends", "foaf")),
        ("SEMCRAWL_RDF_LINK_POSITIONS", ["middle"], ("middle", "object")),
    ],
)
def test_names_that_nothing_has_are_refused(
    name: str, value: list[str], words: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError) as refused:
        read_options(Settings({**reading_settings(), name: value}))
    assert all(word in str(refused.value) for word in (name, *words))


def test_a_link_out_of_rdf_carries_its_property_and_place() -> None:
    settings = Settings({"SEMCRAWL_MAX_LINKS_PER_PAGE": 100, **reading_settings()})
    reader = document_reader(settings)
    turtle = f"<http://a.example/x> <{SEE_ALSO}> <http://b.example/y#it> .".encode()
    reading = read(turtle, "http://a.example/x", "text/turtle", reader.options)
    [link] = reader.rdf_links(reading)
    assert (link.url, link.element) == ("http://b.example/y", "rdf")
    assert link.predicate == SEE_ALSO
    assert link.tag_path == "rdf/object/seeAlso"


def reading_settings() -> dict[str, object]:
    import semcrawl.settings as own

    return {name: getattr(own, name) for name in dir(own) if name.startswith("SEMCRAWL_")}


@pytest.mark.parametrize(
    ("targets", "kind", "content_type", "embedded", "expected"),
    [
        ("rdf", Kind.RDF, "text/turtle", 0, True),
        ("rdf", Kind.HTML, "text/html", 7, False),
        ("embedded", Kind.HTML, "text/html", 7, True),
        ("embedded", Kind.HTML, "text/html", 0, False),
        ("embedded", Kind.RDF, "text/turtle", 0, False),
        ("rdf,embedded", Kind.RDF, "", 0, True),
        ("text/csv", Kind.OTHER, "text/csv; header=present", 0, True),
        ("text/csv", Kind.RDF, "text/turtle", 0, False),
        ("rdf, image/*", Kind.OTHER, "IMAGE/png", 0, True),
    ],
)
def test_what_counts_as_a_target(
    targets: str, kind: Kind, content_type: str, embedded: int, expected: bool
) -> None:
    assert Targets.parse(targets).include(kind, content_type, embedded) is expected


@pytest.mark.parametrize(
    ("content_type", "url", "disposition", "expected"),
    [
        ("", "http://d.example/a.csv?v=2", "", True),
        ("Application/Octet-Stream", "http://d.example/A.CSV", "", True),
        ("text/plain; charset=utf-8", "http://d.example/a.csv", "", True),
        ("application/x-download", "http://d.example/get", 'attachment; filename="a.csv"', True),
        ("", "http://d.example/get", "attachment; filename*=UTF-8''%C3%A4.csv", True),
        ("", "http://d.example/a.csv", "attachment; filename=a.pdf", False),
        ("text/html", "http://d.example/a.csv", "", False),
        ("application/octet-stream", "http://d.example/a.csv.gz", "", False),
        ("application/octet-stream", "http://d.example/get?file=a.csv", "", False),
        ("", "http://d.example/a.csv", "attachment", True),
        ("", "http://d.example/", "", False),
    ],
)
def test_where_no_type_is_told_the_name_tells_it(
    content_type: str, url: str, disposition: str, expected: bool
) -> None:
    targets = Targets.parse("text/csv")
    assert targets.has_type(content_type, url, saved_name(disposition)) is expected


@given(st.text())
def test_any_disposition_gives_a_name_or_none(text: str) -> None:
    assert isinstance(saved_name(text), str)


def test_formats_of_data_are_known_on_any_machine() -> None:
    wanted = (
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet,application/geo+json"
    )
    assert {"xlsx", "geojson"} <= Targets.parse(wanted).extensions


def test_targets_are_read_in_any_case_with_room_between_them() -> None:
    wanted = Targets(rdf=True, embedded=True, media_types=("text/csv",))
    assert Targets.parse("html") == Targets(rdf=False, html=True)
    assert Targets.parse(" RDF, Embedded ,, Text/CSV,text/csv") == wanted
    assert Targets.parse(["rdf", " embedded", "", "text/csv"]) == wanted
    assert Targets.parse("text/csv").has_type("Text/CSV ; header=present")


@pytest.mark.parametrize("names", ["", " , ", [], "poems", "rdf,text", "text/csv/x", "text/c v"])
def test_what_names_no_target_is_refused(names: str | list[str]) -> None:
    with pytest.raises(UsageError, match="targets"):
        Targets.parse(names)


@given(st.text(max_size=30))
def test_targets_are_read_or_refused(text: str) -> None:
    try:
        targets = Targets.parse(text)
    except UsageError:
        return
    assert targets.rdf or targets.embedded or targets.html or targets.media_types


@pytest.mark.parametrize(
    ("hosts", "url", "allowed"),
    [
        (("*",), "https://anywhere.example/c", True),
        ((), "https://anywhere.example/c", False),
        (("w3id.org",), "https://w3id.org/x/v1", True),
        (("w3id.org",), "https://evil-w3id.org/x", False),
        (("*.example.org",), "https://c.Example.org/x", True),
    ],
)
def test_hosts_that_contexts_may_come_from(hosts: tuple[str, ...], url: str, allowed: bool) -> None:
    assert ContextRules(hosts).allow(url) is allowed


@pytest.mark.parametrize(
    ("setting", "value", "url"),
    [
        ("SEMCRAWL_URL_DROP_PARAMETERS", "view", "https://www.a.example/x?a=1"),
        ("SEMCRAWL_URL_RULES", "https-to-http", "http://www.a.example/x?a=1&view=2"),
        ("SEMCRAWL_URL_RULES", "drop-www", "https://a.example/x?a=1&view=2"),
        ("SEMCRAWL_URL_RULES", "drop-query", "https://www.a.example/x"),
        (
            "SEMCRAWL_URL_HOST_NAMES",
            '{"WWW.a.example": "b.example"}',
            "https://b.example/x?a=1&view=2",
        ),
    ],
)
def test_urls_are_spelled_as_the_settings_say(setting: str, value: str, url: str) -> None:
    spider = HtmlSpider.from_crawler(Crawler(HtmlSpider, {setting: value}))
    assert normalise("https://www.a.example/x?a=1&view=2", spider.normalisation) == url


def test_lists_in_settings_may_have_spaces_and_capitals() -> None:
    """As the command line gives them."""
    settings = {
        "SEMCRAWL_URL_DROP_PARAMETERS": "sort, View",
        "SEMCRAWL_REDIRECTORS": "w3id.org, PURL.org",
    }
    spider = HtmlSpider.from_crawler(Crawler(HtmlSpider, settings))
    assert spider.normalisation.presentational == {"sort", "view"}
    assert spider.scope.redirectors == {"w3id.org", "purl.org"}


P = "http://v.example/p"
LINES = b"".join(b'<urn:s> <%s> "%d" .\n' % (P.encode(), n) for n in range(4))
ZIPPED = io.BytesIO()
with zipfile.ZipFile(ZIPPED, "w") as archive:
    for member in ("a.nt", "b.nt"):
        archive.writestr(zipfile.ZipInfo(member), LINES)  # (with a date that does not change)
ENTITIES = b"""<?xml version="1.0"?><!DOCTYPE rdf:RDF [<!ENTITY long "%s">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:v="http://v.example/">
<rdf:Description rdf:about="urn:s"><v:p>&long;</v:p></rdf:Description></rdf:RDF>"""
NESTED = b'{"http://v.example/p": ' * 9 + b'{"@value": "x"}' + b"}" * 9
WITH_CONTEXT = b'{"@context": "http://c.example/", "p": "x"}'
CONTEXT = {"http://c.example/": b'{"@context": {"p": "http://v.example/p"}}'}
PAGE = b'<html><body vocab="http://v.example/"><p property="p">1<p property="p">2</body></html>'


@pytest.mark.parametrize(
    ("bound", "value", "body", "quads", "errors"),
    [
        ("max_errors", 1, LINES + b"wrong .\n" * 3, 4, 1),
        ("max_nquads_bytes", 100, LINES, 0, 1),
        ("max_members", 1, ZIPPED.getvalue(), 4, 1),
        ("max_unpacked_bytes", 100, ZIPPED.getvalue(), 4, 2),
        ("max_entity_bytes", 1000, ENTITIES % (b"x" * 2000), 0, 1),
        ("max_depth", 5, NESTED, 0, 1),
        ("max_context_bytes", 10, WITH_CONTEXT, 0, 1),
        ("max_page_triples", 1, PAGE, 1, 1),
        ("max_page_triples_size", 70, PAGE, 1, 1),
        ("embedded", embedded_kinds(["jsonld"]), PAGE, 0, 0),
    ],
)
def test_each_bound_of_reading_is_an_option(
    bound: str, value: object, body: bytes, quads: int, errors: int
) -> None:
    for changed in ({}, {bound: value}):
        options = replace(read_options(Settings(reading_settings())), **changed)
        take = read_embedded if body is PAGE else read
        found = take(body, "http://a.example/x", None, options, contexts=CONTEXT)
        assert ((found.quads, len(found.errors)) == (quads, errors)) is bool(changed), found.errors
