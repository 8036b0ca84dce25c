"""N-Triples and N-Quads: lines that are copied as they stand say what the parser would say."""

from __future__ import annotations

import pyoxigraph
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from semcrawl.rdf import read
from semcrawl.rdf.syntaxes.ntriples import PlainLines

URL = "http://example.org/doc"
XSD = b"http://www.w3.org/2001/XMLSchema#"
RDF = b"http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SYNTAXES = (pyoxigraph.RdfFormat.N_TRIPLES, pyoxigraph.RdfFormat.N_QUADS)

IRIS = [
    b"http://a", b"http://a.b-c:80/x?y=z#f", b"https://a/%C3%A9", b"http://a/%zz", b"http://a/%",
    b"http://a/\xc3\xa9\xe4\xb8\xad", b"http://a/\xf0\x9f\x98\x80", b"http://a/#a#b", b"http://a?",
    b"http://a/[x]", b"HTTP://A/", b"http:///x", b"http://:80/", b"http://a:x/", b"http://a:99999/",
    b"http://a//b/../c/./", b"http://a/b c", b"a/b", b"", b"http://[::1]/", b"http://u:p@h/",
    b"urn:x:y", b"urn:x", b"urn:", b"mailto:a@b.c", b"tag:a,2020:b", b"urn:a%20", b"http://a/\xc2\xa0",
    b"http://a/\xee\x80\x80", b"http://a/\xe2\x80\xae",
]  # fmt: skip
NODES = [b"_:a", b"_:1", b"_:a.b", b"_:" + b"f" * 32, b"_:0" + b"f" * 31, b"_:-", b"_:\xc3\xa9"]
LITERALS = [
    b'""', b'"a"', b'"a\\"b\\\\"', b'"\\t\\n\\r\\b\\f"', b'"\\u0041"', b'"\\\'"', b'"tab\t"',
    b'"\x7f"',
    b'"\xc3\xa9"', b'"\xff"', b'"\xed\xa0\x80"', b'"\xef\xbf\xbf"', b'"\xc2\x85"', b'"a', b"'a'",
    b'"a"@en', b'"a"@EN', b'"a"@en-gb', b'"a"@en-GB', b'"a"@e', b'"a"@zz-zz', b'"a"@en--ltr',
    b'"a"@i-aa', b'"a"^^<' + XSD + b'string>', b'"a"^^<' + XSD + b"integer>", b'"a"^^<b>',
    b'"a"^^<' + RDF + b"langString>", b'"a"^^<' + RDF + b"dirLangString>", b'"_:b> _:c" "x"',
]  # fmt: skip
TERMS = [*(b"<" + iri + b">" for iri in IRIS), *NODES, *LITERALS, b"<<( <a:a> <a:b> <a:c> )>>"]
PLAIN = b'<http://a/s> <http://a/p> "o" .\n'

lines = st.builds(
    lambda s, p, o, g, space, end: space.join([s, p, o, *g]) + end,
    st.sampled_from([b"<http://a/>", *TERMS]),
    st.sampled_from([b"<http://a/>", *TERMS[: len(IRIS)]]),
    st.sampled_from(TERMS),
    st.lists(st.sampled_from(TERMS), max_size=1),
    st.sampled_from([b" ", b" ", b" ", b"  ", b"\t", b""]),
    st.sampled_from([b" .\n", b" .\n", b" .\n", b".\n", b" .\r\n", b" . # c\n", b" .", b"\n"]),
)


def written_by_the_parser(data: bytes, syntax: pyoxigraph.RdfFormat) -> bytes | None:
    try:
        return pyoxigraph.serialize(pyoxigraph.parse(data, syntax), format=syntax)
    except SyntaxError:
        return None


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(lines, min_size=1, max_size=2), st.integers(0), st.binary(max_size=1))
@example([PLAIN], 3, b"")
def test_what_is_copied_is_what_the_parser_writes(
    statements: list[bytes], place: int, byte: bytes
) -> None:
    """Also with one byte changed anywhere."""
    data = b"".join(statements)
    place %= len(data)
    for text in (data, data[:place] + byte + data[place + 1 :]):
        for syntax in SYNTAXES:
            if PlainLines(syntax).match(text):
                assert written_by_the_parser(text, syntax) == text


