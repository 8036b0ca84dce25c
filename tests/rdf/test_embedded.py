"""Data embedded in pages."""

import itertools
import json
import re
import tracemalloc

import pyoxigraph
import pytest

from semcrawl.rdf import Embedded, ReadOptions, read, read_embedded

URL = "http://example.org/dir/page"
NQUADS = pyoxigraph.RdfFormat.N_QUADS
PREFIXES = """@prefix s: <http://schema.org/> . @prefix f: <http://xmlns.com/foaf/0.1/> .
@prefix x: <http://www.w3.org/2001/XMLSchema#> . @prefix d: <http://purl.org/dc/terms/> .
@prefix r: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix a: <http://www.w3.org/ns/rdfa#> .
"""


def canonical(quads: pyoxigraph.QuadParser) -> pyoxigraph.Dataset:
    triples = (pyoxigraph.Quad(q.subject, q.predicate, q.object) for q in quads)
    dataset = pyoxigraph.Dataset(triples)
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def check(body: str, turtle: str) -> None:
    reading = read_embedded(body.encode(), URL, "text/html; charset=utf-8")
    found = canonical(pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS))
    wanted = canonical(
        pyoxigraph.parse(PREFIXES + turtle, pyoxigraph.RdfFormat.TURTLE, base_iri=URL)
    )
    assert sorted(map(str, found)) == sorted(map(str, wanted))
    assert reading.errors == []


