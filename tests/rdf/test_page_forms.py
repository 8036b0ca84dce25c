"""A page says the same as HTML and as XHTML, whatever it is labelled."""

from pathlib import Path

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.rdf import Embedded, ReadOptions, read_embedded

from . import markup_suites as suites

URL = "http://example.org/dir/page"
HTML, XHTML = "text/html", "application/xhtml+xml"
DOCTYPES = (
    "<!DOCTYPE html>",
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN"'
    ' "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML+RDFa 1.0//EN"'
    ' "http://www.w3.org/MarkUp/DTD/xhtml-rdfa-1.dtd">',
)


def said(body: str | bytes, media_type: str | None) -> set[str]:
    """Return the triples of RDFa and Microdata that are read without an error, canonical."""
    data = body.encode() if isinstance(body, str) else body
    options = ReadOptions(embedded=frozenset({Embedded.RDFA, Embedded.MICRODATA}))
    dataset = pyoxigraph.Dataset(
        pyoxigraph.Quad(q.subject, q.predicate, q.object)
        for q in pyoxigraph.parse(
            read_embedded(data, URL, media_type, options).nquads, pyoxigraph.RdfFormat.N_QUADS
        )
    )
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    # HTML knows no case of attributes, be they in a literal of XML
    return {str(quad).replace("xmlns:Dc", "xmlns:dc") for quad in dataset}


#: attributes that bear on what a page says, each at most once in an element
ATTRIBUTES = {
    "xmlns": ["http://www.w3.org/1999/xhtml"],
    "xmlns:w": ["http://w.example/#", "http://other.example/"],
    "xmlns:Dc": ["http://dc.example/"],
    "prefix": ["w: http://p.example/ Dc: http://q.example/", "w: rel#"],
    "vocab": ["http://v.example/", ""],
    "xml:lang": ["de", ""],
    "lang": ["en", "fr-CH"],
    "xml:base": ["http://base.example/"],
    "about": ["#a", "[w:x]", "_:b", "", "http://e.example/a b"],
    "resource": ["w:r", "#r"],
    "href": ["h"],
    "typeof": ["w:T", "Type dc:Agent"],
    "property": ["w:p", "dc:title DC:date", "p", "http://p.example/full"],
    "rel": ["w:r", "license", "w:r next"],
    "datatype": ["w:dt", "rdf:XMLLiteral", "rdf:HTML", ""],
    "content": ["c", "caf&#233;&nbsp;&amp;&lt;"],
    "itemscope": [""],
    "itemtype": ["http://schema.org/Person"],
    "itemprop": ["name", "url"],
    "inlist": [""],
}
attributes = st.sets(st.sampled_from(sorted(ATTRIBUTES)), max_size=4).flatmap(
    lambda names: st.tuples(
        *(st.sampled_from(ATTRIBUTES[name]).map(f' {name}="{{}}"'.format) for name in sorted(names))
    )
)
elements = st.recursive(
    st.sampled_from(["text", " &nbsp;&eacute; &amp;&lt; ", "<br/>", "<!-- - -->"]),
    lambda inside: st.builds(
        lambda name, marks, parts: f"<{name}{''.join(marks)}>{''.join(parts)}</{name}>",
        st.sampled_from(["div", "span", "em", "svg", "time"]),
        attributes,
        st.lists(inside, max_size=3),
    ),
    max_leaves=6,
)


@given(elements, attributes, st.sampled_from(DOCTYPES))
def test_all_labels_give_the_same_statements(
    markup: str, of_root: tuple[str], doctype: str
) -> None:
    marks = "".join(mark for mark in of_root if not mark.startswith(' xmlns="'))
    page = (
        f'{doctype}<html xmlns="http://www.w3.org/1999/xhtml"{marks}><head><title>t</title></head>'
        f"<body>{markup}</body></html>"
    )
    wanted = said(page, XHTML)
    for media_type in (HTML, None, "application/xml", "application/xhtml+xml; charset=utf-8"):
        assert said(page, media_type) == wanted


