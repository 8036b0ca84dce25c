"""Nested scopes share the names that they have in common."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf import Reading, read, read_embedded
from semcrawl.rdf.terms import Scoped

_URL = "http://a.example/doc"
_NAMES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 9), max_size=8)


@given(st.lists(_NAMES, max_size=12))
def test_an_extended_scope_holds_what_a_copy_would(declared: list[dict[str, int]]) -> None:
    """And the scope that it extends stays as it was."""
    scope, plain = Scoped[int](), dict[str, int]()
    for more in declared:
        before, was = scope, dict(plain)
        scope = scope.extended(more)
        plain.update(more)
        assert dict(before) == was
        assert dict(scope) == plain
        assert len(scope) == len(plain)
        assert all(scope.get(name) == plain.get(name) for name in "abcdefghx")


def _xml(level: int) -> str:
    """Declarations of one level."""
    return "".join(f' xmlns:z{level}a{k}="http://e.example/{level}/{k}"' for k in range(_WIDTH))


_DEPTH, _WIDTH = 200, 100
_LEVELS = range(_DEPTH)
_R = 'xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
_DOCUMENTS = {
    "application/xhtml+xml": '<html xmlns="http://www.w3.org/1999/xhtml"><body>'
    + "".join(f'<div{_xml(n)} property="z{n}a1:x" content="{n}">' for n in _LEVELS)
    + "</div>" * _DEPTH
    + "</body></html>",
    "text/html": "<!DOCTYPE html><body>"
    + "".join(
        f"<div prefix='{' '.join(f'z{n}a{k}: http://e.example/{n}/{k}' for k in range(_WIDTH))}'"
        f' property="z{n}a1:x" content="{n}">'
        for n in _LEVELS
    ),
    "application/rdf+xml": f"<r:RDF {_R}>"
    + "".join(f'<r:Description{_xml(n)} r:about="#{n}"><z{n}a1:x>' for n in range(100))
    + "".join(f"</z{n}a1:x></r:Description>" for n in reversed(range(100)))
    + "</r:RDF>",
    "application/trix": '<TriX xmlns="http://www.w3.org/2004/03/trix/trix-1/"><graph>'
    + "".join(f"<a{_xml(n)}>" for n in _LEVELS)
    + "</a>" * _DEPTH
    + "<triple><uri>a:a</uri><uri>a:b</uri><uri>a:c</uri></triple></graph></TriX>",
}
_STATEMENTS = {"application/rdf+xml": 100, "application/trix": 1}


def _read(kind: str) -> Reading:
    body = _DOCUMENTS[kind].encode()
    return (read_embedded if "html" in kind else read)(body, _URL, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", _DOCUMENTS)
def test_nested_declarations_take_memory_in_proportion_to_the_document(kind: str) -> None:
    """Of 200 levels each declares 100 prefixes, which all levels inside inherit."""
    _read(kind)  # what is loaded once does not count
    tracemalloc.start()
    try:
        reading = _read(kind)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert reading.nquads.count(b"\n") == _STATEMENTS.get(kind, _DEPTH)
    assert peak < 40 * len(_DOCUMENTS[kind])
