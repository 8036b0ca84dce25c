"""Links out of pages, whatever state they are in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcrawl.links import (
    ExtractionOptions,
    Link,
    address_of,
    extract_links,
    header_links,
    header_text,
    link_header,
    merge_links,
    metadata_links,
    refresh_target,
)

URL = "http://a.org/dir/page"


def links(body, content_type=None, **options):
    data = body.encode() if isinstance(body, str) else body
    return extract_links(data, URL, content_type, ExtractionOptions(**options))


def urls(body, content_type=None, **options):
    return [link.url for link in links(body, content_type, **options)]


def test_every_element_that_links_is_read():
    """Anchors, areas, link elements, frames and meta refresh give links, in document order."""
    found = links(
        '<link rel="alternate" type="Text/Turtle" href="l">'
        '<meta http-equiv="Refresh" content="5 ; URL=\'m\'">'
        '<a href="a">x</a><map><area href="r" alt="north"></map><iframe src="i"></iframe>'
    )
    assert [(x.element, x.url.removeprefix("http://a.org/dir/")) for x in found] == [
        ("link", "l"), ("meta", "m"), ("a", "a"), ("area", "r"), ("iframe", "i"),
    ]  # fmt: skip
    assert found[0].type == "text/turtle"
    assert found[3].anchor == "north"
    assert [x.position for x in found] == [0, 1, 2, 3, 4]
    assert urls('<frameset><frame src="f"></frameset>') == ["http://a.org/dir/f"]


@pytest.mark.parametrize("padding", ["", "<!-- " + "x" * 70_000 + " -->"], ids=["", "large"])
def test_links_of_drawings_and_embedded_documents(padding):
    """Anchors of SVG link by either attribute; what a drawing uses, and formulas, are no links."""
    body = (
        '<svg xmlns:xlink="http://www.w3.org/1999/xlink"><g><a xlink:href="1"><text>Tide</text></a>'
        '<A XLINK:HREF=" 2 "/></A><a href="3" xlink:href="x"></a><use xlink:href="#q"/>'
        '<use href="x.svg#q"/><image xlink:href="x.png"/></g></svg><a xlink:href="x">none</a>'
        '<object data="4" type="text/turtle"><a href="5">or</a></object><object>x</object>'
        '<embed src="6" type="application/rdf+xml"><math><mi xlink:href="x">a</mi></math>'
    )
    found = links(body + padding)
    assert [(x.element, x.url.rpartition("/")[2]) for x in found] == [
        ("a", "1"), ("a", "2"), ("a", "3"), ("object", "4"), ("a", "5"), ("embed", "6"),
    ]  # fmt: skip
    assert (found[0].anchor, found[3].type) == ("Tide", "text/turtle")


def test_a_link_tells_what_the_page_says_about_it():
    """Anchor text, title, the block's text around the anchor, and the path of tags."""
    [link] = links(
        '<div id="m" class="one two three"><p>Far away</p><p>Read <b>all</b> of '
        '<a href="x.rdf" title="The  data" rel="Alternate">my\n <i>profile</i></a> today</p></div>'
    )
    assert (link.anchor, link.title, link.rel) == ("my profile", "The data", "alternate")
    assert (link.before, link.after) == ("Read all of", "today")
    assert link.context == "Read all of today"
    assert link.tag_path == "html/body/div#m.one.two/p/a"


def test_a_bare_address_has_the_headings_above_it():
    """The last two, and a term or a caption among them; other links tell of themselves."""
    found = links(
        '<h1>All</h1><h2>Lists</h2><h3>Dates</h3><a href="http://a.org/1">http://a.org/1</a>'
        '<a href="2"></a><a href="3">Days</a><h2>Books</h2><a href="4">https://a.org/4</a>'
        '<dl><dt>Maps</dt><dd><a href="5">http://a.org/5</a></dd></dl>'
    )
    above = ["Lists Dates", "Lists Dates", "", "All Books", "Books Maps"]
    assert [link.heading for link in found] == above


def test_scripts_and_comments_are_no_text():
    """Invisible text is not part of a link's surroundings."""
    [link] = links("<p>a<script>evil()</script>b<!-- c --> <a href=x><img alt=pic></a></p>")
    assert (link.before, link.anchor) == ("a b", "pic")


