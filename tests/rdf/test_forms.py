"""Each syntax in random form: what is written is read, and a spoilt token costs its triples."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

import pyoxigraph
import pytest
import rdflib
from hypothesis import assume, given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Quad

from semcrawl.rdf import read, read_embedded
from semcrawl.rdf.documentreader import Reading

from . import forms
from .forms import URL, WRITERS, Form, Written, canonical, folded

OXIGRAPH = {
    "turtle": pyoxigraph.RdfFormat.TURTLE,
    "trig": pyoxigraph.RdfFormat.TRIG,
    "n3": pyoxigraph.RdfFormat.N3,
    "ntriples": pyoxigraph.RdfFormat.N_TRIPLES,
    "nquads": pyoxigraph.RdfFormat.N_QUADS,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
}
RDFLIB = {"rdfxml": "xml", "trix": "trix"}
SYNTAXES = sorted(WRITERS)
often = forms.examples(20)


def read_by_ours(document: Written) -> Reading:
    reader = read_embedded if document.embedded else read
    return reader(document.data(), URL, document.content_type)


def read_by_others(document: Written, monkeypatch: pytest.MonkeyPatch) -> list[Quad]:
    if document.name in OXIGRAPH:
        text = document.data().decode(document.encoding).encode()
        return list(pyoxigraph.parse(text, OXIGRAPH[document.name], base_iri=URL))
    monkeypatch.setattr(rdflib, "NORMALIZE_LITERALS", False)
    data = rdflib.Dataset()
    data.parse(io.BytesIO(document.data()), format=RDFLIB[document.name], publicID=URL)
    quads = forms.quads_of(data.serialize(format="nquads").encode())
    return [Quad(*q.triple) if isinstance(q.graph_name, BlankNode) else q for q in quads]


@pytest.mark.parametrize("syntax", [*OXIGRAPH, *RDFLIB])
def test_others_read_what_the_writers_write(syntax: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writers are judged by readers that are not ours."""

    @often
    @given(forms.data_for(syntax), forms.forms())
    def holds(quads: Sequence[Quad], form: Form) -> None:
        document = WRITERS[syntax](quads, form)
        assert canonical(read_by_others(document, monkeypatch)) == canonical(quads), document.text

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("syntax", SYNTAXES)
def test_what_is_written_is_read(syntax: str) -> None:
    """Whatever the form, each quad is read, no other one, and without an error."""

    @often
    @given(forms.data_for(syntax), forms.forms())
    def holds(quads: Sequence[Quad], form: Form) -> None:
        document = WRITERS[syntax](quads, form)
        reading = read_by_ours(document)
        found = forms.quads_of(reading.nquads)
        text = f"{document.data()!r} {reading.errors}"
        lost, more = folded(quads) - folded(found), folded(found) - folded(quads)
        assert (lost, more) == (Counter(), Counter()), text
        assert canonical(found) == canonical(quads), text
        assert not reading.errors, text

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_spoilt_token_costs_its_triples(syntax: str) -> None:
    """Other triples stay, nothing is invented, and the record tells where the fault is."""

    @often
    @given(forms.data_for(syntax), forms.forms(), st.integers(0), st.integers(0))
    def holds(quads: Sequence[Quad], form: Form, place: int, choice: int) -> None:
        document = WRITERS[syntax](quads, form)
        places = document.damageable()
        assume(places)
        spoilt, token, damage = document.damaged(places[place % len(places)], choice)
        reading = read_by_ours(spoilt)
        found = folded(forms.quads_of(reading.nquads))
        wanted = folded(q for n, q in enumerate(quads) if n not in token.quads)
        text = f"{token.text} became {damage.text}: {spoilt.data()!r} {reading.errors}"
        assert wanted - found == Counter(), text
        own = folded(q for n, q in enumerate(quads) if n in token.quads)
        more = found - wanted
        if damage.mended is not None:
            more = Counter({damage.mended(line): count for line, count in more.items()})
        assert set(more) <= {damage.mended(q) if damage.mended else "" for q in own}, text
        assert reading.errors, text
        assert reading.errors[0].line, text

    holds()