@pytest.mark.parametrize(
    ("body", "turtle"),
    [
        # RDFa Lite
        (
            '<body vocab="http://schema.org/" typeof="Person" resource="#me"><b property="name">A'
            '</b><a property="url" href="me">x</a>',
            '<> a:usesVocabulary s: . <#me> a s:Person ; s:name "A" ; s:url <me> .',
        ),
        # content, datatype, language
        (
            '<p lang="de" about="x" property="dc:title" content="Titel">y</p>'
            '<p about="x" property="dc:date" datatype="xsd:date" content="2020-01-02">y</p>',
            '<x> d:title "Titel"@de ; d:date "2020-01-02"^^x:date .',
        ),
        # chaining with rel, and hanging rel
        (
            '<div about="#a" rel="foaf:knows" resource="#b"><b property="foaf:name">B</b></div>'
            '<div about="#a" rel="foaf:knows"><i typeof="foaf:Person"><b property="foaf:name">C</b>'
            "</i></div>",
            '<#a> f:knows <#b>, [ a f:Person ; f:name "C" ] . <#b> f:name "B" .',
        ),
        # words that name no relation
        (
            '<div about="#a"><p rel="nofollow"><b property="foaf:name">A</b><i rev="next" typeof='
            '"foaf:Person"><b property="foaf:name">B</b></i></p></div>',
            '<#a> f:name "A" . [] a f:Person ; f:name "B" .',
        ),
        # rev, several values
        (
            '<a about="#a" rev="foaf:made dc:creator" href="#b">x</a>',
            "<#b> f:made <#a> ; d:creator <#a> .",
        ),
        # lists
        (
            '<div about="#a"><b property="foaf:nick" inlist>1</b><b property="foaf:nick" inlist>2'
            '</b></div><p about="#z" rel="foaf:knows" inlist></p>',
            '<#a> f:nick ("1" "2") . <#z> f:knows () .',
        ),
        # declared prefixes, both ways, safe CURIEs
        (
            '<div prefix="e: http://e/" xmlns:g="http://g/"><p about="[e:x]" property="g:y">1</p>'
            "</div>",
            '<http://e/x> <http://g/y> "1" .',
        ),
        # OpenGraph
        (
            '<head><meta property="og:title" content="T"/></head>',
            '<> <http://ogp.me/ns#title> "T" .',
        ),
        # time
        (
            '<time property="dc:date" datetime="2020-01-02T03:04:05Z">x</time>',
            '<> d:date "2020-01-02T03:04:05Z"^^x:dateTime .',
        ),
        # copied patterns
        (
            '<div typeof="schema:Person"><link property="rdfa:copy" href="#c"><b property='
            '"schema:name">A</b></div><div resource="#c" typeof="rdfa:Pattern"><b property='
            '"schema:email">e</b></div>',
            '[] a s:Person ; s:name "A" ; s:email "e" .',
        ),
        # Microdata
        (
            '<div itemscope itemtype="http://schema.org/Person" itemid="#me"><b itemprop="name">A'
            '</b><a itemprop="url" href="me">x</a><div itemprop="address" itemscope itemtype='
            '"http://schema.org/PostalAddress"><b itemprop="postalCode">1</b></div>'
            '<time itemprop="birthDate" datetime="2000-01-01">x</time></div>',
            '<#me> a s:Person ; s:name "A" ; s:url <me> ; s:birthDate "2000-01-01"^^x:date ;'
            ' s:address [ a s:PostalAddress ; s:postalCode "1" ] .',
        ),
        # Microdata by reference
        (
            '<div itemscope itemtype="http://schema.org/Person" itemref="n"></div>'
            '<b id="n" itemprop="name">A</b>',
            '[] a s:Person ; s:name "A" .',
        ),
        # an item that says that it is a property, and no other item has
        (
            '<div itemprop="author" itemscope itemtype="http://schema.org/Person"><b itemprop='
            '"name">A</b><i itemprop="knows" itemscope><b itemprop="name">B</b></i></div>',
            '[] a s:Person ; s:name "A" ; s:knows [ s:name "B" ] .',
        ),
        # an item about the page; a type beside it; types whose properties share a namespace
        (
            '<div itemscope itemid="" itemtype="http://schema.org/Product/Car Person http://x.org/'
            'T"><b itemprop="name">A</b></div><div itemscope itemtype="http://microformats.org/'
            'profile/hcard"><b itemprop="fn">B</b></div><div itemscope itemtype="http://schema.org"'
            '><b itemprop="name">C</b></div><i itemscope itemtype="http://y.org/#T"><b itemprop='
            '"name">D</b></i>',
            '<> a <http://schema.org/Product/Car>, <http://x.org/T> ; s:name "A" . '
            "[] a <http://microformats.org/profile/hcard> ; "
            '<http://microformats.org/profile/hcard#fn> "B" . '
            '[] a <http://schema.org> ; s:name "C" . [] a <http://y.org/#T> ; '
            '<http://y.org/#name> "D" .',
        ),
        # values in attributes, white space around addresses
        (
            '<div itemscope itemtype="http://schema.org/Offer"><span itemprop="price" content="1">'
            'x</span><img itemprop="image" content="i" data-src="j"><a itemprop="url" href=" u\n"'
            ' content="c">x</a><link itemprop="a"><time itemprop="b" content="2020-01-02">x</time>'
            '<meter itemprop="c" value="4">x</meter><data itemprop="d" value="4 stars">x</data>'
            "</div>",
            '[] a s:Offer ; s:price "1" ; s:image "i" ; s:url <u> ; s:a "" ;'
            ' s:b "2020-01-02" ; s:c 4 ; s:d "4 stars" .',
        ),
        # JSON-LD with schema.org's context
        (
            '<script type="application/ld+json">{"@context": "https://schema.org", "@type":'
            ' "Person", "name": "A", "url": "me", "birthDate": "2000-01-01"}</script>',
            '[] a s:Person ; s:name "A" ; s:url <me> ; s:birthDate "2000-01-01"^^s:Date .',
        ),
    ],
)
def test_what_a_page_says(body: str, turtle: str) -> None:
    """Each kind of embedded data gives the triples of its standard."""
    check(f"<!doctype html><html><title>t</title>{body}</html>", turtle)


@pytest.mark.parametrize(
    ("body", "turtle", "fault"),
    [
        (
            '<p about="a b[1]" property="dc:title">T</p>',
            '<a%20b%5B1%5D> d:title "T"',
            "characters of <a b[1]> that no IRI has are percent-encoded",
        ),
        (
            '<a itemscope itemprop="x"><link itemprop="http://schema.org/url" href="u|v"></a>',
            "[] s:url <u%7Cv>",
            "characters of <u|v> that no IRI has are percent-encoded",
        ),
        (
            '<p lang="en_US" property="dc:title">T</p>',
            '<> d:title "T"@en-us',
            "the language 'en_US' is read as en-us",
        ),
        (
            '<p xml:lang="&quot;" property="dc:title">T</p>',
            '<> d:title "T"',
            'the language "\'" is none; its text has none',
        ),
    ],
)
def test_a_term_that_can_be_mended_is_recorded(body: str, turtle: str, fault: str) -> None:
    page = f"<!doctype html>\n<html>\n{body}</html>"
    reading = read_embedded(page.encode(), URL, "text/html")
    found = canonical(pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS))
    wanted = pyoxigraph.parse(f"{PREFIXES}{turtle} .", pyoxigraph.RdfFormat.TURTLE, base_iri=URL)
    assert found == canonical(wanted)
    assert [(error.message, error.line) for error in reading.errors] == [(fault, 3)]


