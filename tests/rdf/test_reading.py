"""Reading documents of every syntax into quads."""

import tracemalloc
from io import BytesIO

import pyoxigraph
import pytest

from semcrawl.rdf import ReadOptions, read, read_stream
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://example.org/data/doc"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XML = f'<rdf:RDF xmlns:rdf="{RDF}" xmlns:e="http://e/">'

SAME = {
    RdfFormat.TURTLE: '@prefix e: <http://e/> . <a> e:p "v" ; e:q [ e:r <b> ] .',
    RdfFormat.N_TRIPLES: '<http://example.org/data/a> <http://e/p> "v" .\n'
    "<http://example.org/data/a> <http://e/q> _:x .\n"
    "_:x <http://e/r> <http://example.org/data/b> .\n",
    RdfFormat.RDF_XML: f'{XML}<rdf:Description rdf:about="a"><e:p>v</e:p><e:q rdf:parseType='
    '"Resource"><e:r rdf:resource="b"/></e:q></rdf:Description></rdf:RDF>',
    RdfFormat.JSON_LD: '{"@context": {"@vocab": "http://e/"}, "@id": "a", "p": "v",'
    ' "q": {"r": {"@id": "b"}}}',
}


def graph(nquads: bytes) -> pyoxigraph.Dataset:
    dataset = pyoxigraph.Dataset(pyoxigraph.parse(nquads, pyoxigraph.RdfFormat.N_QUADS))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return dataset


@pytest.mark.parametrize("syntax", SAME, ids=lambda s: s.value)
def test_every_syntax_gives_the_same_quads_in_the_documents_graph(syntax: RdfFormat) -> None:
    """Base and graph name are the final URL in every syntax."""
    reading = read(SAME[syntax].encode(), URL)
    assert reading.detection.format is syntax
    assert (reading.quads, reading.errors) == (3, [])
    assert graph(reading.nquads) == graph(read(SAME[RdfFormat.TURTLE].encode(), URL).nquads)
    assert all(line.endswith(f" <{URL}> .".encode()) for line in reading.nquads.splitlines())


@pytest.mark.parametrize("syntax", SAME, ids=lambda s: s.value)
def test_blank_nodes_are_stable_and_of_one_document(syntax: RdfFormat) -> None:
    body = SAME[syntax].encode()
    first, again, other = read(body, URL), read(body, URL), read(body, URL + "2")
    labels = {t for t in first.nquads.split() if t.startswith(b"_:")}
    assert first.nquads == again.nquads
    assert labels
    assert labels.isdisjoint(other.nquads.split())


def test_input_graph_names_are_kept() -> None:
    body = b'<http://a/> <http://b/> "x" .\n<http://a/> <http://b/> _:y <http://g/> .\n'
    lines = read(body, URL, "application/n-quads").nquads.splitlines()
    assert lines[0] == f'<http://a/> <http://b/> "x" <{URL}> .'.encode()
    assert lines[1].endswith(b" <http://g/> .")


def test_literals_that_look_like_terms_are_untouched() -> None:
    body = b'<http://a/> <http://b/> " _:x", "_:y", "z .", "<http://c/> .", "_:q"@en .'
    reading = read(body, URL, "text/turtle")
    values = {q.object.value for q in graph(reading.nquads)}
    assert values == {" _:x", "_:y", "z .", "<http://c/> .", "_:q"}


def test_good_lines_around_a_bad_one_are_kept() -> None:
    good = b"<http://a/%d> <http://b/> <http://c/> .\n"
    body = good % 1 + b'<http://a/> <http://b/> "open\n' + good % 2 + b"nonsense\n" + good % 3
    reading = read(body, URL, "application/n-triples")
    assert reading.quads == 3
    assert [error.line for error in reading.errors] == [2, 4]


def test_an_unclosed_line_does_not_cost_the_next() -> None:
    body = b"<http://a/> <http://b/> <http://c/>\n<http://a/> <http://b/> <http://d/> .\n"
    reading = read(body, URL, "application/n-triples")
    assert reading.nquads == f"<http://a/> <http://b/> <http://d/> <{URL}> .\n".encode()
    assert reading.error_count == 1


