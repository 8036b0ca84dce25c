"""RDFa beside pyRdfa, the processor that extruct carries."""

# ruff: noqa: E501 - one case, one line

import json
import warnings

import pyoxigraph
import pytest

from semcrawl.rdf import Embedded, ReadOptions, read_embedded

URL = "http://example.org/page"

CASES = [
    '<p about="x" property="dc:title">T</p>',
    '<p about="[_:a]" property="dc:title">T</p><p about="_:a" rel="foaf:knows" resource="_:b">x</p>',
    '<div about="#a" typeof="foaf:Person"><a rel="foaf:homepage" href="h">x</a></div>',
    '<div typeof="foaf:Person" about="#a"><span rel="foaf:knows"><span typeof="foaf:Person"><b property="foaf:name">B</b></span></span></div>',
    '<div rel="foaf:knows" about="#a"><a href="b1">x</a><a href="b2">x</a></div>',
    '<img src="i.png" about="#a" rel="foaf:img" property="dc:title" content="X">',
    '<img src="i.png" property="foaf:depiction"><img src="j.png" rel="license" href="l">',
    '<p property="dc:title" datatype="rdf:XMLLiteral">a<b>c</b></p>',
    '<p property="dc:title" datatype="">a<b>c</b></p>',
    '<p property="dc:date" datatype="xsd:date" content="2020-01-01">a</p>',
    '<a rel="license" href="http://cc/by">x</a><a rel="nofollow" href="z">x</a><a rel="dc:nofollow next" href="z">x</a>',
    '<p vocab="http://v/"><b property="a">1</b><i vocab=""><b property="b">2</b></i></p>',
    '<p prefix="x: http://x/ y: http://y/"><b property="x:a y:b">1</b></p>',
    '<p typeof="x"></p><p typeof="foaf:Person" resource="#r"><b property="foaf:name">n</b></p>',
    '<div about="#a"><p property="foaf:knows" resource="#b">x</p><p property="foaf:knows" href="#c">x</p></div>',
    '<div about="#a"><p property="foaf:knows" typeof="foaf:Person"><b property="foaf:name">N</b></p></div>',
    '<div about="#a" rev="dc:creator" resource="#b"></div>',
    '<div rel="dc:source"><div property="dc:title">t</div></div>',
    '<a href="x"><b property="dc:title">t</b></a>',
    '<a href="x" property="dc:title">t</a><a href="x" property="dc:title" content="c">t</a><a href="x" rel="dc:source" property="dc:title">t</a>',
    '<ol about="#l" rel="foaf:knows" inlist><li><a href="a">a</a></li><li><a href="b">b</a></li></ol>',
    '<div about="#a"><b property="dc:title" inlist>1</b><i rel="dc:title" inlist href="x">2</i></div>',
    '<p property="http://p/x">1</p><p property=":x">1</p><p property="x">1</p><p property="unknown:x">1</p>',
    '<p about="" typeof="foaf:Document" property="dc:title">t</p>',
    '<div resource="#a"><p property="dc:title">t</p></div><div src="#a"><p property="dc:title">t</p></div>',
    '<span about="#a" typeof="" property="dc:title">t</span>',
    '<div about="#a" typeof="foaf:Person" rel="foaf:knows" resource="#b"><b property="foaf:name">c</b></div>',
    '<div typeof="foaf:Person" rel="foaf:knows" resource="#b"><b property="foaf:name">c</b></div>',
    '<div typeof="foaf:Person" rel="foaf:knows"><b property="foaf:name">c</b></div>',
    '<div about="#a" property="dc:title" rel="foaf:knows"><b property="foaf:name">c</b></div>',
    '<head><meta name="x" content="y"><meta property="og:title" content="T"><meta about="#q" property="og:title" content="T"></head>',
    '<div about="#a" property="dc:title" content="x" resource="#b" typeof="foaf:Person"><i property="dc:date">1</i></div>',
    '<div about="#a" property="dc:title" datatype="xsd:string" resource="#b"><i property="dc:date">1</i></div>',
    '<div about="#a"><div rel="foaf:knows"><div rel="foaf:knows"><div about="#c"></div></div></div></div>',
    '<p about="" rel="dc:title" inlist></p>',
    '<ol rel="dc:source" inlist><li><a href="a">a</a></li><li><a href="b">b</a></li></ol>',
]


def triples(data: str | bytes, syntax: pyoxigraph.RdfFormat) -> set[str]:
    dataset = pyoxigraph.Dataset(
        pyoxigraph.Quad(q.subject, q.predicate, q.object)
        for q in pyoxigraph.parse(data, syntax, base_iri=URL)
    )
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.RDFC_1_0)
    return set(map(str, dataset))


@pytest.mark.parametrize("markup", CASES)
def test_the_same_triples(markup: str) -> None:
    """Chaining, hanging relations, lists, prefixes, datatypes: as another processor has them."""
    rdfa = pytest.importorskip("extruct.rdfa", reason="needs semcrawl[bench]")
    page = f"<!DOCTYPE html><html>{markup}</html>"
    if "<head" not in markup:
        page = f"<!DOCTYPE html><html><head><title>x</title></head><body>{markup}</body></html>"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = json.dumps(rdfa.RDFaExtractor().extract(page, base_url=URL))
    options = ReadOptions(embedded=frozenset({Embedded.RDFA}))
    ours = read_embedded(page.encode(), URL, "text/html", options).nquads
    assert triples(ours, pyoxigraph.RdfFormat.N_QUADS) == triples(
        theirs, pyoxigraph.RdfFormat.JSON_LD
    )


STATED = {
    '<p about="" property="dc:title" inlist>a</p><p property="dc:title" inlist>b</p>': (
        '<> <http://purl.org/dc/terms/title> ("a" "b") .'
    ),
    '<p about="[]" typeof="foaf:Person" property="foaf:name">T</p>': (
        '[] a <http://xmlns.com/foaf/0.1/Person> . <> <http://xmlns.com/foaf/0.1/name> "T" .'
    ),
    '<base href="/b/"><p prefix="p: rel#" property="p:q">T</p>': '<b/> <rel#q> "T" .',
}


@pytest.mark.parametrize(("markup", "turtle"), STATED.items())
def test_what_pyrdfa_gets_wrong(markup: str, turtle: str) -> None:
    """Lists of the page itself, subjects that name nothing, prefixes with relative IRIs."""
    options = ReadOptions(embedded=frozenset({Embedded.RDFA}))
    ours = read_embedded(markup.encode(), URL, "text/html", options).nquads
    wanted = triples(turtle, pyoxigraph.RdfFormat.TURTLE)
    assert triples(ours, pyoxigraph.RdfFormat.N_QUADS) == wanted
