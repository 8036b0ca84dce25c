"""The links of a page are those that independent readers find, whatever its size and markup."""

import html5lib
import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from semcrawl.links import extract_links, read_page, trees
from semcrawl.links.trees import parse_large
from semcrawl.web.urls import Resolver

URL = "http://a.org/dir/page"
PADDING = "<!-- " + "x" * 70_000 + " -->"
#: where elements of a page lead
PLACES = {
    "a": "href", "area": "href", "link": "href", "iframe": "src", "frame": "src",
    "object": "data", "embed": "src",
}  # fmt: skip


def links(body: str) -> list:
    return extract_links(body.encode(), URL, "text/html; charset=utf-8")


def urls(body: str) -> set[str]:
    return {link.url for link in links(body)}


def resolved(found) -> set[str]:
    """Return the addresses that elements lead to, as the crawl writes them."""
    resolver = Resolver(URL, encoding="utf-8")
    targets = {
        resolver.resolve(element.get(PLACES[element.tag]))
        for element in found
        if element.tag in PLACES and element.get(PLACES[element.tag]) is not None
    }
    return {target for target in targets if target is not None}


def urls_of_lxml(body: str) -> set[str]:
    parser = lxml.html.HTMLParser(encoding="utf-8")
    return resolved(lxml.html.document_fromstring(body.encode(), parser=parser).iter())


def urls_of_html5lib(body: str) -> set[str]:
    """Return what an implementation of HTML's own algorithm finds."""
    page = html5lib.parse(body, treebuilder="etree", namespaceHTMLElements=False)
    return resolved(page.iter())


#: what has been met in names of tags: namespaces of Word and of social networks, addresses of data,
#: code of other languages; none of it may cost a link
odd_names = [
    "o:p", "fb:like", "foaf:name", "http:", "http://example.org/", "x{y", "x}y", "x&y", "x'y",
    'x"y', "x=y", "x\x01y", "x\x7fy", "x\uffffy", "xä", "string,", "t;", "a.b", "a-b", "a:b:c",
    "p:",
]  # fmt: skip


@pytest.mark.parametrize("padding", ["", PADDING], ids=["", "large"])
@pytest.mark.parametrize("name", odd_names)
def test_no_name_of_a_tag_costs_links(name, padding):
    body = f"<p>a <a href=1>one</a> <{name} class=c>b</{name}> <a href=2>two</a> c</p>{padding}"
    found = links(body)
    assert [(x.url[-1], x.anchor, x.before, x.after) for x in found] == [
        ("1", "one", "a", "b two c"), ("2", "two", "a one b", "c"),
    ]  # fmt: skip
    assert {x.url for x in found} == urls_of_lxml(body)


@pytest.mark.slow
@pytest.mark.parametrize("padding", ["", PADDING], ids=["", "large"])
@pytest.mark.parametrize("sign", [*map(chr, range(1, 32)), "\x7f", "\x80", "\ufffe", "\ud7ff"])
def test_no_character_costs_links(sign, padding):
    """Wherever it stands: in texts, in attributes, in names of attributes, in comments."""
    body = (
        f"<p {sign}x=1 title='{sign}'>a{sign}b <a href=1 title='{sign}'>o{sign}e</a>"
        f"<!-- {sign} --><a href=2>{sign}</a></p>{padding}"
    )
    assert urls(body) == {"http://a.org/dir/1", "http://a.org/dir/2"}


@pytest.mark.parametrize("padding", ["", PADDING], ids=["", "large"])
@pytest.mark.parametrize("zeros", [1, 20])
def test_a_page_with_bytes_of_value_zero(zeros, padding):
    page = "\0" * zeros + f"<a href=1>a\0b</a>\0<a href=2\0>c</a>{padding}"
    assert urls(page) == {"http://a.org/dir/1", "http://a.org/dir/2"}


soup = st.lists(
    st.sampled_from(
        ["<div>", "</div>", "<p class='a b'>", "<a href='1'>", "<a href=2 title=t>", "</a>", "w ",
         "<a href='3", "'>", '">', "<table><tr><td>", "</table>", "<ul><li>", "<b>", "</b>",
         "&amp;",
         "<o:p>", "</o:p>", "<o:p/>", "<http://x.org/y>", "<x{y>", "</x{y>", "<>", "</>", "<1>",
         "<",
         "<!-- c -->", "<!x>", "<?x y?>", "\x02", "<a \x03 href=4>", "<script>x < y</script>",
         "<iframe src=5></iframe>", "<link href=6>", "<area href=7>", "<a href=8 href=9>", "<br/>"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(soup)
def test_soups_give_what_independent_readers_find(body):
    """Both trees, ours and the one of libxml2, against lxml.html and html5lib."""
    body = f"<!DOCTYPE html><title>t</title><a href=0>first</a>{body}'\"><p>"
    found = urls(body)
    assert found == urls(body + PADDING) == urls_of_lxml(body)
    assert found == urls_of_html5lib(body)


@given(soup)
def test_soups_are_read_the_same_however_large_the_page_is(body):
    """Not only the links, but all that is said of them."""
    body += "'\"></p></table></div>"
    assert links(body + PADDING) == links(body + "<!-- x -->")


@given(st.text(st.sampled_from("<>/a='\" :hrefbxo-!?&;\x01\0é"), max_size=60))
def test_signs_of_markup_in_any_order(text):
    small, large = (
        links(f"<p>{text}'\"-->{padding}<a href=z>z</a>") for padding in ("<!-- x -->", PADDING)
    )
    assert small == large


def test_a_page_that_the_parser_gives_up_says_so(monkeypatch):
    """Its links up to there are kept."""

    def broken(data, parser):
        parser.feed(data)
        parser.target.close()
        raise etree.LxmlError("no more")

    body = b"<a href=1>one</a><a href=2>" + PADDING.encode()
    monkeypatch.setattr("semcrawl.links.trees._feed", broken)
    found = read_page(body, URL)
    assert [x.url[-1] for x in found.links] == ["1", "2"]
    assert found.fault == "the page is not read to its end: no more"


def test_a_page_of_too_many_elements_says_so(monkeypatch):
    monkeypatch.setattr("semcrawl.links.trees._MAX_ELEMENTS", 6)
    body = b"<p>" + b"".join(b"<a href=%d>x</a>" % n for n in range(9)) + PADDING.encode()
    found = read_page(body, URL)
    assert [x.url[-1] for x in found.links] == ["0", "1", "2"]
    assert found.fault == "only the first 6 elements of the page are read"


@pytest.mark.parametrize("body", [b"", b" \n", b"<!-- only this -->", b"<!DOCTYPE html>"])
@pytest.mark.parametrize("large", [False, True])
def test_a_page_without_elements_is_no_fault(body, large):
    root, fault = parse_large(body) if large else trees._parse(body)
    assert root is None or not list(root.iter("a"))
    assert fault == ""