def test_a_base_element_counts():
    """References are resolved against the first base with an address that is one."""
    assert urls('<base target="_top"><base href="/other/"><a href="x">') == ["http://a.org/other/x"]
    assert urls('<base href="mailto:x"><a href="x">') == ["http://a.org/dir/x"]
    assert urls(r'<base href="..\other\"><a href="x">') == ["http://a.org/other/x"]


def test_a_url_gives_one_link_with_all_its_evidence():
    """Occurrences of a URL are put together at the first one's place."""
    found = links('<a href="x"><img></a> <a href="y">Y</a> <a href="x#p" title="T">the data</a>')
    assert [(x.url[-1], x.anchor, x.title) for x in found] == [
        ("x", "the data", "T"),
        ("y", "Y", ""),
    ]


def test_the_first_links_count():
    """No more than max_links URLs are taken."""
    body = "".join(f'<a href="{n}">x</a>' for n in range(30))
    assert urls(body, max_links=7) == [f"http://a.org/dir/{n}" for n in range(7)]


@pytest.mark.parametrize(
    "charset", ["base64", "bz2", "hex", "idna", "punycode", "rot13", "undefined", "unicode_escape"]
)
def test_codecs_that_no_page_is_in_are_not_believed(charset):
    """Some would raise, and ``punycode`` take minutes for a page of a megabyte."""
    body = f"<meta charset={charset}><a href='/x'>größe</a><!--{'-a' * 100_000}".encode("cp1252")
    for header in (f"text/html; charset={charset}", "text/html"):
        assert [(link.url, link.anchor) for link in links(body, header)] == [
            ("http://a.org/x", "größe")
        ]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("header", [None, "text/html; charset=iso-8859-1", "text/html; charset=x"])
def test_wide_encodings_with_and_without_a_mark(encoding, header):
    """A page in UTF-16 or UTF-32 is read whatever the header says."""
    body = "<html><p>Ünder <a href='/é'>größe</a>".encode(encoding)
    [link] = links(body, header)
    assert (link.url, link.anchor, link.before) == ("http://a.org/%C3%A9", "größe", "Ünder")


@pytest.mark.parametrize("declared", ["utf-16", "iso-8859-1", "utf-8", "nonsense", "us-ascii"])
def test_a_header_that_lies_about_utf8(declared):
    """Valid UTF-8 is read as such."""
    [link] = links("<a href='/x'>größe</a>", f"text/html; charset={declared}")
    assert link.anchor == "größe"


@pytest.mark.parametrize("padding", ["", "<!-- " + "x" * 70_000 + " -->"], ids=["", "large"])
def test_utf8_is_not_believed_of_what_is_none(padding):
    """Servers say it of all their pages, older ones included: the page's own word counts."""
    body = f"<meta charset=iso-8859-1><a href='/Straße'>größe</a>{padding}".encode("cp1252")
    [link] = links(body, "text/html; charset=UTF-8")
    assert (link.url, link.anchor) == ("http://a.org/Stra%C3%9Fe", "größe")


@pytest.mark.parametrize("meta", ["", "<meta charset=utf-8>"])
def test_bytes_that_are_not_utf8_as_declared_are_lost(meta):
    """As in browsers: nothing says what else they may be."""
    body = f"{meta}<a href='/x'>größe</a>".encode("cp1252")
    [link] = links(body, "text/html; charset=UTF-8")
    assert (link.url, link.anchor) == ("http://a.org/x", "gr\ufffd\ufffde")


def test_another_encoding_of_a_page_counts_where_its_header_says_utf8():
    body = "<meta charset=windows-1251><a href='/л'>данные</a>".encode("cp1251")
    [link] = links(body, "text/html; charset=utf-8")
    assert (link.url, link.anchor) == ("http://a.org/%D0%BB", "данные")


def test_a_broken_letter_does_not_spoil_what_is_said_to_be_utf8():
    body = "<p>äöü <a href='/x'>größe</a>".encode() + b"\xff"
    [link] = links(body, "text/html; charset=utf-8")
    assert link.anchor == "größe"