@pytest.mark.sites
@pytest.mark.slow
@pytest.mark.skipif(not suites.ARCHIVES.is_dir(), reason="needs ../shared/suites")
def test_the_pages_of_the_suite_say_the_same_as_html(tmp_path: Path) -> None:
    """And with a reference by name, which XML without a DTD does not know."""
    pages = suites.unpack("rdfa", tmp_path).glob("test-cases/rdfa1.1/xhtml*/*.xhtml")
    bodies = [path.read_bytes() for path in pages]
    assert len(bodies) > 300
    for body in bodies:
        wanted = said(body, XHTML)
        assert said(body, HTML) == wanted
        assert said(body.replace(b"</body>", b"<i>&nbsp;</i></body>"), XHTML) == wanted


@pytest.mark.parametrize("media_type", [HTML, XHTML])
def test_namespaces_of_elements_without_rdfa_count(media_type: str) -> None:
    """Be they declared on the root or on any other element, be their prefixes capitals or not."""
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:W="http://w.example/#"><head><title>t'
        '</title></head><body><div xmlns:g="http://g.example/"><p about="#x" property="w:a">1</p>'
        '<p about="#x" property="G:b">2</p></div></body></html>'
    )
    assert said(page, media_type) == {
        '<http://example.org/dir/page#x> <http://w.example/#a> "1"',
        '<http://example.org/dir/page#x> <http://g.example/b> "2"',
    }


@pytest.mark.parametrize("media_type", [HTML, XHTML])
def test_content_is_the_same_literal(media_type: str) -> None:
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:p="http://p.example/"><head><title>t'
        '</title></head><body><p property="p:x" datatype="rdf:XMLLiteral">a &amp; <b title="&quot;'
        '">c</b><br/><svg xmlns="http://www.w3.org/2000/svg"><g/></svg></p><p property="p:h"'
        ' datatype="rdf:HTML">a &amp;&nbsp;<b>c</b><br/><i></i></p></body></html>'
    )
    rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    scope = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:p="http://p.example/"'
    svg = 'xmlns="http://www.w3.org/2000/svg" xmlns:p="http://p.example/"'
    xml = f'a &amp; <b title="&quot;" {scope}>c</b><br {scope}/><svg {svg}><g/></svg>'
    html = "a &amp;&nbsp;<b>c</b><br><i></i>"
    assert {(q.predicate.value, q.object.value, q.object.datatype.value) for q in pyoxigraph.parse(
        read_embedded(page.encode(), URL, media_type).nquads, pyoxigraph.RdfFormat.N_QUADS
    )} == {
        ("http://p.example/x", xml, rdf + "XMLLiteral"),
        ("http://p.example/h", html, rdf + "HTML"),
    }  # fmt: skip


def test_entities_that_a_page_declares_are_its_own() -> None:
    page = (
        '<!DOCTYPE html [<!ENTITY nbsp "N"><!ENTITY own "O">]><html xmlns="http://www.w3.org/1999/'
        'xhtml"><body property="dc:title">&nbsp;&own;&eacute;</body></html>'
    )
    assert [line.rpartition(" ")[2] for line in said(page, XHTML)] == ['"NOé"']


def test_entities_that_grow_too_large_cost_no_memory() -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "lol"}">' for n in range(12))
    page = (
        f'<!DOCTYPE html [{levels}]><html xmlns="http://www.w3.org/1999/xhtml"><body property='
        '"dc:title">&e11;</body></html>'
    )
    assert len("".join(said(page, XHTML))) < 1000


@pytest.mark.parametrize(
    "page",
    [
        '<p>x<html lang="de" prefix="p: http://p.example/"><b property="p:a">1</b>',
        '<meta name="a"><html lang="de" xmlns:p="http://p.example/"><b property="p:a">1</b>',
        '<html><body><html lang="de"><body lang="en" prefix="p: http://p.example/" lang="fr">'
        '<body lang="it"><b property="p:a" lang="de">1</b>',
        "<html><body><!-- <body prefix='p: http://no.example/'> --><script>'<body prefix=\"p: no:\""
        ">'</script><body prefix='p: http://p.example/'><b property='p:a' xml:lang='de'>1</b>",
    ],
)
def test_attributes_of_late_tags_count(page: str) -> None:
    """Of ``html`` and ``body`` behind what begins these elements, but not in comments, scripts."""
    assert said(page, HTML) == {f'<{URL}> <http://p.example/a> "1"@de'}


def test_the_type_of_a_late_body_is_not_lost() -> None:
    page = '<title>t</title><p>x</p><body itemscope itemtype="http://schema.org/WebPage">'
    assert [line.split(" ", 1)[1] for line in said(page, HTML)] == [
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/WebPage>"
    ]