@pytest.mark.parametrize(
    "bad",
    [
        '<p property="dc:title" datatype="rdf:langString" lang="en">x</p>',
        '<p property="dc:title" datatype="rdf:dirLangString">x</p>',
        '<p about="http://[x/" property="dc:title">x</p>',
        '<p about="http://h:port/" property="dc:title">x</p>',
        '<p prefix="b: http://[" property="b:title">x</p>',
        '<p property="dc:title" datatype="http://[/">x</p>',
        '<a property="dc:source" href="http://[/">x</a>',
        '<p property="dc:title" resource="1:x">x</p>',
    ],
)
def test_a_bad_term_costs_its_triple(bad: str) -> None:
    page = f'<p property="dc:date">1</p>\n{bad}\n<p property="dc:creator">2</p>'
    reading = read_embedded(page.encode(), URL, "text/html")
    assert [error.line for error in reading.errors] == [2]
    objects = [q.object.value for q in pyoxigraph.parse(reading.nquads, format=NQUADS)]
    assert sorted(objects) == ["1", "2"]


def test_the_base_element_counts() -> None:
    check(
        '<html><head><base href="/other/"></head><p about="x" property="dc:title">1</p></html>',
        '</other/x> d:title "1" .',
    )


def test_a_base_that_is_no_address_is_recorded() -> None:
    page = b'<base href="http://[/"><base href="/x/"><p about="x" property="dc:title">1</p>'
    reading = read_embedded(page, URL, "text/html")
    assert b"<http://example.org/dir/x>" in reading.nquads
    assert ["is no address" in error.message for error in reading.errors] == [True]


def test_what_stands_behind_the_end_of_a_page_is_read_with_it() -> None:
    script = (
        '<script type="application/ld+json">{"@id": "a", "http://schema.org/name": "A"}</script>'
    )
    check(
        f"<html><body>A page</body></html>\n{script}<p about='b' property='schema:name'>B</p>",
        '<a> s:name "A" . <b> s:name "B" .',
    )


def test_a_broken_script_costs_no_other_data() -> None:
    body = (
        b'<html><script type="application/ld+json">{"@context": nonsense</script>\n'
        b'<script type="application/ld+json">{"@id": "a", "http://p/": "1"}</script>'
        b'<p property="dc:title">T</p></html>'
    )
    reading = read_embedded(body, URL, "text/html")
    assert reading.counts == {"json-ld": 1, "rdfa": 1}
    assert reading.error_count >= 1
    assert reading.errors[0].line == 1


@pytest.mark.parametrize(
    "script",
    [
        '{"@id": "a", "http://p/": "1",}',
        '{"@id": "a", /* x */ "http://p/": "1"}',
        '{"@id": "a", "http://p/": "1"};',
        '<!-- {"@id": "a", "http://p/": "1"} -->',
        '{"@id": "a", "http://p/": "1", "http://q/": {"http://r/": [',
    ],
)
def test_usual_faults_in_scripts_are_mended_and_recorded(script: str) -> None:
    body = f'<html><script type="application/ld+json">{script}</script></html>'
    reading = read_embedded(body.encode(), URL, "text/html")
    assert b'<http://example.org/dir/a> <http://p/> "1"' in reading.nquads
    assert reading.error_count == 1