def test_single_byte_pages():
    """Windows-1252 is read, declared or not; a few broken letters do not spoil a UTF-8 page."""
    body = "<a href='/x'>größe</a>".encode("cp1252")
    assert links(body)[0].anchor == links(body, "text/html; charset=latin-1")[0].anchor == "größe"
    assert links("<p>äöü <a href='/x'>größe</a>".encode() + b"\xff")[0].anchor == "größe"


@pytest.mark.parametrize("padding", ["", "<!-- " + "x" * 70_000 + " -->"], ids=["", "large"])
@pytest.mark.parametrize(
    ("charset", "query"),
    [
        ("utf-8", "%D0%BB%C3%A9"), ("windows-1251", "%EB%26%23233%3B"), ("gbk", "%A7%DD%A8%A6"),
        ("utf-16", "%D0%BB%C3%A9"), ("utf-16-le", "%D0%BB%C3%A9"),
    ],
)  # fmt: skip
def test_a_query_is_in_the_encoding_of_its_page(charset, query, padding):
    """The path is in UTF-8 everywhere; what an encoding has no sign for is named by its number."""
    start = f"<html><body class='of some length'><p>{'где ' * 9}"
    body = f"{start}<a href='/л?a=&q=л&#233;#л'>{padding}".encode(charset)
    expected = [f"http://a.org/%D0%BB?a=&q={query}"]
    assert urls(body, f"text/html; charset={charset}") == expected


@pytest.mark.parametrize("depth", [100, 1000, 3000, 20_000])
@pytest.mark.parametrize("tag", ["div", "span", "b", "table"])
def test_deep_nesting(depth, tag):
    """However deep its elements are nested, a page's links are found."""
    inside = f"<{tag}>" * depth + '<a href="deep">down</a> there' + f"</{tag}>" * depth
    found = links(f"<p>first <a href=x>one</a></p>{inside}<p><a href=y>last</a> one</p>")
    assert {link.url[-4:]: link.anchor for link in found} == {
        "ir/x": "one", "deep": "down", "ir/y": "last",
    }  # fmt: skip


@pytest.mark.parametrize(
    "soup",
    ["", "<", "<a", "<a href=", "\x00", "<a href='x", "<!--", "<![CDATA[", "<html></html></html>",
     "<?xml version='1.0'?>", "<!DOCTYPE"],
)  # fmt: skip
def test_a_page_that_breaks_off_has_no_link_that_it_did_not_finish(soup):
    assert urls(soup) == []


@pytest.mark.parametrize("padding", ["", "<!-- " + "x" * 70_000 + " -->"], ids=["", "large"])
@pytest.mark.parametrize(
    "rest",
    [
        "<a href=z>",
        "</body></html><p><a href=z>",
        "<html><body><a href=z></body></html>",
        "x <a href=z>",
    ],
)
def test_what_stands_behind_the_end_of_a_page_is_a_part_of_it(rest, padding):
    """Browsers show it, too."""
    page = "<html><body><p><a href=y>y</a></p></body></html>\n"
    assert urls(page + rest + padding) == ["http://a.org/dir/y", "http://a.org/dir/z"]


@pytest.mark.parametrize(
    "soup", ["\x00", "<html></html></html>", "<a href=x><a href=x><a href=x>", "<p></b></a></p>"]
)
def test_broken_markup_hides_no_link_behind_it(soup):
    assert "http://a.org/z" in urls(soup + "<a href='/z'>z</a>")


@given(st.binary(max_size=300), st.sampled_from([None, "text/html; charset=utf-16", "x"]))
def test_no_bytes_make_it_fail(body, content_type):
    """Any bytes give a list of well-formed links."""
    for position, link in enumerate(links(body + b"<a href=x>y</a>", content_type)):
        assert link.position == position
        assert link.url.startswith("http")


markup = st.lists(
    st.sampled_from(
        ["<div>", "</div>", "<p class='a b'>", "<a href='1'>", "<a href='2' title=t>", "</a>", "w ",
         "<table><tr><td>", "</table>", "<ul><li>", "<script>x</script>", "<b>", "</b>", "&amp;",
         "</body>", "</html>", "<html>", "<body>"]
    ),
    max_size=25,
).map("".join)  # fmt: skip


@given(markup)
def test_large_pages_are_read_as_small_ones(body):
    """The tree that is built for large pages gives the same links."""
    padded = body + "</p></table></div>" + "<!-- " + "x" * 70_000 + " -->"
    assert links(padded) == links(body + "</p></table></div><!-- x -->")


