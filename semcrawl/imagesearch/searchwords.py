"""Words of texts and queries as the full-text index holds them.

A text's words are stems, where its language has a stemmer. A query's language is not known: each of
its words stands for its stems in all languages of the crawl, and for itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from semcrawl.topics.segmentation import stop_words, words_of

#: words of a query that are looked at
MAX_QUERY_WORDS = 32


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word that was asked for."""

    #: folded, as it was typed
    word: str
    #: how the index may hold it
    tokens: tuple[str, ...]


def text_tokens(text: str, language: str) -> list[str]:
    """Return the words of a text for the index."""
    return words_of(text, language)


def query_words(text: str, languages: Sequence[str]) -> list[QueryWord]:
    """Return the words of a query, each once; stop words only where it has no others."""
    plain = list(dict.fromkeys(words_of(text)))[:MAX_QUERY_WORDS]
    telling = [word for word in plain if not _is_stop_word(word, languages)]
    return [
        QueryWord(word, tuple(dict.fromkeys(_stems(word, languages)))) for word in telling or plain
    ]


def _stems(word: str, languages: Sequence[str]) -> Iterable[str]:
    yield word
    for language in languages:
        yield from words_of(word, language)


def _is_stop_word(word: str, languages: Sequence[str]) -> bool:
    return any(set(words_of(word, language)) <= stop_words(language) for language in languages)
