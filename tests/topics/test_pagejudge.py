"""A page is judged by what is its own, not by what its site repeats."""

from __future__ import annotations

import pytest

from semcrawl.links import ExtractionOptions, PageText, read_page
from semcrawl.links.pagetexts import OwnTexts, main_text
from semcrawl.topics import Document, about
from semcrawl.topics.about import PageJudge

SITE = "http://m.example/manual"
SUBJECTS = [f"subject{number}" for number in range(40)] + ["lyrics", "melodies"]
MENU = "<ul>{}</ul>".format("".join(f'<li><a href="{s}">All about {s}</a></li>' for s in SUBJECTS))
FRAMES = [
    "<nav>{menu}</nav>{text}",
    '<div role="navigation"><h3>Lyrics</h3>{menu}</div><main>{text}</main>',
    "<aside>{menu}</aside><article><header>{text}</header></article>",
    "<header>{menu}</header>{text}<footer>{menu}</footer>",
    '<div class="toc"><h3>Lyrics</h3>{menu}</div><div>{text}</div>',
    "<table><tr><td>{menu}<td>{text}</table>",
]


def text_of(body: str, title: str = "") -> PageText:
    page = f"<html><head><title>{title}</title></head><body>{body}</body></html>".encode()
    return read_page(page, SITE, "text/html; charset=utf-8", ExtractionOptions(text=10_000)).text


@pytest.mark.parametrize("frame", FRAMES)
def test_a_menu_on_all_pages_makes_none_of_them_relevant(frame: str) -> None:
    """Whatever it is made of, from the first page on; two pages of 42 are about the topic."""
    judge, kept = PageJudge(about("keywords:lyrics", {})), []
    for subject in SUBJECTS:
        text = f"<h1>On {subject}</h1><p>How to write {subject} is told here at length.</p>"
        text += "<p>See also <a href=x>lyrics</a> there.</p>" if subject == "melodies" else ""
        page = text_of(frame.format(menu=MENU, text=text), f"{subject} – Manual of lyrics")
        if judge.judge(f"{SITE}/{subject}", page).deciding >= 0.5:
            kept.append(subject)
    # a title may repeat the site's name: what the first pages have in common shows only later
    assert set(kept) - set(SUBJECTS[:3]) <= {"lyrics", "melodies"}
    assert "lyrics" in kept


def test_a_page_of_links_about_the_topic_guides_and_is_not_kept() -> None:
    links = "".join(f"<li><a href={n}>Lyrics and more lyrics {n}</a></li>" for n in range(30))
    page = text_of(f"<h1>Contents</h1><ul>{links}</ul><p>This is what there is, in one list.</p>")
    judged = PageJudge(about("keywords:lyrics", {})).judge(f"{SITE}/", page)
    assert judged.relevance >= 0.5 > judged.deciding
    titled = text_of(f"<h1>Lyrics</h1><ul>{links}</ul>", "Lyrics")
    assert PageJudge(about("keywords:lyrics", {})).judge(f"{SITE}/", titled).deciding >= 0.5


def test_topics_that_learn_see_each_page_once() -> None:
    class Counting:
        name, needs, takes_long, knows_words, learns = "c", frozenset({"text"}), False, False, True
        seen = 0

        def judge(self, document: Document):
            self.seen += 1
            return about("keywords:lyrics", {}).judge(document)

    topic = Counting()
    PageJudge(topic).judge(SITE, text_of(f"<h1>Lyrics</h1>{MENU}"))  # type: ignore[arg-type]
    assert topic.seen == 1


def test_headings_of_lists_and_names_of_sites_are_not_a_pages_own() -> None:
    """A folder's menu counts too, on a host with many; what differs stays."""
    texts, own = OwnTexts(), PageText()
    for n in range(30):
        folder = f"http://h.example/{n % 3}"
        page = PageText(f"Page {n} | The Site", f"Navigation\nHead {n}", f"Menu {n % 3}\nText {n}")
        own = texts.own(f"{folder}/{n}", page)
    assert own == PageText("Page 29", "Head 29", "Text 29")


def test_only_what_is_beside_the_content_is_the_text_if_there_is_nothing_else() -> None:
    assert text_of("<nav><a href=x>one</a></nav>").text == "one"
    links = "<p>text <a href=x>a</a></p><p><a href=x>b</a></p>"
    page = text_of(f"<h1>Head <a href=#h>¶</a></h1>{links}")
    assert page.headings == "Head"
    assert page.lists == {2}
    assert main_text(page).text == "Head ¶\ntext a"
