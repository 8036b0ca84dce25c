"""Terms of N-Triples: IRIs are mended where that is certain, and only there."""

import pyoxigraph
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf.terms import iri_of, iri_term

#: what IRIs on the Web have: delimiters, what they may not contain, parts of escapes
PIECES = st.sampled_from(
    [*"/?#[]@:%& <>\"{}|\\^`'()*\t\n\x00\x7fä\ue000\ufdd0\uffff", "%41", "%4", "%"]
)
TEXTS = st.lists(st.one_of(PIECES, st.characters()), max_size=12).map("".join)


def is_iri(text: str) -> bool:
    """Whether a strict reader takes ``text`` as an absolute or relative IRI."""
    try:
        statement = f"<{text}> <x:p> <x:o> .".encode()
        [quad] = pyoxigraph.parse(statement, pyoxigraph.RdfFormat.TURTLE, base_iri="http://e.org/")
    except (SyntaxError, UnicodeEncodeError):
        return False
    # Turtle has escapes in IRIs, which are no part of IRIs
    return isinstance(quad.subject, pyoxigraph.NamedNode) and "\\" not in text


@given(TEXTS)
def test_an_iri_with_a_host_can_always_be_mended(text: str) -> None:
    assert is_iri(iri_term("http://example.org/" + text)[1:-1])


@given(st.one_of(TEXTS, TEXTS.map("http://example.org/".__add__)))
def test_a_valid_iri_stays_as_it_is(text: str) -> None:
    if is_iri(text):
        assert iri_of(text) == text


@given(TEXTS)
def test_what_is_mended_stays_as_it_is(text: str) -> None:
    assert iri_of(iri_of(text)) == iri_of(text)
