"""The text, title and language of a page, by whichever parser it is read."""

import sys

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from semcrawl.links import ExtractionOptions, PageText, read_page, trees
from semcrawl.links.pagetexts import (
    SILENT,
    joined,
    page_content,
    page_text,
    waits_for_scripts,
)

URL = "http://a.example/"
TEXT = ExtractionOptions(text=100_000)
TAGS = st.sampled_from(["p", "b", "div", "script", "ul"])
PARAGRAPH = "Fish stocks in the northern sea have been counted every year since 1950. " * 2


@pytest.fixture(params=["small", "large"])
def parsed(request, monkeypatch):
    monkeypatch.setattr(trees, "_LARGE", 1 << 30 if request.param == "small" else -1)


def text_of(body: str) -> PageText:
    return read_page(body.encode(), URL, "text/html; charset=utf-8", TEXT).text


@pytest.mark.usefixtures("parsed")
def test_the_visible_text_is_read_and_nothing_else():
    page = text_of(
        "<html lang=EN-gb><head><title>A <b>page</title><style>p{}</style></head><body>"
        "<h1>Fish</h1>one<td>two</td><script>three</script><noscript>four</noscript>"
        "<template>five</template><!-- six --><p>se<b>ven</b></p> eight</body></html>"
    )
    assert page.language == "en-gb"
    assert page.headings == "Fish"
    assert page.title == "A <b>page"
    assert page.text == "Fish\none\ntwo\nse ven\neight"


@pytest.mark.parametrize("silent", ["<p>no</p>", "no <b>no</b> no", "no<!-- no -->no", "no"])
@pytest.mark.parametrize("tag", [*SILENT, "title"])
def test_the_text_of_a_tree_is_that_of_its_visible_parts(tag, silent):
    """Trees of XML as well, in which a script may hold elements."""
    inner = f"<{tag}>{silent}</{tag}>"
    root = etree.fromstring(f"<html><body>a {inner}<p>b{inner}c</p>{inner} d</body></html>")
    assert page_text(root, 1000).text.split() == ["a", "b", "c", "d"]


@given(
    st.lists(st.text(st.sampled_from("ab \n\t\x1c\x85\xa0\u2003\u3000é"), max_size=6), max_size=6)
)
def test_white_space_is_folded_however_the_pieces_come(pieces):
    """As a list, or one after the other."""
    words = " ".join(pieces).split()
    assert joined(pieces, 1000) == joined(iter(pieces), 1000) == " ".join(words)


@pytest.mark.usefixtures("parsed")
def test_text_is_bounded():
    body = f"<title>{'t ' * 9999}</title><h1>h</h1>" + "<p>word</p>" * 9999
    page = read_page(body.encode(), URL, None, ExtractionOptions(text=1000)).text
    assert 990 <= len(page.text) <= 1000
    assert len(page.title) <= 200


def test_without_being_asked_for_no_text_is_read():
    assert read_page(b"<p>text</p>", URL).text == PageText()


@pytest.mark.usefixtures("parsed")
@given(
    st.recursive(
        st.sampled_from(["alpha", "beta", "gamma delta", ""]),
        lambda inner: st.builds(
            "<{0}>{1}</{0}>{2}".format,
            st.sampled_from(["p", "b", "div", "script", "ul"]),
            inner,
            inner,
        ),
        max_leaves=12,
    )
)
def test_the_words_are_those_that_another_reader_sees(body):
    tree = html5lib.parse(f"<body>{body}</body>", namespaceHTMLElements=False)
    for script in tree.iter("script"):
        script.text = ""
    seen = "".join("".join(tree.itertext()).split())
    assert "".join(text_of(f"<body>{body}</body>").text.split()) == seen


