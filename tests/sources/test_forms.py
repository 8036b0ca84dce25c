"""Which forms are filled, and what is sent."""

from __future__ import annotations

import pytest

from semcrawl.errors import UsageError
from semcrawl.settings.reader import fill
from semcrawl.sources.forms import FormTable, form_links

PORTAL = "http://portal.example/data/"


def filled(html: str, most: int = 50, **values: list[str]) -> list[str]:
    table = FormTable({label.replace("_", " "): some for label, some in values.items()}, most)
    found = form_links(html.encode(), PORTAL, "text/html", table)
    assert all(link.found_by == "form" for link in found)
    return [link.url.removeprefix("http://portal.example") for link in found]


def test_each_row_of_values_gives_an_address() -> None:
    """Lists are filled by values or texts; hidden fields and the button are sent along."""
    html = """<form role=search action="find?old=1"><label for=w>Search words</label>
        <input id=w name=w>
        <input type=hidden name=v value=2><label>Format <select name=f><option value=all>All
        <option value=t>Turtle<option value=x>RDF/XML</select></label><select name=o><option>title
        <option selected>date</select><input type=checkbox name=c checked>
        <input type=checkbox name=d>
        <input type=radio name=r value=1><input type=radio name=r value=2 checked>
        <button name=go value=yes>Go</button><input type=submit name=b value=B></form>"""
    sent = "v=2&f={}&o=date&c=on&go=yes&r=2"
    assert filled(html, search=["blue cheese", "é"], format=["turtle", "x"]) == [
        f"/data/find?w={words}&{sent.format(form)}"
        for words in ("blue+cheese", "%C3%A9")
        for form in ("t", "x")
    ]
    assert len(filled(html, search=["a"], format=["*"])) == 3
    assert len(filled(html, most=4, search=list("abc"), format=["*"])) == 4
    assert filled(html, water=["a"]) == []


def test_any_field_for_words_is_one_that_looks_like_it() -> None:
    any_words = {"*": ["a"]}
    for html, count in (
        ("<form><input name=q></form>", 1),
        ("<form><input type=search name=zz></form>", 1),
        ("<form role=search><input name=zz></form>", 1),
        ("<form><input name=zz></form>", 0),
        ("<form><input name=q><input name=zz required></form>", 0),
    ):
        assert len(filled(html, **any_words)) == count, html


@pytest.mark.parametrize(
    "html",
    [
        "<form method=post><input name=q></form>",
        "<form method=dialog><input name=q></form>",
        "<form><input name=q><button formmethod=post>Go</button></form>",
        "<form><input name=q><button formaction=/other>Go</button></form>",
        "<form action=https://portal.example/><input name=q></form>",
        "<form action=//elsewhere.example/find><input name=q></form>",
        "<form action=javascript:x()><input name=q></form>",
        "<form action=//me@portal.example/><input name=q></form>",
        "<form><input name=q><input type=password name=p></form>",
        "<form><input name=q><input name=user-name></form>",
        "<form><input name=q><input type=email name=e></form>",
        "<form><input name=q><input type=file name=f></form>",
        "<form><input name=q autocomplete=name></form>",
        "<form><input name=q><input type=hidden name=csrf_token value=1></form>",
        "<form><input name=q disabled></form>",
        "<form>" + "<input name=q>" * 200 + "</form>",
    ],
)
def test_other_forms_are_never_filled(html: str) -> None:
    """Those that are posted, sent elsewhere, log in or belong to a person or a session."""
    assert filled(html, q=["a"]) == []
    assert filled("<form><input name=q></form>" + html, q=["a"]) == ["/data/?q=a"]


def test_nothing_is_filled_without_a_table() -> None:
    assert filled("<form><input name=q></form>") == []


def test_large_and_broken_pages_are_read_too() -> None:
    form = "<p>text " * 20_000 + "<form><label>Find<input name=x></form>"
    assert filled(form, find=["a"]) == ["/data/?x=a"]


@pytest.mark.parametrize("given", ["words", "[1]", {"q": 1}, {"q": [1]}])
def test_a_wrong_table_is_one_clear_line(given: object) -> None:
    with pytest.raises(UsageError, match="SEMCRAWL_FORMS"):
        fill(FormTable, {"SEMCRAWL_FORMS": given})
    assert fill(FormTable, {"SEMCRAWL_FORMS": '{"Search  Words": "a"}'}).values == {
        "search words": ["a"]
    }
