"""Microformats and Dublin Core, which extruct finds."""

import pyoxigraph
import pytest

from semcrawl.config import options as readoptions
from semcrawl.errors import UsageError
from semcrawl.rdf import Embedded, Reading, ReadOptions, read_embedded

URL = "http://example.org/page"
PREFIXES = """
    PREFIX vcard: <http://www.w3.org/2006/vcard/ns#>
    PREFIX ical: <http://www.w3.org/2002/12/cal/icaltzd#>
    PREFIX dc: <http://purl.org/dc/elements/1.1/> PREFIX dct: <http://purl.org/dc/terms/>
"""


def read(markup: str, kind: Embedded) -> Reading:
    pytest.importorskip("extruct", reason="needs semcrawl[microformats]")
    options = ReadOptions(embedded=frozenset({kind}))
    return read_embedded(markup.encode(), URL, "text/html", options)


def holds(reading: Reading, pattern: str) -> bool:
    store = pyoxigraph.Store()
    for quad in pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS):
        store.add(pyoxigraph.Quad(quad.subject, quad.predicate, quad.object))
    return bool(store.query(f"{PREFIXES} ASK {{ {pattern} }}", base_iri=URL))


@pytest.mark.parametrize(
    ("markup", "pattern"),
    [
        (
            '<p class="vcard"><a class="fn url" href="/me">Ann</a><b class="org">Ltd</b></p>',
            '?c a vcard:VCard ; vcard:fn "Ann" ; vcard:url </me> ; vcard:org "Ltd"',
        ),
        (
            '<p class="h-card"><b class="p-name">A</b><i class="p-adr h-adr"><b class="p-locality">'
            'Bonn</b></i><a class="u-email" href="mailto:a@b.c">m</a></p>',
            "?c vcard:adr [ a vcard:Address ; vcard:locality 'Bonn' ] ; vcard:email <mailto:a@b.c>",
        ),
        (
            '<p class="h-event"><b class="p-name">Meet</b><time class="dt-start" '
            'datetime="2024-01-02">x</time><i class="p-location h-card">Hall</i></p>',
            "?e a ical:Vevent ; ical:summary 'Meet' ; ical:location [ vcard:fn 'Hall' ] ;"
            " ical:dtstart '2024-01-02'^^<http://www.w3.org/2001/XMLSchema#date>",
        ),
        ('<div class="h-entry"><p class="p-author h-card">B</p></div>', "?c vcard:fn 'B'"),
    ],
)
def test_microformats_become_vcard_and_icalendar(markup: str, pattern: str) -> None:
    """Cards, addresses and events of both generations are read, wherever they stand."""
    reading = read(f"<html><body>{markup}</body></html>", Embedded.MICROFORMATS)
    assert holds(reading, pattern), reading.nquads.decode()


def test_dublin_core_becomes_dcmi_terms() -> None:
    """The prefix of a name tells elements from terms; other ``meta`` elements are none."""
    head = """<meta name="DC.title" content="T" lang="en"><meta name="dcterms.issued"
        content="2020-01-01"><link rel="schema.x" href="http://purl.org/dc/terms/">
        <link rel="x.relation" href="y"><meta name="description" content="none">"""
    reading = read(f"<html><head>{head}</head></html>", Embedded.DUBLIN_CORE)
    assert holds(reading, "<page> dc:title 'T'@en ; dct:issued ?date ; dct:relation <y>")
    assert reading.quads == 3


@pytest.mark.parametrize("kind", [Embedded.MICROFORMATS, Embedded.DUBLIN_CORE])
def test_pages_without_them_cost_nothing_and_broken_ones_no_other_kind(kind: Embedded) -> None:
    """A page without such data gives none; a broken one keeps its other data."""
    assert read("<p>The word vcards, and DC Comics.</p>", kind).quads == 0
    markup = '<link rel="schema.DC"><p class="vcard"><b property="dc:title">T</b></p>'
    options = ReadOptions(embedded=frozenset({kind, Embedded.RDFA}))
    reading = read_embedded(markup.encode(), URL, "text/html", options)
    assert reading.counts["rdfa"] == 1


def test_they_are_off_by_default_and_asked_for_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The setting takes their names; without extruct it says what to install."""
    assert not ReadOptions().embedded & {Embedded.MICROFORMATS, Embedded.DUBLIN_CORE}
    pytest.importorskip("extruct", reason="needs semcrawl[microformats]")
    asked = {"SEMCRAWL_EMBEDDED": ["microformats", "dublin-core"]}
    kinds = readoptions.read_options(asked).embedded
    assert kinds == {Embedded.MICROFORMATS, Embedded.DUBLIN_CORE}
    monkeypatch.setattr(readoptions, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"\[microformats\]"):
        readoptions.read_options(asked)
