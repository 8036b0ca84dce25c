"""A topic that the words of the first results widen."""

from __future__ import annotations

import pytest

from semcrawl.errors import UsageError
from semcrawl.topics import Document, about
from semcrawl.web.vocabulary import Kind
from tests.topics.test_examples import COD, CODE, FOOD, MUSIC, SALMON, SHARK, TUNA, page

FISH = "keywords:tuna,cod,salmon"
WIDEN = {"SEMCRAWL_ABOUT_WIDEN": 3}


def test_texts_like_the_first_results_are_about_the_topic_too() -> None:
    """A text without one of the keywords has the words that the first results share."""
    plain, widened = about(FISH, {}), about(FISH, WIDEN)
    assert plain is not None
    assert widened is not None
    for text in (CODE, TUNA, MUSIC, COD):
        assert widened.judge(page(text)).relevance == plain.judge(page(text)).relevance
    assert widened.judge(page(SHARK)).relevance == 0
    for text in (SALMON, FOOD):
        widened.judge(page(text))
    assert plain.judge(page(SHARK)).relevance == 0
    assert widened.judge(page(SHARK)).relevance > 0.5
    assert "first results" in dict(widened.judge(page(SHARK)).reasons)
    assert all(widened.judge(page(text)).relevance < 0.3 for text in (CODE, MUSIC, FOOD))
    assert widened.similarity("ocean", "en") > 0.5 > plain.similarity("ocean", "en")


def test_later_results_do_not_widen_it_further() -> None:
    """Else a topic drifts from text to text."""
    widened = about(FISH, WIDEN)
    assert widened is not None
    for text in (TUNA, COD, SALMON):
        widened.judge(page(text))
    before = widened.judge(page(SHARK)).relevance
    for _ in range(3):
        widened.judge(page(f"tuna {MUSIC}", "tuna"))
    assert widened.judge(page(MUSIC)).relevance < 0.3
    assert widened.judge(page(SHARK)).relevance == pytest.approx(before, abs=0.1)


def test_documents_without_words_widen_nothing_and_topics_without_words_are_refused() -> None:
    """RDF without literals has no text, and `new` compares no words."""
    widened = about("vocabulary:foaf:", {"SEMCRAWL_ABOUT_WIDEN": 1})
    assert widened is not None
    line = b"<http://a.example/i> <http://xmlns.com/foaf/0.1/knows> <http://a.example/j> .\n"
    document = Document("http://a.example/", Kind.RDF, statements=lambda: [line])
    assert [widened.judge(document).relevance for _ in range(2)] == [1, 1]
    with pytest.raises(UsageError, match="new knows no words"):
        about("new", WIDEN)
