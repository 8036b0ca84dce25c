"""The cheap look at a page never rules out what is in it."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html

from semcrawl.rdf import Embedded, ReadOptions
from semcrawl.rdf.embedded.microdata import MicrodataProcessor
from semcrawl.rdf.embedded.page import possible_kinds
from semcrawl.rdf.embedded.rdfa import RdfaProcessor

VALUES = ("", "#a", "dc:title", "foaf:knows", "dc:x foaf:y", "next", "license", "_:b", "[dc:x]")
NAMES = (
    "about", "resource", "datatype", "inlist", "content", "href", "src", "prefix", "rel", "rev",
    "property", "typeof", "vocab", "role", "lang", "itemscope", "itemprop", "itemtype", "title",
)  # fmt: skip
#: how an attribute is written: quoted or not, in capitals, with space around the sign, or alone
FORMS = ('{0}="{1}"', "{0}='{1}'", '{0} = "{1}"', '{0}\n="{1}"', "{0}")

attributes = st.builds(
    lambda name, value, form, capitals: form.format(name.upper() if capitals else name, value),
    st.sampled_from(NAMES),
    st.sampled_from(VALUES),
    st.sampled_from(FORMS),
    st.booleans(),
)
#: few attributes in all: most pages are then beyond one gate or another
elements = st.recursive(
    st.just("text"),
    lambda inside: st.builds(
        lambda tag, marks, parts: f"<{tag} {' '.join(marks)}>{''.join(parts)}</{tag}>",
        st.sampled_from(("p", "a", "div", "span")),
        st.lists(attributes, min_size=1, max_size=3),
        st.lists(inside, min_size=1, max_size=2),
    ),
    max_leaves=2,
)


@settings(max_examples=600)
@given(elements)
def test_what_is_ruled_out_has_no_data(markup: str) -> None:
    page = f"<html><body><div>{markup}</div></body></html>"
    options = ReadOptions(rdfa_roles=True)
    found, root = possible_kinds(page.encode(), options), html.fromstring(page)
    if Embedded.RDFA not in found:
        assert not list(RdfaProcessor(root, roles=True).triples()), page
    if Embedded.MICRODATA not in found:
        assert not list(MicrodataProcessor(root, 1000).triples()), page