def test_a_missing_context_is_reported_and_can_be_brought() -> None:
    body = (
        b'<script type="application/ld+json">{"@context": "http://e.org/c.jsonld", "@id": "a",'
        b' "p": "1"}</script>'
    )
    reading = read_embedded(body, URL, "text/html")
    assert reading.contexts_needed == ("http://e.org/c.jsonld",)
    assert (reading.quads, reading.error_count) == (0, 1)
    contexts = {"http://e.org/c.jsonld": b'{"@context": {"p": "http://p/"}}'}
    again = read_embedded(body, URL, "text/html", contexts=contexts)
    assert (again.quads, again.error_count, again.contexts_needed) == (1, 0, ())


def test_a_page_without_data_gives_nothing() -> None:
    body = b'<html><link rel="stylesheet" href="x"><p>property typeof itemscope</p></html>'
    reading = read_embedded(body, URL, "text/html")
    assert (reading.quads, reading.error_count) == (0, 0)


def test_kinds_can_be_chosen() -> None:
    body = b'<p property="dc:title">T</p><p itemscope><b itemprop="http://p/">1</b></p>'
    options = ReadOptions(embedded=frozenset({Embedded.MICRODATA}))
    assert read_embedded(body, URL, "text/html", options).counts == {"microdata": 1}


def test_blank_nodes_of_a_page_are_stable() -> None:
    body = (
        b'<p typeof="foaf:Person">x</p><script type="application/ld+json">{"http://p/":1}</script>'
    )
    first, again = (read_embedded(body, URL, "text/html").nquads for _ in range(2))
    assert first == again


def test_blank_nodes_of_different_scripts_are_different() -> None:
    """Also when a script had to be read twice, for its errors or its named graphs."""
    scripts = [
        '{"http://p/": {"http://q/": 1}}',
        '{"http://p/": {"http://q/": 2}, "@graph": [{"http://r/": 3}], "@id": "http://g/"}',
        '{"http://p/": {"http://q/": 4},}',
        '{"http://p/": {"http://q/": 5}}',
    ]
    body = "".join(f'<script type="application/ld+json">{s}</script>' for s in scripts)
    reading = read_embedded(body.encode(), URL, "text/html")
    nodes = {line.split()[0] for line in reading.nquads.splitlines() if b"http://q/" in line}
    assert len(nodes) == 4
    subjects = [line.split()[0] for line in reading.nquads.splitlines() if b"http://p/" in line]
    assert len(set(subjects)) == 4


MANY = "".join(f'<b itemprop="p{n}">v</b>' for n in range(400))
TRAPS = {
    "items that share their properties": "".join(
        f'<i itemscope itemid="#{n}" itemtype="http://s/T" itemref="z"></i>' for n in range(400)
    )
    + f'<p id="z">{MANY}</p>',
    "items that share what says nothing": "<i itemscope itemref='z'></i>" * 1_000
    + '<p id="z">'
    + "<b></b>" * 2_000
    + "</p>",
    "words times children": f'<p about="#a" rel="{" ".join(f"x:p{n}" for n in range(400))}">'
    + "".join(f'<b about="#{n}"></b>' for n in range(400))
    + "</p>",
    "copies of a pattern": "".join(
        f'<p about="#{n}"><link property="rdfa:copy" href="#z"></p>' for n in range(400)
    )
    + '<p resource="#z" typeof="rdfa:Pattern">'
    + "".join(f'<b property="x:p{n}">v</b>' for n in range(400))
    + "</p>",
}


@pytest.mark.parametrize("name", TRAPS)
def test_small_pages_that_say_very_much_are_cut(name: str) -> None:
    """Some 30 kB of markup that stand for 160,000 triples, or for as much looking around."""
    body = f'<html><body><b property="dc:title" itemprop="x">T</b>{TRAPS[name]}'.encode()
    reading = read_embedded(body, URL, "text/html", ReadOptions(max_page_triples=5_000))
    assert 1 <= reading.quads <= 10_000
    assert b'terms/title> "T"' in reading.nquads
    [error] = reading.errors
    assert "triples in one page" in error.message or "refer to each other" in error.message


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [
        '<body prefix="p: {long}">' + '<b property="p:a">{n}</b>' * 3000,
        '<body vocab="{long}">' + '<b property="a">{n}</b>' * 3000,
        '<body><i about="{long}">' + '<b property="dc:title">{n}</b>' * 3000,
        '<body><i itemscope itemid="{long}">' + '<b itemprop="http://x.org/a">{n}</b>' * 3000,
        '<body><i about="{long}"><b property="' + "dc:n{n} " * 3000 + '">v</b></i>',
    ],
)
def test_small_pages_with_long_names_take_little_memory(page: str) -> None:
    """Each use of a prefix is short, and its triple is long."""
    number = itertools.count()
    text = re.sub("{n}", lambda _: str(next(number)), page)
    body = text.replace("{long}", "http://x.org/" + "x" * 60_000 + "/").encode()
    tracemalloc.start()
    reading = read_embedded(body, URL, "text/html", ReadOptions(max_page_triples_size=2**22))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 30 < reading.quads < 100
    assert [error.message for error in reading.errors] == [
        "triples of more than 4194304 characters in one page"
    ]
    assert peak < 60e6


