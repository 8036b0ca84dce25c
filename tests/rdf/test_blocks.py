"""TriG whose statements are all in named graphs, and TriG where one may not be."""

from __future__ import annotations

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcrawl.rdf import read
from semcrawl.rdf.syntaxes.blocks import all_in_named_graphs

URL = "http://example.org/doc"
LONG = "<http://a/s> <http://a/p> <http://a/" + "o" * 9000 + "> .\n"
PIECES = [
    LONG, "{", "}", " ", "\n", "# x\n", "#", "<http://a/g>", "GRAPH", "graph ", "e:g", ":", "_:g",
    "@prefix e: <http://e/> .\n", "prefix : <http://e/>\n", "BASE <http://e/>", "[]", ".", '"}"',
    "<http://a/g> {", '<s> <p> "} <http://a/g> {" .', "<s> <p> <o> .", "e:s e:p '''{''' .",
    "<http://a/g> {\n" + LONG + "}\n",
]  # fmt: skip


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (f"<http://a/g> {{ {LONG} }}", True),
        (f"# {{\n<http://a/g> {{ {LONG} }}", False),
        (f"@prefix e: <http://e/> . # x\nGRAPH e:g\n{{ {LONG} }} _:g {{ {LONG} }}\n# end\n", True),
        (f"PREFIX e: <http://e/>\ne:g {{ {LONG} }} BASE <http://b/> <h> {{ {LONG} }}", True),
        (f"{{ {LONG} }}", False),
        (f"<http://a/g> {{ {LONG} }} {{ {LONG} }}", False),
        (f"<http://a/g> {{ {LONG} }} {LONG}", False),
        (f"{LONG} <http://a/g> {{ {LONG} }}", False),
        (f'<http://a/g> {{ {LONG} <s> <p> "}} <h> {{" }}', True),
        (LONG, False),
    ],
)
def test_what_is_in_named_graphs(body: str, named: bool) -> None:
    assert all_in_named_graphs(body.encode()) is named
    quads = list(pyoxigraph.parse(body, pyoxigraph.RdfFormat.TRIG, base_iri=URL))
    others = [q for q in quads if isinstance(q.graph_name, pyoxigraph.DefaultGraph)]
    assert not (named and others)
    lines = read(body.encode(), URL, "application/trig").nquads.decode().splitlines()
    assert sum(line.endswith(f" <{URL}> .") for line in lines) == len(others)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12))
def test_nothing_changes_when_it_is_told_with_errors_too(pieces: list[str]) -> None:
    body = f"<http://a/g> {{ {LONG} }} " + "".join(pieces)
    told = read(body.encode(), URL, "application/trig")
    asked = read(b"# {\n" + body.encode(), URL, "application/trig")  # that brace is not understood
    assert told.nquads == asked.nquads
    assert (told.quads, told.error_count) == (asked.quads, asked.error_count)
