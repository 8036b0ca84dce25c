"""Topics of words and phrases, weighted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress, count
from math import prod
from typing import ClassVar, Generic, Self, TypeVar

from semcrawl.errors import UsageError
from semcrawl.topics.contract import (
    MAX_REASONS,
    STATEMENTS,
    TEXT,
    Document,
    Judgement,
    TopicOptions,
    split_list,
)
from semcrawl.topics.texts import Nearness, Role, passages, primary, stemmer_of, words_of

T = TypeVar("T")
Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase that indicates a topic."""

    text: str
    #: above 0, up to 1
    weight: float = 1.0
    #: language tag; empty for a phrase of any language
    language: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """A phrase found in one place of a document."""

    phrase: Phrase
    #: its contribution, 0 to 1
    share: float
    where: str
    #: whether it is in running text, whose shares are summed
    running: bool = False


class _Lookup:
    """The phrases, prepared for texts of one language."""

    def __init__(self, phrases: Iterable[Phrase], code: str) -> None:
        best: dict[Words, Phrase] = {}
        for phrase in phrases:
            language = code if primary(phrase.language) in ("", code) else ""
            words = tuple(words_of(phrase.text, language))
            if words and (words not in best or best[words].weight < phrase.weight):
                best[words] = phrase
        self.finder = PhraseFinder(best)
        self.several = [words for words in best if len(words) > 1]
        #: similarity of a text that has only this word of a phrase
        self.alone: dict[str, float] = {}
        for words, phrase in best.items():
            for word in words:
                worth = phrase.weight / (2 * len(words))
                self.alone[word] = max(worth, self.alone.get(word, 0.0))


class WeightedPhrases(Nearness):
    """Texts that contain one of several weighted phrases.

    A phrase counts 0.9 in the title and 0.6 in a heading. In the text it counts by its frequency:
    once in :attr:`COMMON_LENGTH` words gives ½ (the term-frequency part of BM25, Robertson and
    Zaragoza 2009). Each is multiplied by the phrase's weight. Places combine like independent
    probabilities. A document is at most as relevant as the heaviest phrase in it.
    """

    #: relevance for a phrase in a title or heading
    BY_ROLE: ClassVar = {Role.TITLE: 0.9, Role.HEADING: 0.6}
    #: number of words at which one phrase in the text gives ½
    COMMON_LENGTH = 500
    #: influence of a text's length, 0 to 1 (BM25's ``b``)
    BY_LENGTH = 0.75
    #: part of an occurrence that all words of a phrase count for when they are apart
    APART = 0.0

    def __init__(self, phrases: Iterable[Phrase], options: TopicOptions) -> None:
        """Take the phrases."""
        super().__init__()
        self._phrases = list(phrases)
        self._languages = frozenset(primary(phrase.language) for phrase in self._phrases)
        self._options = options
        self._lookups: dict[str, _Lookup] = {}

    def judge(self, document: Document) -> Judgement:
        """Judge by the phrases in each place of a document."""
        found = [*self._more(document)]
        for passage in passages(document, self._options.max_size):
            words = words_of(passage.text, passage.language)
            times = self._times(words, passage.language)
            where = f"× in the {passage.role} of {len(words)} words"
            if share := self.BY_ROLE.get(passage.role):
                for phrase, n in times.items():
                    part = share * phrase.weight * min(1.0, n)
                    found.append(Finding(phrase, part, f"{n:g} {where}"))
            else:
                norm = 1 - self.BY_LENGTH + self.BY_LENGTH * len(words) / self.COMMON_LENGTH
                total = norm + sum(n * phrase.weight for phrase, n in times.items())
                for phrase, n in times.items():
                    part = n * phrase.weight / total
                    found.append(Finding(phrase, part, f"{n:g} {where}", running=True))
        return self._judgement(found)

    def _judgement(self, found: list[Finding]) -> Judgement:
        """Combine the findings."""
        found.sort(key=lambda each: -each.share)
        most = max((each.phrase.weight for each in found), default=0.0)
        running = min(1.0, sum(each.share for each in found if each.running))
        missed = prod(1 - each.share for each in found if not each.running) * (1 - running)
        rows = [(each.phrase.text, each.where) for each in found[:MAX_REASONS]]
        return Judgement.of(min(most, 1 - missed), rows)

    def _more(self, document: Document) -> Iterator[Finding]:
        """Yield findings outside the texts; subclasses may override this."""
        yield from ()

    def _times(self, words: list[str], language: str) -> dict[Phrase, float]:
        """Count the occurrences of each phrase in a text."""
        lookup = self._lookup(language)
        places = lookup.finder.places(words)
        if not places:
            return {}
        counts = lookup.finder.count(words, places)
        times = {lookup.finder.value(words): float(n) for words, n in counts.items()}
        if not self.APART:
            return times
        each = Counter(map(words.__getitem__, places))
        there = frozenset(each)
        for phrase in filter(there.issuperset, lookup.several):
            apart = min(each[word] for word in phrase) - counts[phrase]
            if apart > 0:
                value = lookup.finder.value(phrase)
                times[value] = times.get(value, 0.0) + self.APART * apart
        return times

    def _lookup(self, language: str) -> _Lookup:
        """Return the phrases of a language and of any language; all, if it has none of its own."""
        code = primary(language)
        if code not in self._languages and stemmer_of(code) is None:
            code = ""
        if code not in self._lookups:
            chosen: Iterable[Phrase] = self._phrases
            if code in self._languages and code:
                chosen = (p for p in self._phrases if primary(p.language) in ("", code))
            self._lookups[code] = _Lookup(chosen, code)
        return self._lookups[code]

    def _similarity(self, text: str, language: str) -> float:
        """The weight of a phrase in the text; for one of its words, half of it by its length."""
        lookup = self._lookup(language)
        words = words_of(text, language)
        places = lookup.finder.places(words)
        if not places:  # the usual case
            return 0.0
        found = lookup.finder.count(words, places)
        if found:
            return max(lookup.finder.value(phrase).weight for phrase in found)
        return max(lookup.alone[words[place]] for place in places)


class PhraseFinder(Generic[T]):
    """Finds which of many phrases occur in a text; at each position the longest."""

    def __init__(self, phrases: Mapping[Words, T] | Iterable[tuple[Words, T]]) -> None:
        """Take phrases and their values; of equal phrases the last wins."""
        self._phrases = {words: value for words, value in dict(phrases).items() if words}
        self._lengths: dict[str, list[int]] = {
            word: [] for words in self._phrases for word in words
        }
        for length in sorted({len(words) for words in self._phrases}, reverse=True):
            for first in {words[0] for words in self._phrases if len(words) == length}:
                self._lengths[first].append(length)

    def places(self, words: Sequence[str]) -> list[int]:
        """Return the positions in a text of words that occur in phrases."""
        return [*compress(count(), map(self._lengths.__contains__, words))]

    def count(self, words: Sequence[str], places: Iterable[int] | None = None) -> Counter[Words]:
        """Count the non-overlapping phrases in a text.

        ``places`` is the result of :meth:`places` for the text, if known.
        """
        found: Counter[Words] = Counter()
        lengths, phrases, free = self._lengths, self._phrases, 0
        for place in self.places(words) if places is None else places:
            if place < free:
                continue
            for length in lengths[words[place]]:
                phrase = tuple(words[place : place + length])
                if phrase in phrases:
                    found[phrase] += 1
                    free = place + length
                    break
        return found

    def value(self, phrase: Words) -> T:
        """Return the value of a phrase."""
        return self._phrases[phrase]


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
