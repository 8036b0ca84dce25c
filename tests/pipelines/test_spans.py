"""The lines of each graph of a document, in whatever order its statements came."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf.sink import graph_of
from semcrawl.results.stores import contract
from semcrawl.results.stores.contract import GraphContent, Span

GRAPHS = ["<http://a.example/>", "<http://a.example/b>", "_:g", ""]
#: lines of the documents before and behind
OTHERS = b"<urn:x> <urn:p> <urn:other> <http://a.example/> .\n"


def line(number: int, graph: str) -> bytes:
    """A statement whose literal looks like the end of a line of the first graph."""
    literal = f'"{number} <http://a.example/> ."'
    return f"_:b{number} <urn:p> {literal}{graph and ' '}{graph} .\n".encode()


@contextmanager
def document(lines: list[bytes]) -> Iterator[Span]:
    """A span between other documents; lives as long as its file."""
    with tempfile.TemporaryFile() as file:
        file.write(OTHERS + b"".join(lines) + OTHERS)
        file.flush()
        yield Span(file, "http://a.example/", len(OTHERS), sum(map(len, lines)), len(lines))


@given(
    of=st.lists(st.sampled_from(GRAPHS), max_size=30),
    asked=st.lists(st.sampled_from([*GRAPHS, "<urn:none>"]), min_size=1, max_size=8),
    piece=st.sampled_from([7, 64, 1 << 20]),
    runs=st.sampled_from([3, 1 << 20]),
)
def test_every_graph_gets_its_lines_in_order(of, asked, piece, runs):
    lines = [line(number, graph) for number, graph in enumerate(of)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contract, "CHUNK_SIZE", piece)
        patch.setattr(contract, "_MOST_RUNS", runs)
        with document(lines) as span:
            for graph in asked:
                wanted = [each for each in lines if graph_of(each) == graph]
                assert b"".join(span.lines(graph)) == b"".join(wanted)


def test_triples_are_the_lines_without_their_graph():
    lines = [line(1, GRAPHS[0]), line(2, GRAPHS[1]), line(3, GRAPHS[0]), line(4, "")]
    with document(lines) as span:
        named = GraphContent(GRAPHS[0], [(span, GRAPHS[0])])
        assert b"".join(named.triples()) == line(1, "") + line(3, "")
        assert b"".join(GraphContent(GRAPHS[0], [(span, "")]).triples()) == line(4, "")


def test_of_many_graphs_each_is_read_where_it_is(monkeypatch):
    graphs = [f"<urn:g:{number}>" for number in range(300)]
    lines = [line(number, graph) for number, graph in enumerate(graphs)]
    with document(lines) as span:
        read = 0
        pread = contract.os.pread

        def count(file, size, offset):
            nonlocal read
            read += size
            return pread(file, size, offset)

        monkeypatch.setattr(contract.os, "pread", count)
        for graph, its_line in zip(graphs, lines, strict=True):
            assert b"".join(span.lines(graph)) == its_line
        assert read <= 4 * span.length
