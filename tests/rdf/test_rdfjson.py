"""RDF/JSON: what it states, what a fault in it costs, and how it is recognised."""

from __future__ import annotations

import json
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf import detect, read
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://h.example/data"
TYPE = "application/rdf+json"
NAMES = st.sampled_from([f"http://e.example/{name}" for name in ("a", "b#c", "ä", "d?e=f&g")])
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8) | st.just('"\\\n/')
VALUES = st.one_of(
    st.builds(lambda name: {"type": "uri", "value": name}, NAMES),
    st.builds(lambda text: {"type": "literal", "value": text}, TEXTS),
    st.builds(lambda text: {"value": text, "lang": "de-AT", "type": "literal"}, TEXTS),
    st.builds(lambda text: {"value": text, "datatype": "urn:d", "type": "literal"}, TEXTS),
    st.just({"type": "bnode", "value": "_:x"}),
)
GRAPHS = st.dictionaries(
    NAMES | st.just("_:x"),
    st.dictionaries(NAMES, st.lists(VALUES, min_size=1, max_size=3), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


def value(data: dict[str, str]) -> str:
    if data["type"] == "uri":
        return f"<{data['value']}>"
    if data["type"] == "bnode":
        return "_:x"
    if "datatype" in data:
        return str(ox.Literal(data["value"], datatype=ox.NamedNode(data["datatype"])))
    return str(ox.Literal(data["value"], language=data.get("lang", "").lower() or None))


def lines(graph: dict[str, dict[str, list[dict[str, str]]]]) -> set[str]:
    """The statements, with one name for the blank node."""
    return {
        f"{'_:x' if subject == '_:x' else f'<{subject}>'} <{predicate}> {value(each)}"
        for subject, predicates in graph.items()
        for predicate, values in predicates.items()
        for each in values
    }


def read_lines(text: str) -> set[str]:
    reading = read(text.encode(), URL, TYPE)
    assert not reading.error_count, reading.errors
    quads = ox.parse(input=reading.nquads, format=ox.RdfFormat.N_QUADS)
    return {
        " ".join("_:x" if isinstance(each, ox.BlankNode) else str(each) for each in quad.triple)
        for quad in quads
    }


@pytest.mark.slow
@given(GRAPHS, st.sampled_from([None, 1, "\t"]), st.booleans(), st.booleans())
def test_every_form_of_a_graph_is_the_graph(
    graph: dict[str, Any], indent: int | str | None, ascii_only: bool, slashes: bool
) -> None:
    """Minified or not, escaped or not, with slashes as PHP writes them."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(graph, indent=indent, ensure_ascii=ascii_only, separators=separators)
    assert read_lines(text.replace("/", "\\/") if slashes else text) == lines(graph)


def test_a_fault_in_the_json_leaves_what_stands_before_it() -> None:
    text = (
        '{"http://e.example/a":{"http://e.example/p":[{"type":"literal","value":"1"},\n'
        '{"type":"literal","value":"2"'
    )
    reading = read(text.encode(), URL, TYPE)
    assert reading.quads == 1
    assert reading.errors[0].line == 2


def test_faults_have_their_places_also_where_the_text_is_cut() -> None:
    """A comment, a comma too many and a value in no array cost nothing."""
    good = '{"type":"literal","value":"1"}'
    text = (
        f'{{"urn:a":{{"urn:p":[{good},/* */\n{{"type":"uri","value":"urn:x y"}},\nNaN,]}},\n'
        f'"urn:a":{{"urn:q":\n{good}}},\n"urn:b":5,"urn:c":{{"urn:p":[{good},{good[:-1]}'
    )
    reading = read(text.encode(), URL, TYPE)
    assert reading.quads == 4
    lines = {error.message.partition(" ")[2]: error.line for error in reading.errors}
    assert lines == {
        "comment, or a sign that says nothing": 1,
        "comma too many": 3,
        "text ends early": 6,
        "IRI 'urn:x y' was mended": 2,
        "is no JSON": 3,
        "value in no array": 5,
        "object of subjects, or of predicates": 6,
    }


def test_a_key_that_stands_twice_loses_nothing() -> None:
    values = [f'"http://e.example/p":[{{"type":"literal","value":"{n}"}}]' for n in (1, 2)]
    text = f'{{"urn:a":{{{",".join(values)}}},"urn:a":{{{values[0].replace("/p", "/q")}}}}}'
    assert read(text.encode(), URL, TYPE).quads == 3


@pytest.mark.parametrize(
    "wrong",
    [
        '{"type":"literal","value":5}',
        '{"type":"literal","value":"x","lang":"en","datatype":"urn:d"}',
        '{"type":"literal","value":"x","lang":"English language"}',
        '{"type":"literal","value":"x",'
        '"datatype":"http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"}',
        '{"type":"literal","value":"\\ud800"}',
        '{"type":"uri","value":"relative"}',
        '{"type":"uri","value":"http://[x/"}',
        '{"type":"literal","value":"x","value":"y"}',
        "[]",
        "null",
    ],
)
def test_a_wrong_value_costs_its_statement(wrong: str) -> None:
    """It is recorded with its line, and its neighbours stay."""
    good = '{"type":"literal","value":"kept"}'
    text = f'{{"urn:a":{{"urn:p":[{good},\n{wrong},\n{good}]}}}}'
    reading = read(text.encode(), URL, TYPE)
    assert (reading.quads, reading.error_count) == (2, 1)
    assert reading.errors[0].line == 2


@pytest.mark.parametrize("text", ["", "[]", '"x"', "{}", '{"a"', '{"a":', "{,}", "{1:2}", "{} {}"])
def test_no_json_at_all_ends_in_an_error_or_in_nothing(text: str) -> None:
    reading = read(text.encode(), URL, TYPE)
    assert reading.quads == 0


def test_the_shape_tells_where_no_label_does() -> None:
    text = b'{"http://e.example/a":{"http://e.example/p":[{"value":"x","type":"literal"}]}}'
    for media in ("application/json", "text/plain", None):
        found = detect(text, media, URL)
        assert (found.kind, found.format) == (Kind.RDF, RdfFormat.RDF_JSON)
    assert detect(b'{"a": {"b": [{"type": "uri"}]}}', "application/json", URL).kind is Kind.OTHER
    assert detect(b'{"@id": "urn:a", "urn:p": "x"}', TYPE, URL).format is RdfFormat.RDF_JSON
    assert detect(b'{"@context": {}, "urn:p": "x"}', TYPE, URL).format is RdfFormat.JSON_LD
    assert detect(b"<html><body>404", TYPE, URL).kind is Kind.HTML
    assert detect(text, None, "http://h.example/data.rj").format is RdfFormat.RDF_JSON