@pytest.mark.parametrize(
    ("head", "before", "title"),
    [
        ("<title>Site - Herring</title>", "<h1>Herring</h1><p>by A. Writer</p>", "Herring"),
        ("<title>Welcome</title>", "<center><b>Counting fish</b></center>", "Welcome"),
        ("", "<h1>A long title<br>of two lines</h1><div>1 May</div>", "A long title of two lines"),
        (
            "",
            "<h2>News</h2><p class=headline style='font-size:24px'>Cod is back</p>",
            "Cod is back",
        ),
        ("<title>Only this</title>", "<p>home</p>", "Only this"),
        ("", "<h1><a href=/>The site</a></h1><h2>The page</h2>", "The page"),
        ("", "", ""),
    ],
)
def test_the_title_is_the_block_before_the_first_paragraph_that_looks_most_like_one(
    head, before, title
):
    page = page_content(
        f"<html><head>{head}</head><body>{before}<p>{PARAGRAPH}</p><h1>Later</h1></body>".encode()
    )
    assert page.title == title


def test_the_main_text_has_no_navigation(monkeypatch):
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    text = f"<p>{PARAGRAPH}</p><p>More.</p>"
    body = f"<ul><li><a href=1>Home</a></ul>{text}<div><a href=2>Next</a></div>"
    assert page_content(body.encode()).text == f"{PARAGRAPH.strip()}\nMore."


def test_the_library_finds_the_same_paragraphs():
    pytest.importorskip("trafilatura")
    body = f"<body><nav><a href=1>Home</a></nav><article><p>{PARAGRAPH}</p></article></body>"
    assert PARAGRAPH.strip() in page_content(body.encode()).text


@given(st.binary(max_size=200))
def test_no_body_is_an_error(body):
    page_content(body)


@pytest.mark.parametrize(
    ("head", "heading", "title"),
    [
        ("<title>Lyrics - Manual</title>", "<h3>Navigation</h3>", "Lyrics - Manual"),
        ("<title>Lyrics - Manual</title>", "<h3>Navigation</h3><h1>Lyrics<a>¶</a></h1>", "Lyrics"),
        ("<meta property='og:title' content='Song'>", "<h1>Menu</h1>", "Song"),
        ("", "<h1>Lyrics ¶</h1>", "Lyrics"),
    ],
)
def test_a_title_by_its_look_must_be_in_the_one_that_the_page_gives(head, heading, title):
    page = f"<html><head>{head}</head><body>{heading}<p>{PARAGRAPH}</p></body></html>"
    assert page_content(page.encode()).title == title


@pytest.mark.parametrize("deep", [0, 300])
def test_many_parts_beside_the_content_cost_what_they_are(deep: int) -> None:
    """Each is looked at once, though there may be as many headings in them (quadratic, if not)."""
    many = "<nav><h1>menu</h1></nav>" * 15_000
    body = "<div>" * deep + many + "<main><header><h1>own</h1></header><p>text</p></main>"
    text = read_page(body.encode(), URL, "text/html", TEXT).text
    assert (text.headings, text.text) == ("own", "own\ntext")


@pytest.mark.usefixtures("parsed")
@pytest.mark.parametrize(
    ("waits", "body"),
    [
        (True, "<div id=app></div><script src=/a.js></script>"),
        (True, "<title>Long</title><div>Loading</div><script type=module src=/a.js></script>"),
        (True, f"<noscript>{PARAGRAPH}</noscript><script>go()</script>"),
        (True, f"<p>{PARAGRAPH}</p><script>add('application/LD+JSON')</script>"),
        (False, f"<p>{PARAGRAPH}</p><script src=/count.js></script>"),
        (False, f"<p>{PARAGRAPH}</p>"),
        (False, "<p>short</p>"),
        (False, '<script type="application/ld+json">{}</script>'),
        (False, '<p>short</p><script type="text/template"><p>ld+json</p></script>'),
        (
            False,
            f"<p>{PARAGRAPH}</p><script>see('ld+json')</script>"
            '<script type="application/ld+json">{}</script>',
        ),
        (False, ""),
    ],
)
def test_pages_that_wait_for_their_scripts_are_told_apart(waits: bool, body: str):
    assert waits_for_scripts(body.encode(), "text/html") is waits
