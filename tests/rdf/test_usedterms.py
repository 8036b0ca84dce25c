"""Terms of N-Quads lines, counted without parsing."""

from __future__ import annotations

from collections import Counter

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from semcrawl.rdf.shortnames import MAX_IRI, TermCounter
from semcrawl.rdf.terms import RDF

TYPE = NamedNode(f"{RDF}type")
iris = st.sampled_from(
    [NamedNode(f"http://example.org/{name}") for name in ("a", "b", "ü", "c#d", "type")]
)
nodes = iris | st.just(BlankNode("n1"))
texts = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"])) | st.just(
    f'" <{RDF}type> <http://example.org/no> .\n'
)
literals = texts.map(Literal) | texts.map(lambda text: Literal(text, language="en"))
triples = st.just(Triple(NamedNode("urn:s"), TYPE, Literal('" <urn:o> )>> <urn:x> .')))
quads = st.builds(
    Quad,
    nodes,
    iris | st.just(TYPE),
    nodes | literals | triples,
    nodes | st.just(DefaultGraph()),
)


@given(st.lists(quads), st.integers(1, 5))
def test_it_counts_what_a_parser_counts(some, pieces):
    """However the lines are cut into pieces."""
    lines = pyoxigraph.serialize(some, format=pyoxigraph.RdfFormat.N_QUADS).splitlines(True)
    counter = TermCounter(1000)
    for start in range(0, len(lines), pieces):
        counter.add(b"".join(lines[start : start + pieces]))
    classes = (
        q.object.value for q in some if q.predicate == TYPE and isinstance(q.object, NamedNode)
    )
    assert counter.properties == Counter(q.predicate.value for q in some)
    assert counter.classes == Counter(classes)
    assert counter.is_complete


def test_it_knows_no_more_terms_than_it_may():
    counter = TermCounter(3)
    counter.add(b"".join(b"<urn:s> <urn:p%d> <urn:o> .\n" % (n % 5) for n in range(10)))
    assert counter.properties == {"urn:p0": 2, "urn:p1": 2, "urn:p2": 2}
    assert not counter.is_complete


def test_an_endless_iri_is_no_term():
    counter = TermCounter(3)
    counter.add(b"<urn:s> <urn:%s> <urn:o> .\n" % (b"x" * MAX_IRI))
    assert not counter.properties
    assert not counter.is_complete


def test_switched_off_it_looks_at_nothing():
    counter = TermCounter(0)
    counter.add(b"<urn:s> <urn:p> <urn:o> .\n")
    assert not counter.is_on
    assert not counter.properties
