"""Topics of words and phrases (sources.md K)."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Self

from semcrawl.errors import UsageError
from semcrawl.topics.arguments import split_list
from semcrawl.topics.contract import STATEMENTS, TEXT, Document, Judgement
from semcrawl.topics.nearness import Nearness
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.passages import Role, passages
from semcrawl.topics.phrases import PhraseFinder, Words
from semcrawl.topics.segmentation import primary, stemmer_of, words_of


class Keywords(Nearness):
    """Texts with one of several words or phrases in them.

    The relevance is that of the phrase that fits best. A phrase in the title counts 0.9, in a
    heading 0.6, and in the text by how often it stands there for the length: once in
    :attr:`COMMON_LENGTH` words is ½ (the term-frequency part of BM25, Robertson and Zaragoza 2009).
    What each place says adds up as independent chances do.
    """

    name = "keywords"
    needs = frozenset({TEXT, STATEMENTS})
    #: relevance for a phrase in a title or heading
    BY_ROLE: ClassVar = {Role.TITLE: 0.9, Role.HEADING: 0.6}
    #: words of a text in which one phrase gives ½
    COMMON_LENGTH = 500
    #: how far the length of a text counts, from 0 to 1 (BM25's ``b``)
    BY_LENGTH = 0.75
    #: what all words of a phrase count that stand apart, for each time that they all do
    APART = 0.25

    def __init__(self, queries: list[str], options: TopicOptions) -> None:
        """Take words and phrases."""
        super().__init__()
        self._queries = queries
        self._options = options
        self._by_language: dict[str, tuple[dict[Words, str], PhraseFinder[str]]] = {}

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read words and phrases with commas between them; raise ``UsageError`` for none."""
        queries = list(dict.fromkeys(split_list(argument)))
        if not queries:
            raise UsageError("name words or phrases, keywords:merge sort,quick sort say")
        for query in queries:
            if not words_of(query):
                raise UsageError(f"{query!r} holds no word")
        return cls(queries, options)

    def judge(self, document: Document) -> Judgement:
        """Count the phrases in each place of a document."""
        missed: dict[str, float] = {}  # by phrase: the chance that the document is about else
        rows: list[tuple[float, str, str]] = []
        for passage in passages(document, self._options.max_size):
            words = words_of(passage.text, passage.language)
            for query, times in self._times(words, passage.language).items():
                weight = self._weight(passage.role, times, len(words))
                missed[query] = missed.get(query, 1.0) * (1 - weight)
                where = f"{times:g} times in the {passage.role} of {len(words)} words"
                rows.append((weight, query, where))
        best = 1 - min(missed.values(), default=1.0)
        rows.sort(key=lambda row: -row[0])
        return Judgement.of(best, [(query, where) for _, query, where in rows])

    def _times(self, words: list[str], language: str) -> dict[str, float]:
        """Count how often each phrase stands in a text."""
        phrases, finder = self._phrases(language)
        counts = finder.count(words)
        times = {phrases[phrase]: float(count) for phrase, count in counts.items()}
        there = set(words)
        several = [phrase for phrase in phrases if len(phrase) > 1 and there.issuperset(phrase)]
        if several:
            each = Counter(words)
            for phrase in several:
                apart = min(each[word] for word in phrase) - counts[phrase]
                if apart > 0:
                    query = phrases[phrase]
                    times[query] = times.get(query, 0.0) + self.APART * apart
        return times

    def _weight(self, role: Role, times: float, length: int) -> float:
        if role in self.BY_ROLE:
            return self.BY_ROLE[role] * min(1.0, times)
        norm = 1 - self.BY_LENGTH + self.BY_LENGTH * length / self.COMMON_LENGTH
        return times / (times + norm)

    def _phrases(self, language: str) -> tuple[dict[Words, str], PhraseFinder[str]]:
        """Return the phrases as texts of a language have them."""
        code = primary(language) if stemmer_of(language) else ""
        if code not in self._by_language:
            phrases = {tuple(words_of(query, code)): query for query in self._queries}
            self._by_language[code] = phrases, PhraseFinder(phrases)
        return self._by_language[code]

    def _similarity(self, text: str, language: str) -> float:
        """1 where a phrase stands in the text, else half the share of its words that do."""
        words = words_of(text, language)
        phrases, finder = self._phrases(language)
        if finder.count(words):
            return 1.0
        there = set(words)
        shares = (sum(word in there for word in phrase) / len(phrase) for phrase in phrases)
        return max(shares, default=0.0) / 2
