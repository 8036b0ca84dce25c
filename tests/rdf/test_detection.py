"""The type of a body, whatever its labels say."""

# ruff: noqa: E501 - one case, one line

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf import detect, read
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://example.org/dir/page"

NT = b'<http://a/> <http://b/> "c" .\n'
NQ = b'<http://a/> <http://b/> "c" <http://g/> .\n'
TTL = b"@prefix e: <http://e/> .\ne:a e:b e:c .\n"
SPARQL_TTL = b"PREFIX e: <http://e/>\ne:a e:b e:c .\n"
TRIG = b"@prefix e: <http://e/> .\ne:g { e:a e:b e:c . }\n"
N3 = b"@prefix e: <http://e/> .\n{ ?x e:b e:c } => { ?x e:d e:e } .\n"
RDFNS = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = b'<rdf:RDF xmlns:rdf="' + RDFNS + b'"><rdf:Description rdf:about="http://a/"/></rdf:RDF>'
XMLDECL = b'<?xml version="1.0" encoding="utf-8"?>\n'
JSON_LD = b'{"@context": {"@vocab": "http://v/"}, "a": 1}'
TRIX = b'<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph/></TriX>'
HTML = b"<!DOCTYPE html><html><head><title>x</title></head><body></body></html>"
XHTML = b'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head></html>'
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>'
RSS2 = b'<rss version="2.0"><channel><title>x</title></channel></rss>'
RSS1 = b'<rdf:RDF xmlns:rdf="' + RDFNS + b'" xmlns="http://purl.org/rss/1.0/"><channel/></rdf:RDF>'
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>'
BOM = b"\xef\xbb\xbf"

F = RdfFormat
R, H, O = Kind.RDF, Kind.HTML, Kind.OTHER  # noqa: E741
PAGE = "http://x.org/page"