def test_rdf_xml_with_a_bad_node_makes_no_statement_up() -> None:
    body = (
        f'{XML}<rdf:Description rdf:about="a"><e:p>1</e:p></rdf:Description>\n'
        '<rdf:Description rdf:about="b"><e:p>2</e:p><e:p>&x;</e:p><e:p>3</e:p></rdf:Description>\n'
        '<rdf:Description rdf:about="c"><e:p>4</e:p></rdf:Description></rdf:RDF>'
    ).encode()
    reading = read(body, URL)
    values = {q.object.value for q in graph(reading.nquads)}
    assert values == {"1", "2", "3", "4"}
    assert [error.line for error in reading.errors] == [2]


def test_rdf_xml_that_ends_too_early_is_an_error() -> None:
    body = f'{XML}<rdf:Description rdf:about="a"><e:p>1</e:p><e:p>2'.encode()
    reading = read(body, URL)
    assert reading.quads == 1
    assert reading.error_count == 1


def test_html_gives_no_quad_whatever_its_label() -> None:
    body = b"<!doctype html><html><body><p>x</p></body></html>"
    reading = read(body, URL + ".rdf", "application/rdf+xml")
    assert (reading.detection.kind, reading.quads) == (Kind.HTML, 0)


def test_a_byte_order_mark_is_no_error() -> None:
    reading = read(b"\xef\xbb\xbf<http://a/> <http://b/> <http://c/> .\n", URL + ".nq")
    assert (reading.quads, reading.error_count) == (1, 0)


def test_growing_entities_are_refused() -> None:
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 12))
    body = (
        f'<!DOCTYPE rdf:RDF [<!ENTITY e0 "ten bytes!">{entities}]>{XML}'
        '<rdf:Description rdf:about="a"><e:p>&e11;</e:p></rdf:Description></rdf:RDF>'
    ).encode()
    reading = read(body, URL)
    assert reading.quads == 0
    assert "grows too large" in reading.errors[0].message


def test_links_come_once_without_fragments() -> None:
    body = b"<#me> <http://xmlns.com/foaf/0.1/knows> <http://b.org/x#me>, <http://b.org/x#you> ."
    reading = read(body, URL, "text/turtle")
    assert [link.iri for link in reading.links] == ["http://b.org/x"]
    assert reading.links[0].predicate == "http://xmlns.com/foaf/0.1/knows"


def test_a_line_in_another_encoding_is_read_too() -> None:
    body = b'<http://a/> <http://b/> "\xc3\xa9" .\n' * 3000 + b'<http://a/> <http://b/> "\xe8" .\n'
    reading = read(body, URL, "application/n-triples")
    [error] = reading.errors
    assert (reading.quads, error.line) == (3001, 3001)
    assert '"è"'.encode() in reading.nquads


def test_blank_nodes_in_triple_terms_and_literals() -> None:
    body = b'_:a <http://b/> <<( _:a <http://b/> _:c )>> .\n_:a <http://b/> " _:a ." .\n'
    reading = read(body, URL, "application/n-triples")
    first, second = reading.nquads.splitlines()
    name = second.split()[0]
    assert first.startswith(name + b" <http://b/> <<( " + name + b" <http://b/> _:")
    assert second == name + f' <http://b/> " _:a ." <{URL}> .'.encode()


def test_blank_nodes_of_a_big_document_are_stable() -> None:
    body = b"".join(b"<a%d> <http://b/> [ <http://c/> [] ] .\n" % i for i in range(8_000))
    assert read(body, URL, "text/turtle").nquads == read(body, URL, "text/turtle").nquads


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("<http://a/> <http://b/> <http://c/> .", False),
        ("<http://a/> <http://b/> <http://c/> <http://g/> .", True),
        ("_:a <http://b/> _:c .", False),
        ("_:a <http://b/> _:c _:g .", True),
        ('<http://a/> <http://b/> "x" .', False),
        ('<http://a/> <http://b/> "x y z <http://g/> ." .', False),
        ('<http://a/> <http://b/> "x y z <http://g/>"@en .', False),
        ('<http://a/> <http://b/> "x y <z"^^<http://d/> .', False),
        ('<http://a/> <http://b/> "x y <z"^^<http://d/> <http://g/> .', True),
        ('<http://a/> <http://b/> "x y"@en _:g .', True),
        ("<http://a/> <http://b/> <<( <http://a/> <http://b/> _:c )>> .", False),
        ("<http://a/> <http://b/> <<( <http://a/> <http://b/> _:c )>> <http://g/> .", True),
    ],
)
def test_lines_without_a_graph_get_the_documents(line: str, named: bool) -> None:
    body = f"<http://s/> <http://b/> <http://c/> <http://g/> .\n{line}\n".encode()
    found = read(body, URL, "application/n-quads").nquads.splitlines()[1]
    assert (f" <{URL}> .".encode() in found) is not named


