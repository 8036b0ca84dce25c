"""Topics of words and phrases, in pages and in the literals of RDF."""

import pytest

from semcrawl.topics import Document, about
from semcrawl.topics.texts import Passage, Role, passages
from semcrawl.web.vocabulary import Kind

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"


def page(text: str = "", title: str = "", headings: str = "", language: str = "") -> Document:
    return Document("http://a.example/", Kind.HTML, title, headings, text, language)


def relevance(spec: str, document: Document) -> float:
    return about(spec, {}).judge(document).relevance


def test_a_page_that_names_no_keyword_is_not_relevant():
    """No word, no relevance; and no reasons."""
    judgement = about("keywords:merge sort", {}).judge(page("about fish", "Fish"))
    assert (judgement.relevance, judgement.reasons) == (0.0, ())


def test_title_heading_and_text_count_in_that_order():
    """And together more than each alone."""
    title = relevance("keywords:merge sort", page("…", title="The merge sort"))
    heading = relevance("keywords:merge sort", page("…", headings="Quick sort\nMerge sort"))
    long = "word " * 3000
    text = relevance("keywords:merge sort", page(f"merge sort {long}"))
    assert title > heading > text > 0
    both = page(f"merge sort {long}", title="merge sort")
    assert relevance("keywords:merge sort", both) > title


def test_density_decides_in_a_text():
    """Once in 500 words is about a half; more often is more, in a longer text less."""
    filler = "word " * 498
    once = relevance("keywords:merge sort", page(f"{filler} merge sort"))
    assert once == pytest.approx(0.5)
    assert relevance("keywords:merge sort", page(f"{filler} merge sort, merge sort")) > once
    assert relevance("keywords:merge sort", page(f"{filler * 10} merge sort")) < once / 3


def test_words_apart_count_less_than_a_phrase():
    """All of its words have to be there."""
    filler = "word " * 400
    phrase = relevance("keywords:merge sort", page(f"merge sort {filler}"))
    apart = relevance("keywords:merge sort", page(f"merge {filler} sort"))
    assert phrase > apart > 0
    assert relevance("keywords:merge sort", page(f"merge {filler}")) == 0


def test_the_best_of_several_keywords_counts():
    """Commas separate them; one in quotes may hold a comma."""
    one = page("merge sort")
    assert relevance("keywords:heap sort,merge sort", one) == relevance("keywords:merge sort", one)
    assert relevance('keywords:"sort, merge"', page("sort (merge)")) > 0.5


def test_words_are_compared_by_their_stems_where_the_language_is_known():
    """And as they are written where it is not."""
    assert relevance("keywords:sorting algorithm", page("sorted by algorithms", language="")) == 0
    assert relevance("keywords:sorting algorithm", page("sort algorithms", language="en-US")) > 0.5
    assert relevance("keywords:Fischerei", page("der Fischereien", language="de")) > 0.5
    assert relevance("keywords:漁業", page("日本の漁業の歴史", language="ja")) > 0.5


def test_literals_of_rdf_count_as_texts():
    """Labels as headings; IRIs and numbers not at all; escapes as what they stand for."""
    lines = [
        f'<http://a.example/1> <{LABEL}> "Merge\\nsort"@en .\n'.encode(),
        b'<http://a.example/1> <http://a.example/p> "quick\\u002Dsort \\"x\\"" <http://g> .\n',
        b"<http://a.example/heap> <http://a.example/p> <http://a.example/heap> .\n",
        b'<http://a.example/1> <http://a.example/p> "77"^^<http://a.example/int> .\n',
    ]
    rdf = Document("http://a.example/", Kind.RDF, statements=lambda: lines)
    assert passages(rdf, 10_000) == [
        Passage(Role.HEADING, "en", "Merge\nsort"),
        Passage(Role.BODY, "", 'quick-sort "x"'),
    ]
    assert relevance("keywords:merge sort", rdf) == pytest.approx(0.6)
    assert relevance("keywords:quick sort", rdf) > 0.5
    assert relevance("keywords:heap,77,u002", rdf) == 0


def test_reasons_say_where_the_words_stand():
    """The weightiest place comes first."""
    judgement = about("keywords:sort", {}).judge(page("a sort", title="Sort"))
    assert judgement.reasons == (
        ("sort", "1 × in the title of 1 words"),
        ("sort", "1 × in the text of 2 words"),
    )


def test_a_large_page_is_read_in_part():
    """The first characters, by a setting."""
    topic = about("keywords:sort", {"SEMCRAWL_ABOUT_MAX_SIZE": 1000})
    assert topic.judge(page("word " * 1000 + "sort")).relevance == 0


def test_link_texts_are_near_by_their_words():
    """A whole phrase is 1, some of its words less, none 0; names of properties are taken apart."""
    topic = about("keywords:merge sort,fish", {})
    assert topic.similarity("How merge sort works") == 1
    assert topic.similarity("sort of") == 0.25
    assert topic.similarity("news") == 0
    assert topic.similarity("fishes", "en") == 1
    assert topic.iri_similarity("http://a.example/ns#MergeSort") == 1