LD = '<script type="application/ld+json">{"@id":"#a","http://x.org/p":"1"}</script>'


@pytest.mark.parametrize("depth", [255, 300, 1500])
def test_data_is_read_however_deep_its_page_is_nested(depth):
    """Data inside and behind what is nested."""
    marked = '<b about="#b" property="dc:title">t</b>'
    body = f"<body>{'<div>' * depth}{LD}{marked}{'</div>' * depth}{LD}"
    reading = read_embedded(body.encode(), URL, "text/html")
    assert (reading.counts, reading.errors) == ({"json-ld": 2, "rdfa": 1}, [])


def test_a_page_that_is_nested_too_deep_says_so():
    body = f"<body>{LD}{'<div>' * 5000}{LD}"
    reading = read_embedded(body.encode(), URL, "text/html")
    assert reading.counts == {"json-ld": 1}
    assert "nested too deep" in reading.errors[0].message


@pytest.mark.slow
def test_a_script_of_more_than_ten_megabytes():
    large = LD.replace('"1"', "[" + ", ".join(f'"{n:0>99}"' for n in range(110_000)) + "]")
    reading = read_embedded((large + LD).encode(), URL, "text/html")
    assert (reading.counts, reading.errors) == ({"json-ld": 110_001}, [])


@pytest.mark.slow
@pytest.mark.parametrize(("megabytes", "kept"), [(9, 2), (17, 1)])
def test_a_value_that_is_too_long_costs_its_statement_alone(megabytes, kept):
    """Parsers and stores take lines of 16 MiB at most."""
    long = LD.replace('"1"', f'"{"x" * (megabytes << 20)}"')
    body = f"{long}{LD}<b about='#b' property='dc:title'>t</b>"
    reading = read_embedded(body.encode(), URL, "text/html")
    assert reading.counts == {"json-ld": kept, "rdfa": 1}
    assert reading.error_count == 2 - kept


@pytest.mark.parametrize("sign", ["\0", "\x01", "\x1b", "\x7f", "\ufffe"])
def test_no_character_costs_data(sign):
    body = f"{sign}<body>{sign}<p>{sign * 3}</p>{LD}<b about='#b' property='dc:title'>t</b>"
    reading = read_embedded(body.encode(), URL, "text/html")
    assert (reading.counts, reading.errors) == ({"json-ld": 1, "rdfa": 1}, [])


def test_minified_and_escaped_json_ld_mean_the_same_as_the_indented_document() -> None:
    """White space, backslashes and escapes of JSON change no statement."""
    thing = {
        "@context": "https://schema.org",
        "@id": "http://e.org/a",
        "name": 'Two words, a "quote" and a \\ backslash',
        "url": "http://e.org/home",
        "datePublished": "2020-01-02",
    }
    plain = json.dumps(thing, indent=1)
    forms = [json.dumps(thing, separators=(",", ":")), plain.replace("@", "\\u0040")]
    readings = [
        read_embedded(
            f'<script type="application/ld+json">{text}</script>'.encode(), "http://e.org/p"
        ).nquads
        for text in [plain, *forms]
    ]
    assert b"<http://schema.org/url> <http://e.org/home>" in readings[0]
    assert readings[1:] == readings[:1] * 2