CASES: list[tuple[str, bytes, str | None, str, Kind, RdfFormat | None]] = [
    # rightly labelled
    ("nt", NT, "application/n-triples", PAGE, R, F.N_TRIPLES),
    ("nq", NQ, "application/n-quads", PAGE, R, F.N_QUADS),
    ("ttl", TTL, "text/turtle; charset=utf-8", PAGE, R, F.TURTLE),
    ("trig", TRIG, "application/trig", PAGE, R, F.TRIG),
    ("n3", N3, "text/n3", PAGE, R, F.N3),
    ("rdfxml", XML, "application/rdf+xml", PAGE, R, F.RDF_XML),
    ("jsonld", JSON_LD, "application/ld+json", PAGE, R, F.JSON_LD),
    ("trix", TRIX, "application/trix", PAGE, R, F.TRIX),
    ("html", HTML, "text/html", PAGE, H, None),
    ("xhtml", XMLDECL + XHTML, "application/xhtml+xml", PAGE, H, None),
    # no header at all, no extension
    ("nt bare", NT, None, PAGE, R, F.N_TRIPLES),
    ("nq bare", NQ, None, PAGE, R, F.N_QUADS),
    ("ttl bare", TTL, None, PAGE, R, F.TURTLE),
    ("ttl sparql prefix", SPARQL_TTL, None, PAGE, R, F.TURTLE),
    ("ttl base", b"@base <http://e/> . <a> <b> <c> .", None, PAGE, R, F.TURTLE),
    ("ttl pnames", b"e:a e:b e:c ; e:d [ e:f 1 ] .", None, PAGE, R, F.TURTLE),
    ("ttl bnode first", b'[] a <http://x/y> ; <http://p/> "q" .', None, PAGE, R, F.TURTLE),
    ("trig bare", TRIG, None, PAGE, R, F.TRIG),
    ("trig GRAPH", b"GRAPH <http://g/> { <http://a/> a <http://b/> . }", None, PAGE, R, F.TRIG),
    ("trig default", b"{ <http://a/> <http://b/> <http://c/> . }", None, PAGE, R, F.TRIG),
    ("n3 bare", N3, None, PAGE, R, F.N3),
    ("rdfxml bare", XML, None, PAGE, R, F.RDF_XML),
    ("jsonld bare", JSON_LD, None, PAGE, R, F.JSON_LD),
    ("jsonld list", b"[" + JSON_LD + b"]", None, PAGE, R, F.JSON_LD),
    ("trix bare", XMLDECL + TRIX, None, PAGE, R, F.TRIX),
    ("html bare", HTML, None, PAGE, H, None),
    # generic labels
    ("nt plain", NT, "text/plain", PAGE, R, F.N_TRIPLES),
    ("ttl plain", TTL, "text/plain", PAGE, R, F.TURTLE),
    ("ttl octets", TTL, "application/octet-stream", PAGE, R, F.TURTLE),
    ("rdfxml as xml", XMLDECL + XML, "application/xml", PAGE, R, F.RDF_XML),
    ("rdfxml as text/xml", XML, "text/xml", PAGE, R, F.RDF_XML),
    ("jsonld as json", JSON_LD, "application/json", PAGE, R, F.JSON_LD),
    ("jsonld activity", JSON_LD, "application/activity+json", PAGE, R, F.JSON_LD),
    ("rss 1.0", RSS1, "application/rss+xml", PAGE, R, F.RDF_XML),
    # lying labels
    ("html as rdf", HTML, "application/rdf+xml", PAGE + ".rdf", H, None),
    ("html as ttl", HTML, "text/turtle", PAGE + ".ttl", H, None),
    ("html as json-ld", HTML, "application/ld+json", PAGE + ".jsonld", H, None),
    ("ttl as html", TTL, "text/html", PAGE + ".html", R, F.TURTLE),
    ("ttl as rdfxml", TTL, "application/rdf+xml", PAGE + ".owl", R, F.TURTLE),
    ("rdfxml as ttl", XML, "text/turtle", PAGE + ".ttl", R, F.RDF_XML),
    ("ttl about html", b'@prefix e: <http://e/> . [] e:b "<html><body>" .', None, PAGE, R, F.TURTLE),
    ("rdfxml as html", XMLDECL + XML, "text/html", PAGE, R, F.RDF_XML),
    ("nq as ttl", NQ, "text/turtle", PAGE + ".ttl", R, F.N_QUADS),
    ("nq as csv", NQ, "text/csv", PAGE + ".csv", R, F.N_QUADS),
    ("ttl as nt", TTL, "application/n-triples", PAGE + ".nt", R, F.TURTLE),
    ("trig as ttl", TRIG, "text/turtle", PAGE + ".ttl", R, F.TRIG),
    ("xml without rdf", ATOM, "application/rdf+xml", PAGE + ".rdf", O, None),
    ("json without ld", b'{"a": 1}', "application/json", PAGE + ".json", O, None),
    # not RDF
    ("svg", SVG, "image/svg+xml", PAGE + ".svg", O, None),
    ("rss 2.0", XMLDECL + RSS2, "application/xml", PAGE + ".xml", O, None),
    ("atom", ATOM, "application/atom+xml", PAGE, O, None),
    ("sitemap", b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>', None, PAGE, O, None),
    ("prose", b"Once upon a time: there was a b. And c.\n", "text/plain", PAGE + ".txt", O, None),
    ("prose bare", b"Dear all, this is it; see you.\n", None, PAGE, O, None),
    ("csv", b"a,b,c\n1,2,3\n", "text/csv", PAGE + ".csv", O, None),
    ("css", b"a:hover { color: red; }\nb > c { d: e; }\n", "text/css", PAGE + ".css", O, None),
    ("javascript", b"var a = {b: 1};\nfunction c() { return a; }\n", "text/javascript", PAGE, O, None),
    ("yaml", b"title: x\nitems:\n  - a: b\n", "text/plain", PAGE + ".yml", O, None),
    ("markdown", b"# Title\n\nSome <b>text</b>.\n", "text/plain", PAGE + ".md", O, None),
    ("robots", b"User-agent: *\nDisallow: /x\n", "text/plain", "http://x.org/robots.txt", O, None),
    ("vcard", b"BEGIN:VCARD\nVERSION:3.0\nFN:A B\nEND:VCARD\n", "text/vcard", PAGE, O, None),
    ("sparql", b"PREFIX e: <http://e/>\nSELECT ?a WHERE { ?a e:b e:c }", None, PAGE + ".rq", O, None),
    ("png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png", PAGE + ".png", O, None),
    ("pdf", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n", "application/pdf", PAGE + ".pdf", O, None),
    ("noise as ttl", bytes(range(256)) * 8, "text/turtle", PAGE + ".ttl", O, None),
    ("json geo", b'{"type": "FeatureCollection", "features": []}', None, PAGE, O, None),
    ("json jackson", b'{"@id": 1, "@type": "x.y.Z", "a": 2}', "application/json", PAGE, O, None),
    # byte-order marks and encodings
    ("bom nt", BOM + NT, None, PAGE + ".nt", R, F.N_TRIPLES),
    ("bom nq", BOM + NQ, "application/n-quads", PAGE, R, F.N_QUADS),
    ("bom xml", BOM + XMLDECL + XML, None, PAGE, R, F.RDF_XML),
    ("bom json", BOM + JSON_LD, "application/json", PAGE, R, F.JSON_LD),
    ("utf-16 ttl", TTL.decode().encode("utf-16"), None, PAGE, R, F.TURTLE),
    ("utf-16-le nt", NT.decode().encode("utf-16-le"), None, PAGE, R, F.N_TRIPLES),
    ("utf-16-be xml", XML.decode().encode("utf-16-be"), None, PAGE, R, F.RDF_XML),
    ("utf-32 json", JSON_LD.decode().encode("utf-32"), None, PAGE, R, F.JSON_LD),
    ("utf-16 html", HTML.decode().encode("utf-16"), "text/html", PAGE, H, None),
    ("odd charset", TTL + b'e:x e:y "\xe9" .\n', "text/turtle; charset=punycode", PAGE, R, F.TURTLE),
    ("latin-1 ttl", TTL + b'e:x e:y "\xe9" .\n', "text/turtle; charset=utf-8", PAGE, R, F.TURTLE),
    ("latin-1 xml", XML.replace(b"http://a/", b"http://a/\xe9"), None, PAGE, R, F.RDF_XML),
    # what may stand first
    ("comments ttl", b"# a comment\n" * 200 + TTL, "text/plain", PAGE, R, F.TURTLE),
    ("comments nt", b"\n\n# comment <x>\n" + NT, None, PAGE, R, F.N_TRIPLES),
    ("comments xml", XMLDECL + b"<!-- a\n comment -->\n" + XML, None, PAGE, R, F.RDF_XML),
    ("pi xml", XMLDECL + b"<?xml-stylesheet href='x'?>" + XML, "text/xml", PAGE, R, F.RDF_XML),
    ("blank lines html", b"\n\n  " + HTML, None, PAGE, H, None),
    ("comment html", b"<!-- x --><html><body>", None, PAGE, H, None),
    (
        "doctype rdfxml",
        b'<!DOCTYPE rdf:RDF [\n<!ENTITY rdf "' + RDFNS + b'">\n]>\n<rdf:RDF xmlns:rdf="&rdf;"/>',
        "application/xml", PAGE, R, F.RDF_XML,
    ),
    # other roots and prefixes
    ("rdf default ns", b'<RDF xmlns="' + RDFNS + b'"/>', None, PAGE, R, F.RDF_XML),
    ("rdf other prefix", b'<r:RDF xmlns:r="' + RDFNS + b'"/>', None, PAGE, R, F.RDF_XML),
    (
        "node element root",
        b'<f:P xmlns:f="http://f/" xmlns:rdf="' + RDFNS + b'" rdf:about="http://a/"/>',
        "application/rdf+xml", PAGE, R, F.RDF_XML,
    ),
    ("html fragment", b"<p>Hello <b>you</b></p>", "text/html", PAGE, H, None),
    ("html table", b"<table><tr><td><a href='x.ttl'>", "text/html", PAGE + ".html", H, None),
    ("html number", b"<head><title>2004 report</title></head>", "text/html", PAGE, H, None),
    ("html with a colon", b"<p>Price: 5 <a href=x>", "text/html", PAGE, H, None),
    ("turtle iris", b"<a> <b>\n  <c> ;\n <d> <e> .", "text/html", PAGE, R, F.TURTLE),
    ("html number first", b"2004 report <a href=x>", "text/html", PAGE, H, None),
    ("html quotation first", b'"So?" <a href=x>', "text/html", PAGE, H, None),
    ("json as html", b'{"a": "<a href=x>"}', "text/html", PAGE, O, None),
    ("html list", b"<dl><dt><a href='x.ttl'>x</a></dl>", "text/html", PAGE, H, None),
    ("html tags of its own", b"<my-app><a href=x></my-app>", None, PAGE + ".html", H, None),
    ("xml as html", XMLDECL + b"<dl><dt/></dl>", "text/html", PAGE, O, None),
    ("xml with a namespace as html", b"<dl xmlns='urn:x'><dt/></dl>", "text/html", PAGE, O, None),
    ("xml list", b"<dl><dt/></dl>", "application/xml", PAGE, O, None),
    ("html soup", b"Warning: x in y.php\n<html><body>", "text/html", PAGE, H, None),
    ("xhtml as xml", XMLDECL + XHTML, "application/xml", PAGE + ".xml", H, None),
    ("expanded json-ld", b'[{"@id": "http://a/", "http://b/": [{"@value": 1}]}]', None, PAGE, R, F.JSON_LD),
    ("empty ttl", b"", "text/turtle", PAGE, R, F.TURTLE),
    ("empty", b"", None, PAGE, O, None),
    ("relative iris ttl", b"<#a> <#b> <#c> .", "text/turtle", PAGE, R, F.TURTLE),
    ("ttl by extension", b"<a> <b> <c> .", "text/plain", PAGE + ".ttl", R, F.TURTLE),
    ("n3 by label", TTL, "text/n3", PAGE, R, F.N3),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_a_body_really_is(
    case: tuple[str, bytes, str | None, str, Kind, RdfFormat | None],
) -> None:
    """Content decides over header, and header over extension."""
    _, body, content_type, url, kind, syntax = case
    found = detect(body, content_type, url)
    assert (found.kind, found.format) == (kind, syntax), found
    assert 0 < found.confidence <= 1
    assert found.evidence


@pytest.mark.parametrize(
    "case", [case for case in CASES if case[4] is not Kind.RDF], ids=lambda case: case[0]
)
def test_what_is_no_rdf_yields_no_quad(
    case: tuple[str, bytes, str | None, str, Kind, RdfFormat | None],
) -> None:
    labels = [case[2], "text/turtle", "application/rdf+xml"]
    if not case[0].startswith("json"):  # JSON with that label is JSON-LD
        labels.append("application/ld+json")
    for content_type in labels:
        reading = read(case[1], case[3], content_type)
        assert (reading.quads, reading.nquads) == (0, b""), content_type


@pytest.mark.parametrize(
    "case", [case for case in CASES if case[4] is Kind.RDF and case[1]], ids=lambda case: case[0]
)
def test_the_first_kilobyte_is_enough(
    case: tuple[str, bytes, str | None, str, Kind, RdfFormat | None],
) -> None:
    _, body, content_type, url, kind, syntax = case
    padded = body + b"\n" * 10_000 if b"\0" not in body else body
    found = detect(padded[:4096], content_type, url)
    assert (found.kind, found.format) == (kind, syntax)


@given(
    st.binary(max_size=300),
    st.sampled_from([None, "text/html", "text/turtle", "application/ld+json", "x;;=", "text/xml"]),
    st.text(max_size=30),
)
def test_never_raises(head: bytes, content_type: str | None, url: str) -> None:
    assert detect(head, content_type, url).confidence > 0


@pytest.mark.parametrize("sign", [b"\0", b"\1", b"\x1f"])
@pytest.mark.parametrize("count", [1, 3, 8, 20])
@pytest.mark.parametrize("label", ["text/html", None])
def test_a_page_with_control_bytes_is_a_page(sign, count, label):
    """Few bytes, wherever they stand, do not make something else of it."""
    page = b"<!DOCTYPE html><html><p>short</p>" + b"<a href=x>x</a>"
    for body in (sign * count + page, page[:20] + sign * count + page[20:], page + sign * count):
        assert detect(body, label, URL).kind is Kind.HTML


@pytest.mark.parametrize("sign", [b"\0", b"\1"])
def test_a_labelled_document_with_control_bytes_is_what_it_says(sign):
    body = b"<http://a.org/a> <http://a.org/b> <http://a.org/c> .\n" + sign * 3
    assert detect(sign + body, "text/turtle", URL).kind is Kind.RDF


@pytest.mark.parametrize("label", ["text/html", "text/turtle", None])
def test_binary_is_binary_whatever_it_is_called(label):
    image = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8
    assert detect(image, label, URL).kind is Kind.OTHER


@pytest.mark.parametrize("label", ["text/turtle", "application/trig", "text/plain", None])
@pytest.mark.parametrize(
    ("body", "quads"),
    [
        ("<urn:g> { <urn:a> <urn:b> <urn:c> . }", 1),
        ("\n<urn:g>{<urn:a> <urn:b> <urn:c>}", 1),
        ("<urn:g> {\n<urn:a> <urn:b> <urn:c> .\n}\n<urn:h> { <urn:a> <urn:b> 'x' }\n", 2),
        ("@prefix x: <urn:x> .\n<urn:g> { x:a x:b x:c . } <urn:h> { x:a x:b 'x' }", 2),
        ("PREFIX x: <urn:x>\nx:g { x:a x:b x:c . } x:h { x:a x:b 'x' }", 2),
    ],
)
def test_trig_that_begins_with_the_name_of_a_graph(body, quads, label):
    found = detect(body.encode(), label, URL)
    assert (found.kind, found.format) == (Kind.RDF, RdfFormat.TRIG)
    reading = read(body.encode(), URL, label)
    assert (reading.quads, reading.errors) == (quads, [])


@pytest.mark.parametrize(
    "body",
    [
        "@prefix log: <urn:l> . { <a> <b> <c> } log:implies { <d> <e> <f> } .",
        "@prefix : <urn:x#> . :a :says { :d :e :f } .\n{ :a :b :c } :p :x .",
    ],
)
def test_formulas_are_no_graphs(body):
    assert detect(body.encode(), None, URL).format is RdfFormat.N3


@pytest.mark.parametrize("body", ["<p> {{ title }}</p>", "<style> {}</style>", "<ul> { <li> x"])
def test_templates_are_no_trig(body):
    assert detect(body.encode(), "text/html", URL).kind is Kind.HTML


@pytest.mark.parametrize(
    "body",
    [
        b"</p>\n" * 99,
        b"</div> </body> </html> .",
        b"</td> a </tr> ; more\n",
        b"<br><br><br>.",
        b"<b> <i> <u>.</u></i></b>",
        b"<![endif]--> </p> </p> .",
        b"# Title\n</p> </p> </p> .",
        b"Note: see: here: <b>x</b>.",
    ],
)
def test_tags_and_prose_that_could_be_turtle_are_a_page_where_the_labels_say_so(body):
    assert detect(body, "text/html", URL).kind is Kind.HTML
    assert (read(body, URL, "text/html").quads, detect(body, "text/turtle", URL).kind) == (0, R)
    assert detect(body, "text/html", f"{URL}.ttl").kind is R


@pytest.mark.parametrize(
    "body",
    [
        b"</a> <http://p/> </b> .",
        b'<#me> a <#Person> ; <#name> "Me" .',
        b"e:a e:b e:c .\nprefix e: <#>\n",
    ],
)
def test_turtle_that_no_page_begins_with_is_turtle_whatever_it_is_called(body):
    assert detect(body, "text/html", URL).kind is R