def test_hostile_pages_take_bounded_time():
    """Thousands of attributes, spaces or open elements do not stop the crawl."""
    attributes = " ".join(f"a{n}=1" for n in range(60_000))
    assert urls(f"<a {attributes} href='/x'>x</a>") == ["http://a.org/x"]
    refresh = "<meta http-equiv=refresh content='" + " " * 5000 + "'>"
    assert urls(refresh * 300) == []
    assert len(urls("<div><a href='/p'>a <b>" * 4000)) == 1


@pytest.mark.slow
def test_ten_megabytes():
    """A page of 10 MB gives its first links."""
    body = b"".join(b"<p>words <a href='/p/%d'>page</a> words</p>" % n for n in range(230_000))
    assert len(body) > 9_000_000
    assert len(links(body)) == 10_000


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('<x.ttl>; rel="alternate"; type=text/turtle', [("x.ttl", "alternate", "text/turtle")]),
        ('<a>; rel=next, <b>;rel="prev up"', [("a", "next", ""), ("b", "prev up", "")]),
        ('<a,b;c>; title="x, <y>"', [("a,b;c", "", "")]),
        ('<a>; REL="Alternate" ; Type = Text/Turtle ', [("a", "alternate", "text/turtle")]),
        ("<a>; rel=next; rel=prev", [("a", "next", "")]),
        (
            r'<a>; title="\"x\", y"; type=text/turtle, <b>',
            [("a", "", "text/turtle"), ("b", "", "")],
        ),
        ("<a>;; ; rel=next;, <b>;", [("a", "next", ""), ("b", "", "")]),
        ('<a>; title="open; rel=next, <b>; rel=up', [("a", "next", ""), ("b", "up", "")]),
        ('<a>; rel=next <b>; rel="up"', [("a", "next", ""), ("b", "up", "")]),
        ("<a>; rel=next\", <b>; rel='up'", [("a", "next", ""), ("b", "'up'", "")]),
        ('<a> rel="describedby" type="text/turtle"', [("a", "describedby", "text/turtle")]),
        ('<a>; type="Text/Turtle; charset=utf-8"; rel=x', [("a", "x", "text/turtle")]),
        ("<a>; rel*=UTF-8''next; rel=x, <b>; rel*=odd", [("a", "next", ""), ("b", "odd", "")]),
        ("<a\n>; rel\t=\tnext\n,\n<b>", [("a", "next", ""), ("b", "", "")]),
        ("<a>" + ";" * 15_000, [("a", "", "")]),
        ("nonsense, <mailto:x>, <#y>", []),
        ("<a", []),
    ],
)
def test_link_headers(header, expected):
    """HTTP Link headers give links with their parameters; what is malformed is passed over."""
    found = [(x.url, x.rel, x.type) for x in header_links(header, "http://a.org/")]
    assert found == [(f"http://a.org/{name}", rel, kind) for name, rel, kind in expected]


def test_header_links_come_first():
    """Links of the headers stand before those of the page."""
    found = extract_links(b"<a href=b>", "http://a.org/", link_headers=["<a>; rel=x"])
    assert [(x.url, x.element) for x in found] == [
        ("http://a.org/a", "header"), ("http://a.org/b", "a"),
    ]  # fmt: skip