RDF_XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:d="http://purl.org/dc/'
    'terms/"><rdf:Description rdf:about="x"><d:title>{}</d:title></rdf:Description></rdf:RDF>'
)
TURTLE = '<x> <http://purl.org/dc/terms/title> "{}" .'


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        ("text/turtle", TURTLE),
        ("Text/Turtle; charset=UTF-8", TURTLE),
        (" application/x-turtle ", f"<!-- {TURTLE} -->"),
        ("text/n3", f"// <![CDATA[\n{TURTLE}\n// ]]>"),
        ("application/n-triples", TURTLE.replace("<x>", "<http://example.org/dir/x>") + "\n"),
        ("application/n-quads", TURTLE.replace("<x>", "<http://example.org/dir/x>") + "\n"),
        ("application/trig", f"{{{{ {TURTLE} }}}}"),
        ("text/&#116;urtle", TURTLE),
        ("application/rdf&#x2B;xml", RDF_XML),
        ("application/rdf+xml", f'\n<?xml version="1.0" encoding="utf-8"?>\n{RDF_XML}'),
        ("application/ld&plus;json", '{{"@id": "x", "http://purl.org/dc/terms/title": "{}"}}'),
    ],
)
def test_scripts_of_all_rdf_syntaxes_are_read(media_type: str, text: str) -> None:
    body = (
        f"<!doctype html><base href='/dir/'><script type='{media_type}'>{text.format('T')}</script>"
    )
    check(body, '</dir/x> d:title "T" .')
    kind = "json-ld" if "json" in media_type else "rdf"
    assert read_embedded(body.encode(), URL, "text/html").counts == {kind: 1}


@pytest.mark.parametrize("media_type", ["text/html", "application/xhtml+xml"])
def test_scripts_are_read_one_by_one(media_type: str) -> None:
    """Their errors are at the page's lines and cost no other script; their labels are their own."""
    body = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title>\n<script type='
        '"text/turtle">_:a &lt;p> "1" .</script>\n<script type="text/turtle">\n@prefix : nothing'
        '\n</script><script type="text/turtle">_:a &lt;p> "2" .</script></head><body></body></html>'
    )
    if media_type == "text/html":
        body = body.replace("&lt;", "<")
    reading = read_embedded(body.encode(), URL, media_type)
    subjects = {line.split()[0] for line in reading.nquads.splitlines()}
    assert (len(subjects), reading.counts) == (2, {"rdf": 2})
    assert [error.line for error in reading.errors] == [4]


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#'
    '"\n xmlns:CC="http://c.org/" xml:lang="de"><metadata><!-- <rdf:RDF> -->\n<rdf:RDF xmlns:CC='
    '"http://cc.org/"><CC:Work rdf:about=""><CC:title>&eacute;</CC:title></CC:Work></rdf:RDF>'
    "</metadata></svg>"
)
WORK = '<> a <http://cc.org/Work> ; <http://cc.org/title> "é"@de .'


@pytest.mark.parametrize("page", [SVG, f"<!doctype html><p>&nbsp;x{SVG}", f"<html>{SVG}</html>"])
def test_rdf_xml_in_pictures_is_read(page: str) -> None:
    check(page, WORK)
    assert read_embedded(page.encode(), URL, "text/html").counts == {"rdf": 2}


@pytest.mark.parametrize("start", ["", '<?xml version="1.0"?>\n<!-- a picture -->\n'])
def test_pictures_are_read_as_documents(start: str) -> None:
    reading = read((start + SVG).encode(), URL, "image/svg+xml")
    assert reading.detection.evidence == "RDF/XML in SVG"
    found = canonical(pyoxigraph.parse(reading.nquads, NQUADS))
    wanted = pyoxigraph.parse(WORK, pyoxigraph.RdfFormat.TURTLE, base_iri=URL)
    assert (found, reading.errors) == (canonical(wanted), [])


def test_a_fault_in_a_picture_costs_that_picture() -> None:
    bad = SVG.replace("</CC:title>", "</CC:other>")
    reading = read_embedded(f"<p>\n{bad}\n{SVG}".encode(), URL, "text/html")
    assert b"http://cc.org/title" in reading.nquads
    assert reading.errors[0].line == 4


def test_pictures_without_rdf_are_none() -> None:
    assert read(b'<svg xmlns="http://www.w3.org/2000/svg"/>', URL, "image/svg+xml").quads == 0