def test_what_is_beyond_rdf_in_n3_is_an_error_with_its_line() -> None:
    body = b"@prefix : <#> .\n:a :b :c .\n\n{ ?x :b :c } => { ?x :d :e } .\n:f :g :h .\n"
    reading = read(body, URL, "text/n3")
    assert {error.line for error in reading.errors} == {4}
    assert b"#h>" in reading.nquads


@pytest.mark.slow
@pytest.mark.parametrize("form", ['{"@context": {"@vocab": "http://v/"}, "@graph": [%s]}', "[%s]"])
def test_a_fault_in_a_large_json_ld_document_costs_its_node_at_most(form: str) -> None:
    item = '{"@id": "a%d", "http://p/": [{"http://q/": "],}[ %d"}, {"@id": "_:b%d"}]}'
    text = form % ",\n".join(item % (i, i, i % 7) for i in range(2000))
    whole = read(text.encode(), URL, "application/ld+json")
    assert (whole.quads, whole.errors) == (6000, [])
    for fault in ('"],}[ 1500', '],}[ 1500"', "nonsense"):
        broken = text.replace('"],}[ 1500"', fault, 1)
        reading = read(broken.encode(), URL, "application/ld+json")
        assert 5996 <= reading.quads < 6000
        assert [error.line for error in reading.errors][:1] == [1501]


@pytest.mark.slow
def test_large_json_ld_is_read_in_bounded_memory() -> None:
    """It takes some ten times the size of the text."""
    item = '{"@id": "a%d", "http://p/": [{"http://q/": "some words %d"}, {"@id": "_:b%d"}]}'
    text = ("[" + ",\n".join(item % (i, i, i % 7) for i in range(60_000)) + "]").encode()
    tracemalloc.start()
    try:
        reading = read(text, URL, "application/ld+json", ReadOptions(spool_above=1 << 20))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    reading.spool.unlink()
    assert (reading.quads, reading.errors) == (180_000, [])
    assert peak < 15 * len(text)


REST = "".join(f'e:s{n} <p> "value {n}" .\n' for n in range(10))


@pytest.mark.parametrize(
    "bad",
    [
        '<a> <b> "x .\n',
        '<a> <b> "x\ny" .\n',
        '<a> <b> "x ;\n  <c> "y" .\n',
        '<a> <b> """x" .\n',
        "<a> <b> 'it's' .\n",
        '<a> <b> "x .\n\n@prefix f: <http://f/> .\n# more\nf:s <p> "y .\n',
    ],
)
def test_a_string_that_is_not_closed_costs_its_statement_only(bad: str) -> None:
    text = f'@prefix e: <http://e/> .\n@base <http://base/> .\n<z> <p> "before" .\n{bad}{REST}'
    body = text.encode()
    # as a whole, and as what is too large for that
    for reading in (
        read(body, URL, "text/turtle"),
        read(body, URL, "text/n3"),
        read_stream(BytesIO(body), URL, "text/turtle", ReadOptions(max_in_memory=10)),
    ):
        assert reading.nquads.count(b"<http://e/s") == 10
        assert b'<http://base/p> "value 9"' in reading.nquads
        assert {error.line for error in reading.errors} <= {4, 8}
        assert reading.errors[0].line == 4
        assert reading.errors[0].column > 1