def test_a_page_that_is_also_prefetched_is_a_page():
    """A ``<link>`` that preloads a page does not speak against an anchor to it."""
    body = b"<link rel='next prefetch' href=/two><link rel=icon href=/i><p><a href=/two>next</a>"
    assert [(x.element, x.anchor, x.rel) for x in extract_links(body, "http://a.org/")] == [
        ("a", "next", ""), ("link", "", "icon"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "of_other", "of_rdf"),
    [
        ({"type": "text/turtle"}, True, False),
        ({"rel": "describedby"}, True, True),
        ({"rel": "up meta", "type": "application/json"}, True, True),
        ({"rel": "describedby", "type": "text/turtle"}, True, True),
        ({"rel": "describedby", "type": "text/html"}, False, False),
        ({"rel": "next", "type": "text/csv"}, False, False),
        ({}, False, False),
    ],
)
def test_what_headers_name_as_rdf_about_something(said, of_other, of_rdf):
    """Of an RDF document only descriptions count: its other forms say the same again."""
    link = Link("http://a.org/x", element="header", **said)
    assert bool(metadata_links([link], rdf=False)) == of_other
    assert bool(metadata_links([link], rdf=True)) == of_rdf


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("5; url=/x", "/x"),
        ("0;URL='/x?a=1;b'", "/x?a=1;b"),
        ('1.5 , url = "/x"', "/x"),
        ("url=/x", "/x"),
        ("5", None),
        ("5; /x", "/x"),
        ("0; url=/o'reilly/x", "/o'reilly/x"),
        ('0; url="/it\'s" onclick', "/it's"),
        ("5;", None),
        ("5; url=''", None),
        ("soon; /x", None),
        ("", None),
    ],
)
def test_where_a_refresh_leads(value, target):
    assert refresh_target(value) == target


def test_texts_of_link_headers():
    """A title may name its encoding; of Latin-1 the text is read, and an address stays as it is."""
    header = "<a>; title*=iso-8859-1'de'Gr%F6%DFe; title=x, <b>; title*=UTF-8''%e2%82%ac"
    assert [x.title for x in header_links(header, "http://a.org/")] == ["Größe", "€"]
    [found] = header_links(link_header(b'<caf\xe9?\xe8>; title="caf\xe9"'), "http://a.org/")
    assert (found.url, found.title) == ("http://a.org/caf%E9?%E8", "café")
    [found] = header_links(link_header('<café>; title="café"'.encode()), "http://a.org/")
    assert (found.url, found.title) == ("http://a.org/caf%C3%A9", "café")


@pytest.mark.parametrize(
    ("value", "text"),
    [(b"/caf\xc3\xa9.ttl", "/café.ttl"), (b"/caf\xe9.ttl", "/café.ttl"), (b"/a", "/a")],
)
def test_headers_in_two_encodings(value, text):
    """An address in a header is UTF-8, or else Latin-1."""
    assert header_text(value) == text
    assert address_of(value) == text.replace("é", "é" if "é".encode() in value else "%E9")


def test_occurrences_of_a_url_lend_each_other_what_they_say():
    """Texts around a link are those of the first occurrence that has one of its own."""
    url = "http://a.org/"
    image = Link(url, before="far", after="away", type="text/html")
    text = Link(url, anchor="the data", title="T", rel="home", before="Read", index="index.html")
    again = Link(url, anchor="the data", title="more", before="not this")
    [merged] = merge_links([image, text, again], 10)
    assert merged == Link(
        url, anchor="the data", title="T more", type="text/html", rel="home", before="Read",
        index="index.html",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("first", "kept"),
    [
        (Link("http://a.org/", element="link", rel="preload"), "a"),
        (Link("http://a.org/", element="link", rel="alternate"), "link"),
        (Link("http://a.org/", element="area", rel="preload"), "area"),
    ],
)
def test_only_a_resource_of_the_page_gives_way_to_an_anchor(first, kept):
    [merged] = merge_links([first, Link("http://a.org/", anchor="text")], 10)
    assert (merged.element, merged.anchor) == (kept, "text")


def test_a_url_that_is_a_resource_wherever_it_occurs_stays_one():
    resource = Link("http://a.org/", element="link", rel="icon")
    assert merge_links([resource, resource], 10) == [resource]


def test_links_that_are_known_are_left_out_and_keep_their_places():
    """The others' evidence is what it would be."""
    body = b"<a href=/a>a</a><a href=/b>b</a><a href=/c>c</a>"
    found = extract_links(body, "http://a.org/", known=lambda url: url.endswith("/b"))
    assert [(x.url, x.anchor) for x in found] == [("http://a.org/a", "a"), ("http://a.org/c", "c")]


@given(st.lists(st.builds(Link, st.sampled_from("abcdef")), max_size=20), st.integers(0, 6))
def test_merged_links_are_numbered_and_unique(found, limit):
    """Merging keeps the order of first occurrence, each URL once, up to the limit."""
    merged = merge_links(found, limit)
    assert [x.url for x in merged] == list(dict.fromkeys(x.url for x in found))[:limit]
    assert [x.position for x in merged] == list(range(len(merged)))