@pytest.mark.parametrize(
    "numbers",
    [
        range(0x300),
        range(0x300, 0xD800, 31),
        range(0xD800, 0x10000, 7),
        range(0xFFF0, 0x10010),
        range(0x10000, 0x110000, 997),
        pytest.param(range(0x11000), marks=pytest.mark.slow),
        pytest.param(range(0x11000, 0x110000, 97), marks=pytest.mark.slow),
    ],
)
def test_no_character_is_copied_that_the_parser_would_change(numbers: range) -> None:
    for number in numbers:
        sign = chr(number).encode("utf-8", "surrogatepass")
        for text in (
            b'<http://a/> <http://b/> "' + sign + b'" .\n',
            b"<http://a/" + sign + b"> <http://b/?" + sign + b"> <http://c/#" + sign + b"> .\n",
        ):
            if PlainLines(SYNTAXES[0]).match(text):
                assert written_by_the_parser(text, SYNTAXES[0]) == text


def test_usual_lines_are_copied() -> None:
    for line in (
        PLAIN,
        b'_:a <http://a/p> "x\\n\xc3\xa9"@en <http://a/g> .\n',
        b'<urn:isbn:1> <http://a/p#q> "1"^^<' + XSD + b"integer> .\n",
    ):
        assert PlainLines(pyoxigraph.RdfFormat.N_QUADS).match(line)


def test_the_place_of_an_error_behind_and_before_copied_lines_is_told() -> None:
    body = PLAIN * 5000 + b"<http://a/s> <http://a/p> .\n" + PLAIN * 5000
    reading = read(body, URL, "application/n-triples")
    assert reading.quads == 10_000
    assert [(error.line, reading.error_count) for error in reading.errors] == [(5001, 1)]


def test_lines_in_another_form_among_many_are_all_kept_in_their_order() -> None:
    odd = b'<http://a/s>\t<http://a/p>  "\\u00e9"@EN. # remark\r\n'
    body = b"".join(PLAIN * 3000 + odd for _ in range(5))
    reading = read(body, URL, "application/n-triples")
    found = reading.nquads.splitlines()
    assert reading.errors == []
    assert len(found) == 5 * 3001
    assert found[3000] == '<http://a/s> <http://a/p> "é"@en <http://example.org/doc> .'.encode()
    assert found[3000] == found[-1] != found[3001]


LABEL = "abcdefabcdefabcdefabcdefabcdefab"  # like a name that the parser makes up
TURTLE = f'[] <http://a/p> "\\u005F:{LABEL} ", "_\\u003a{LABEL} " .'
XML = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:a="http://a/">'
    "<rdf:Description><a:p>%s</a:p></rdf:Description></rdf:RDF>"
)
JSON = '{"http://a/p": "\\u005F:%s ", "http://a/q": "_\\u003A%s "}'


@pytest.mark.parametrize(
    ("body", "media"),
    [
        (TURTLE, "text/turtle"),
        ("<http://a/g> {" + TURTLE + "}", "application/trig"),
        (XML % f"_&#58;{LABEL} ", "application/rdf+xml"),
        (XML % f"&#x5f;:{LABEL} ", "application/rdf+xml"),
        (JSON % (LABEL, LABEL), "application/ld+json"),
    ],
)
def test_literals_with_escapes_that_look_like_blank_nodes_are_untouched(
    body: str, media: str
) -> None:
    reading = read(body.encode(), URL, media)
    assert reading.errors == []
    assert reading.quads
    assert reading.nquads.count(b'"_:' + LABEL.encode() + b' "') == reading.quads
