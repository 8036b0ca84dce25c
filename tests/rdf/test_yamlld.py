"""YAML-LD: the same statements as the JSON-LD that it stands for, within bounds."""

from __future__ import annotations

import json
from typing import Any

import pyoxigraph as ox
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf import ReadOptions, detect, read
from semcrawl.web.vocabulary import Kind, RdfFormat

URL = "http://h.example/data"
TYPE = "application/ld+yaml"
HEAD = '"@context": {"@vocab": "http://e.example/"}\n"@id": http://e.example/a\n'
SCALARS = st.one_of(
    st.booleans(),
    st.integers(),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=9),
)
NODES = st.dictionaries(
    st.sampled_from(["p", "q", "r"]), SCALARS | st.lists(SCALARS, max_size=3), max_size=3
)


def statements(nquads: bytes) -> set[str]:
    return {str(quad) for quad in ox.parse(input=nquads, format=ox.RdfFormat.N_QUADS)}


def objects(text: str) -> list[str]:
    """The values of the statements that YAML makes, without errors."""
    reading = read((HEAD + text).encode(), URL, TYPE)
    assert not reading.error_count, reading.errors
    quads = ox.parse(input=reading.nquads, format=ox.RdfFormat.N_QUADS)
    return sorted(quad.object.value for quad in quads)


@given(st.lists(NODES, max_size=3), st.booleans(), st.sampled_from([None, "'", '"', "|"]))
def test_every_form_of_a_document_says_what_its_json_says(
    nodes: list[dict[str, Any]], flow: bool, style: str | None
) -> None:
    document = {
        "@context": {"@vocab": "http://e.example/"},
        "@graph": [{"@id": f"urn:{number}", **node} for number, node in enumerate(nodes)],
    }
    text = yaml.safe_dump(document, default_flow_style=flow, default_style=style)
    as_json = read(json.dumps(document).encode(), URL, "application/ld+json")
    as_yaml = read(text.encode(), URL, TYPE)
    assert not as_yaml.error_count, as_yaml.errors
    assert statements(as_yaml.nquads) == statements(as_json.nquads)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("p: no", ["no"]),
        ("p: 2024-01-01", ["2024-01-01"]),
        ("p: 12:30:00", ["12:30:00"]),
        ("p: 010", ["10"]),
        ("p: 0x1F", ["31"]),
        ("p: 0o17", ["15"]),
        ("p: 1_000", ["1_000"]),
        ("p: '5'", ["5"]),
        ("p: ~", []),
        ("p: !!str 5", ["5"]),
        ("p: >-\n  two\n  lines", ["two lines"]),
        ("p: &x [1, 2]\nq: *x", ["1", "1", "2", "2"]),
        ("p: yes\nq: true", ["true", "yes"]),
    ],
)
def test_values_are_those_of_yaml_1_2(text: str, wanted: list[str]) -> None:
    assert objects(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "p: .inf",
        "? [a, b]\n: x",
        "p: !local x",
        "<<: {p: 1}",
        "p: *unknown",
        "p: &x [*x]",
        "q: 1\nq: 2",
    ],
)
def test_what_json_does_not_have_costs_its_member(text: str) -> None:
    reading = read(f"{HEAD}{text}\nz: kept\n".encode(), URL, TYPE)
    assert b'"kept"' in reading.nquads
    assert reading.error_count >= 1
    assert reading.errors[0].line >= 3


def test_a_stream_has_several_documents_and_a_fault_costs_the_rest() -> None:
    documents = "---\n".join(HEAD + f"p: {n}\n" for n in range(3))
    assert read(documents.encode(), URL, TYPE).quads == 3
    broken = read(f"{documents}---\np: [\n".encode(), URL, TYPE)
    assert (broken.quads, broken.error_count) == (3, 1)


def test_a_bomb_of_aliases_is_bounded() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for n in range(1, 12):
        bomb += f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n"
    reading = read((HEAD + bomb).encode(), URL, TYPE)
    assert "too many values" in reading.errors[-1].message
    long = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 1000)}]\n"
    reading = read((HEAD + long).encode(), URL, TYPE, ReadOptions(max_in_memory=1 << 20))
    assert "too many values" in reading.errors[-1].message


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 50_000])
def test_deep_nesting_ends_in_an_error(text: str) -> None:
    reading = read(f"{HEAD}p: {text}".encode(), URL, TYPE)
    assert reading.error_count
    assert reading.quads == 0


def test_only_labels_and_quoted_keywords_make_yaml_ld() -> None:
    text = (f"# a comment\n---\n{HEAD}p: 1\n").encode()
    for media, url in (
        (TYPE, URL),
        ("text/yaml", URL),
        ("text/plain", f"{URL}.yaml"),
        (None, f"{URL}.yamlld"),
    ):
        assert detect(text, media, url).format is RdfFormat.YAML_LD
    api = b"openapi: 3.0.0\ninfo:\n  title: Tides\n"
    assert detect(api, "application/yaml", f"{URL}.yaml").kind is Kind.OTHER
    as_json = b'{"@context": {"@vocab": "http://e.example/"}, "p": 1}'
    assert detect(as_json, "text/yaml", URL).format is RdfFormat.JSON_LD
    assert read(as_json, URL, TYPE).quads == read(as_json, URL).quads == 1
    assert detect(b"<html><body>not found", TYPE, URL).kind is Kind.HTML
