"""Topics that are described by sample texts: the page filter of sources.md S."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from heapq import nlargest
from math import log, sqrt
from pathlib import Path
from statistics import median
from typing import ClassVar, Self

from semcrawl.errors import UsageError
from semcrawl.topics.arguments import split_list
from semcrawl.topics.contract import STATEMENTS, TEXT, Document, Judgement
from semcrawl.topics.marks import BAD, GOOD, marked_in
from semcrawl.topics.nearness import Nearness
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.passages import Role, passages
from semcrawl.topics.segmentation import primary, stemmer_of, stop_words, words_of
from semcrawl.topics.sourcefiles import Sample, samples_of

logger = logging.getLogger(__name__)

Vector = Mapping[str, float]
#: words that are kept of a document in the background
_MAX_KEPT = 5000
#: samples that are compared with the others
_MAX_LEFT_OUT = 50


class Examples(Nearness):
    """Texts whose words are those of sample texts.

    A text is the vector of its words without stop words, weighted by the logarithm of their
    frequency; words of titles and headings count several times. The topic is the mean vector of the
    good samples less that of the bad ones (Rocchio 1971), trimmed to its :attr:`FEATURES`
    weightiest words; a document is compared with it by the cosine. S trims the document's vector
    too. We do not: what a text is about besides would not count, and long texts on anything would
    be near to every topic.

    Without bad samples the first :attr:`BACKGROUND` documents that are judged take their place, the
    half of them that is less like the good samples: what all documents of a site say in their
    navigation says nothing of the topic.

    The result is scaled so that the middle one of the good samples, each compared with the others,
    is :attr:`TYPICAL`, and the middle one of the bad ones :attr:`FOREIGN`.
    """

    name = "examples"
    needs = frozenset({TEXT, STATEMENTS})
    #: words of the topic's vector
    FEATURES = 50
    #: times that a word of a place counts
    BY_ROLE: ClassVar = {Role.TITLE: 4.0, Role.HEADING: 2.0, Role.BODY: 1.0}
    #: share of its weight that a word keeps which is as frequent in the bad samples
    LEAST = 0.2
    #: documents that stand for what the topic is not
    BACKGROUND = 50
    #: relevance of a typical good and of a typical bad sample
    TYPICAL, FOREIGN = 0.7, 0.2
    #: the cosine of one more text on the topic, where samples are too few to tell
    FEW_SAMPLES = 0.4
    #: a typical bad sample, as a part of a typical good one: at most; and where there is none
    MOST_FOREIGN, UNKNOWN_FOREIGN = 0.7, 0.5

    def __init__(
        self, good: Sequence[Sample], bad: Sequence[Sample], options: TopicOptions
    ) -> None:
        """Learn from samples; raise ``UsageError`` when the good ones hold no word of a subject."""
        super().__init__()
        self._options = options
        good = [_with_language(sample) for sample in good]
        bad = [_with_language(sample) for sample in bad]
        languages = Counter(primary(sample.language) for sample in good if sample.language)
        #: of texts that do not say theirs
        self._language = languages.most_common(1)[0][0] if languages else ""
        for language in sorted(languages):
            if stemmer_of(language) is None:
                _tell_unstemmed(language)
        self._goods = [vector for sample in good if (vector := self._of_sample(sample))]
        bads = [vector for sample in bad if (vector := self._of_sample(sample))]
        if not self._goods:
            raise UsageError("the examples hold no word that says anything of a subject")
        #: what was judged so far; ``None`` when the topic is learned for good
        self._seen: list[Vector] | None = None if bads else []
        self._learn(bads)

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read files, URLs and folders with commas between them; ``-`` stands before bad ones.

        A job folder stands for the documents that were marked in it, good and bad.
        """
        good: list[Sample] = []
        bad: list[Sample] = []
        for name in split_list(argument):
            if marked := marked_in(Path(name)):
                good += [one.sample for one in marked if one.mark == GOOD]
                bad += [one.sample for one in marked if one.mark == BAD]
            elif name.startswith("-"):
                bad += samples_of(name[1:].strip(), options)
            else:
                good += samples_of(name, options)
        if not good:
            raise UsageError("name texts, pages or a folder of them, examples:folder/ say")
        return cls(good, bad, options)

    def judge(self, document: Document) -> Judgement:
        """Compare a document's words with the topic's."""
        vector = self._vector(
            (passage.role, passage.text, passage.language)
            for passage in passages(document, self._options.max_size)
        )
        if vector and self._seen is not None:
            self._look_at(vector)
        parts = {
            word: weight * vector[word] for word, weight in self._topic.items() if word in vector
        }
        strongest = sorted(parts.items(), key=lambda part: (-part[1], part[0]))
        whole = sum(parts.values())
        rows = [(word, f"{part / whole:.0%} of the likeness") for word, part in strongest[:10]]
        return Judgement.of(self._scaled(whole), rows)

    def _similarity(self, text: str, language: str) -> float:
        """The weight of the topic's weightiest word in the text; that of the first ten is 1."""
        words = words_of(text, language or self._language)
        most = max((self._topic.get(word, 0.0) for word in words), default=0.0)
        return min(1.0, most / self._strong)

    def _of_sample(self, sample: Sample) -> Vector:
        texts = (
            (Role.TITLE, sample.title),
            (Role.HEADING, sample.headings),
            (Role.BODY, sample.text),
        )
        size = self._options.max_size
        return self._vector((role, text[:size], sample.language) for role, text in texts)

    def _vector(self, texts: Iterable[tuple[Role, str, str]]) -> Vector:
        """Return the words of texts as a vector of length 1; empty for no word."""
        counts: dict[str, float] = {}
        for role, text, tag in texts:
            language = primary(tag) or self._language
            weight = self.BY_ROLE[role]
            silent = stop_words(language)
            for word, count in Counter(words_of(text, language)).items():
                if word not in silent and not word.isdecimal():
                    counts[word] = counts.get(word, 0.0) + weight * count
        return _unit({word: 1 + log(count) for word, count in counts.items()})

    def _look_at(self, vector: Vector) -> None:
        """Take a document into the background; learn again after 5, 10, 20 … of them."""
        self._seen = [*(self._seen or ()), dict(nlargest(_MAX_KEPT, vector.items(), key=_weight))]
        number = len(self._seen)
        if number in (5, 10, 20) or number == self.BACKGROUND:
            like = _unit(_mean(self._goods))
            self._learn(sorted(self._seen, key=lambda one: _product(like, one))[: number // 2])
        if number >= self.BACKGROUND:
            self._seen = None

    def _learn(self, bads: Sequence[Vector]) -> None:
        self._known.clear()
        foreign = _mean(bads)
        self._topic = self._trimmed(self._goods, foreign)
        self._strong = sorted(self._topic.values(), reverse=True)[:10][-1]
        self._high = self.FEW_SAMPLES
        if len(self._goods) > 2:
            self._high = median(
                _product(self._trimmed([*self._goods[:n], *self._goods[n + 1 :]], foreign), one)
                for n, one in enumerate(self._goods[:_MAX_LEFT_OUT])
            ) or self.FEW_SAMPLES  # fmt: skip
        self._low = self.UNKNOWN_FOREIGN * self._high
        if bads:
            typical = median(_product(self._topic, one) for one in bads)
            self._low = min(typical, self.MOST_FOREIGN * self._high)

    def _trimmed(self, goods: Sequence[Vector], foreign: Vector) -> Vector:
        left = {
            word: max(weight - foreign.get(word, 0.0), self.LEAST * weight)
            for word, weight in _mean(goods).items()
        }
        return _unit(dict(nlargest(self.FEATURES, left.items(), key=_weight)))

    def _scaled(self, cosine: float) -> float:
        if cosine <= self._low:
            return self.FOREIGN * cosine / self._low if self._low else 0.0
        reach = (cosine - self._low) / (self._high - self._low)
        return self.FOREIGN + (self.TYPICAL - self.FOREIGN) * reach


def _weight(item: tuple[str, float]) -> tuple[float, str]:
    return item[1], item[0]


def _mean(vectors: Sequence[Vector]) -> Vector:
    mean: dict[str, float] = {}
    for vector in vectors:
        for word, weight in vector.items():
            mean[word] = mean.get(word, 0.0) + weight / len(vectors)
    return mean


def _unit(vector: Vector) -> Vector:
    length = sqrt(sum(weight**2 for weight in vector.values()))
    return {word: weight / length for word, weight in vector.items()}


def _product(topic: Vector, vector: Vector) -> float:
    return sum(weight * vector.get(word, 0.0) for word, weight in topic.items())


def _with_language(sample: Sample) -> Sample:
    """Find the language of a sample that does not say it."""
    text = f"{sample.title} {sample.headings} {sample.text}"
    if sample.language or len(text) < 20:
        return sample
    from py3langid.langid import classify  # its model takes a second to load

    language, _ = classify(text[:5000])
    return Sample(sample.text, sample.title, sample.headings, language)


@cache
def _tell_unstemmed(language: str) -> None:
    """Warn once in a process: each part of a crawl makes the topic anew."""
    logger.warning("about: examples: no stemmer for %s: words count as they are written", language)