@pytest.mark.parametrize("bad", ['e:bad e:p "x .', "e:bad e:p 'it's' .", 'e:bad e:p "x\n  y" .'])
@pytest.mark.parametrize("indent", ["", "    "])
@pytest.mark.parametrize("opening", ["e:g {", "GRAPH <http://e/g> {", "<http://e/g>\n{", "{"])
def test_a_string_that_is_not_closed_costs_no_other_statement_and_no_graph_in_trig(
    opening: str, indent: str, bad: str
) -> None:
    """Also where the statement is the block's first, or its last."""
    good = [f"{indent}e:s{n} e:p 'value {n}' .\n" for n in range(3)]
    blocks = [[bad, *good], [*good, bad], [good[0], bad, *good[1:]]]
    text = "@prefix e: <http://e/> .\ne:out e:p '{' .\n" + "".join(
        f"{opening}\n{''.join(x if x in good else f'{indent}{x}' + chr(10) for x in block)}}}\n"
        "# a { in a remark\ne:out e:p 'later' .\n<http://e/other> { e:x e:p 'y' . }\n"
        for block in blocks
    )
    reading = read(text.encode(), URL, "application/trig")
    graph = URL if opening == "{" else "http://e/g"
    # of the bad statement, what stands before the error is kept
    lines = [x for x in reading.nquads.decode().splitlines() if "<http://e/bad>" not in x]
    found = set(lines)
    assert {f'<http://e/s{n}> <http://e/p> "value {n}" <{graph}> .' for n in range(3)} <= found
    assert f'<http://e/out> <http://e/p> "later" <{URL}> .' in found
    assert '<http://e/x> <http://e/p> "y" <http://e/other> .' in found
    assert len(found) == 6
    assert len(lines) == 1 + 3 * 5
    assert reading.error_count >= 3


@pytest.mark.parametrize(
    ("text", "media"),
    [
        (
            '<#a> <#p> "1" .\n[] { <#b> <#p> "2" .\n<#bad> <#p> "x .\n<#c> <#p> "3" .\n}\n',
            "application/trig",
        ),
        (
            '<#a> <#p> "1" .\n{ <#b> <#p> "2" .\n<#bad> <#p> "x .\n<#c> <#p> "3" . } <#q> 1 .\n',
            "text/n3",
        ),
    ],
)
@pytest.mark.parametrize("in_memory", [1 << 20, 10])
def test_a_graph_without_a_name_goes_on_after_such_a_string(
    text: str, media: str, in_memory: int
) -> None:
    reading = read_stream(BytesIO(text.encode()), URL, media, ReadOptions(max_in_memory=in_memory))
    graphs = {
        quad.object.value: quad.graph_name
        for quad in pyoxigraph.parse(reading.nquads, pyoxigraph.RdfFormat.N_QUADS)
    }
    assert graphs["2"] == graphs["3"] != graphs["1"]
    assert [error.line for error in reading.errors] == [3]


@pytest.mark.slow
def test_such_strings_far_apart_in_a_large_document_cost_their_triples_only() -> None:
    lines = [f'e:s{n} e:p "value {n}" ;\n  e:q <o{n}> .\n' for n in range(30_000)]
    bad = [5, 9_000, 9_001, 29_990]
    for n in bad:
        lines.insert(n, f'e:bad{n} e:p "x ;\n e:q "y" .\n')
    text = f"@prefix e: <http://e/> .\n@base <http://base/> .\n{''.join(lines)}"
    reading = read_stream(BytesIO(text.encode()), URL, "text/turtle", ReadOptions(max_in_memory=10))
    assert reading.quads == 60_000 + len(bad)
    assert [error.line for error in reading.errors] == [3 + 2 * n for n in bad]


@pytest.mark.parametrize("rest", ["<urn:d", "@pre", "<urn:d> <urn:e", "<urn:d> <urn:e> tru", "'x"])
@pytest.mark.parametrize("in_memory", [1 << 20, 10])
def test_a_document_that_ends_inside_a_token_is_not_clean(rest, in_memory):
    body = f"<urn:a> <urn:b> <urn:c> .\n{rest}".encode()
    options = ReadOptions(max_in_memory=in_memory)
    for reading in (
        read(body, URL, "text/turtle"),
        read_stream(BytesIO(body), URL, "text/turtle", options),
    ):
        assert reading.quads == 1
        assert reading.error_count == 1
        assert reading.errors[0].line == 2
