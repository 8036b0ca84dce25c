"""The cheap look at a page never rules out what is in it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf import Embedded, ReadOptions, read_embedded
from semcrawl.rdf.embedded import page as reader

STANDARD = frozenset({Embedded.JSON_LD, Embedded.RDFA, Embedded.MICRODATA, Embedded.RDF})
OPTIONS = ReadOptions(rdfa_roles=True, embedded=STANDARD)
VALUES = (
    "", "#a", "dc:title", "foaf:knows", "dc:x foaf:y", "next", "license", "_:b", "[dc:x]", "x>dc:y",
    "XHTML+RDFa 1.0", "http://schema.org/name",
)  # fmt: skip
NAMES = (
    "about", "resource", "datatype", "inlist", "content", "href", "src", "prefix", "rel", "rev",
    "property", "typeof", "vocab", "role", "lang", "itemscope", "itemprop", "itemtype", "title",
    "version",
)  # fmt: skip
TYPES = (
    "application/ld+json", "text/turtle", "application/n-triples", "text/javascript", "module",
    "application/activity+json", "application/rdf+xml; charset=utf-8", " Text/Turtle ",
)  # fmt: skip
DATA = {
    "json": '{"@id": "a", "http://p/": "1"}',
    "xml": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">'
    '<e:T rdf:about="x"/></rdf:RDF>',
    "": "<a:b> <a:c> <a:d> .",
}
#: how an attribute is written: quoted or not, with space around the sign, beside others, or alone
FORMS = (
    ' {0}="{1}"', " {0}='{1}'", ' {0} = "{1}"', '\n{0}\n="{1}"', " {0}", '/{0}="{1}"', " {0}={1}",
    '\f{0}\t=\r"{1}"', ' x="{0}=\'"{0}="{1}"', " y=\"it's {0}='\" {0}=\"{1}\"",
    ' z=\'"\' {0}="{1}" w=\'"\'', ' type="x" {0}="{1}"',
)  # fmt: skip


def written(name: str, value: str, form: str, capitals: bool, hidden: int) -> str:
    """Write an attribute; characters of its value become references."""
    if hidden:
        value = "".join(
            f"&#{ord(c)};" if hidden == 1 else f"&#x{ord(c):X};" if n % 2 else c
            for n, c in enumerate(value)
        )
    return form.format(name.upper() if capitals else name, value)


attributes = st.builds(
    written, st.sampled_from(NAMES), st.sampled_from(VALUES), st.sampled_from(FORMS),
    st.booleans(), st.integers(0, 2),
)  # fmt: skip
types = st.builds(
    written, st.just("type"), st.sampled_from(TYPES), st.sampled_from(FORMS), st.booleans(),
    st.integers(0, 2),
)  # fmt: skip
scripts = st.builds(
    lambda name, mark, data: f"<{name}{mark}>{data}</{name}>",
    st.sampled_from(("script", "SCRIPT", "Script")),
    types,
    st.sampled_from(sorted(DATA.values())),
)
#: few attributes in all: most pages are then beyond one gate or another
elements = st.recursive(
    st.one_of(st.just("text"), scripts, st.just(f"<svg>{DATA['xml']}</svg>")),
    lambda inside: st.builds(
        lambda tag, marks, parts: f"<{tag}{''.join(marks)}>{''.join(parts)}</{tag}>",
        st.sampled_from(("p", "a", "div", "span")),
        st.lists(attributes, min_size=1, max_size=3),
        st.lists(inside, min_size=1, max_size=2),
    ),
    max_leaves=2,
)
roots = st.lists(attributes, max_size=1).map("".join)


@given(elements, roots, st.sampled_from(["utf-8", "utf-16", "utf-16-be"]))
def test_what_is_ruled_out_has_no_data(markup: str, marks: str, encoding: str) -> None:
    body = f"<html{marks}><body><div>{markup}</div></body></html>".encode(encoding)
    gated = read_embedded(body, "http://example.org/", "text/html", OPTIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "possible_kinds", lambda *_: set(STANDARD))
        whole = read_embedded(body, "http://example.org/", "text/html", OPTIONS)
    assert (gated.counts, gated.nquads) == (whole.counts, whole.nquads)


def test_markup_in_entities_is_not_ruled_out() -> None:
    page = (
        "<!DOCTYPE html [<!ENTITY e '&#60;p &#112;roperty=\"dc:title\">T&#60;/p>'>]>"
        '<html xmlns="http://www.w3.org/1999/xhtml"><body>&e;</body></html>'
    )
    reading = read_embedded(page.encode(), "http://example.org/", "application/xhtml+xml")
    assert reading.counts == {"rdfa": 1}


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["<script ", "/type=", 'type="', 'rel="', " rel=", ' version="', "='", "<!--", "<![CDATA[",
     "<html a=b>", "<!ENTITY a ", "<rdf:RDF ", "&nbsp"],
)  # fmt: skip
def test_no_markup_takes_long(piece: str) -> None:
    """Half a megabyte, in a second: time that grows with the square would be minutes."""
    page = f'<p property="dc:title">x<p {piece * (500_000 // len(piece))}'
    start = time.process_time()
    read_embedded(page.encode(), "http://example.org/", "text/html", OPTIONS)
    assert time.process_time() - start < 10
