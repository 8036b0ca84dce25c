"""Topics given as words and phrases (sources.md K)."""

from __future__ import annotations

from typing import Self

from semcrawl.errors import UsageError
from semcrawl.topics.arguments import split_list
from semcrawl.topics.contract import STATEMENTS, TEXT
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.segmentation import words_of
from semcrawl.topics.weightedphrases import Phrase, WeightedPhrases


class Keywords(WeightedPhrases):
    """Texts that contain one of several words or phrases."""

    name = "keywords"
    needs = frozenset({TEXT, STATEMENTS})
    APART = 0.25

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read comma-separated words and phrases; raise ``UsageError`` for none."""
        queries = list(dict.fromkeys(split_list(argument)))
        if not queries:
            raise UsageError("name words or phrases, such as keywords:merge sort,quick sort")
        for query in queries:
            if not words_of(query):
                raise UsageError(f"{query!r} holds no word")
        return cls([Phrase(query) for query in queries], options)
