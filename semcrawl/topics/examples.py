"""Topics described by sample texts: the page filter of sources.md S."""

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
#: most words kept of a background document
_MAX_KEPT = 5000
#: most samples in the leave-one-out comparison
_MAX_LEFT_OUT = 50


class Examples(Nearness):
    """Texts with words similar to those of sample texts.

    A text is a vector of its words without stop words, weighted by the logarithm of their
    frequency; words of titles and headings count several times. The topic is the mean vector of the
    good samples minus that of the bad ones (Rocchio 1971), cut to its :attr:`FEATURES` heaviest
    words. Relevance comes from the cosine of a document's vector with it. S cuts the document's
    vector too. This topic does not, as other subjects of a text would then not count, and long
    texts on anything would be near every topic.

    Without bad samples, the first :attr:`BACKGROUND` judged documents replace them: the half that
    is less similar to the good samples. Words that a site repeats in its navigation thus lose
    their weight.

    The cosine is scaled: the median of the good samples, each compared with the others, becomes
    :attr:`TYPICAL`, and the median of the bad ones :attr:`FOREIGN`.
    """

    name = "examples"
    needs = frozenset({TEXT, STATEMENTS})
    #: number of words in the topic's vector
    FEATURES = 50
    #: factor for words of a place
    BY_ROLE: ClassVar = {Role.TITLE: 4.0, Role.HEADING: 2.0, Role.BODY: 1.0}
    #: least share of its weight that a word keeps when bad samples have it too
    LEAST = 0.2
    #: number of judged documents that stand in for bad samples
    BACKGROUND = 50
    #: relevance of a typical good and of a typical bad sample
    TYPICAL, FOREIGN = 0.7, 0.2
    #: assumed cosine of a typical good sample where samples are too few to measure it
    FEW_SAMPLES = 0.4
    #: cosine of a typical bad sample relative to a good one: its maximum, and without bad samples
    MOST_FOREIGN, UNKNOWN_FOREIGN = 0.7, 0.5

    def __init__(
        self, good: Sequence[Sample], bad: Sequence[Sample], options: TopicOptions
    ) -> None:
        """Learn from samples; raise ``UsageError`` if the good ones have only stop words."""
        super().__init__()
        self._options = options
        good = [_with_language(sample) for sample in good]
        bad = [_with_language(sample) for sample in bad]
        languages = Counter(primary(sample.language) for sample in good if sample.language)
        #: language of texts that declare none
        self._language = languages.most_common(1)[0][0] if languages else ""
        for language in sorted(languages):
            if stemmer_of(language) is None:
                _warn_unstemmed(language)
        self._goods = [vector for sample in good if (vector := self._of_sample(sample))]
        bads = [vector for sample in bad if (vector := self._of_sample(sample))]
        if not self._goods:
            raise UsageError("the examples have no words but stop words")
        #: background documents so far; ``None`` when no more are needed
        self._background: list[Vector] | None = None if bads else []
        self._learn(bads)

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read comma-separated files, URLs and folders; a leading ``-`` means bad samples.

        A job folder stands for its marked documents, good and bad.
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
            raise UsageError("name texts, pages or a folder of them, such as examples:folder/")
        return cls(good, bad, options)

    def judge(self, document: Document) -> Judgement:
        """Compare a document's words with the topic's."""
        vector = self._vector(
            (passage.role, passage.text, passage.language)
            for passage in passages(document, self._options.max_size)
        )
        if vector and self._background is not None:
            self._add_background(vector)
        parts = {
            word: weight * vector[word] for word, weight in self._topic.items() if word in vector
        }
        strongest = sorted(parts.items(), key=lambda part: (-part[1], part[0]))
        whole = sum(parts.values())
        rows = [(word, f"{part / whole:.0%} of the likeness") for word, part in strongest[:10]]
        return Judgement.of(self._scaled(whole), rows)

    def _similarity(self, text: str, language: str) -> float:
        """The largest topic weight of a word in the text; the ten heaviest words count as 1."""
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
        """Return the words of texts as a unit vector; empty without words."""
        counts: dict[str, float] = {}
        for role, text, tag in texts:
            language = primary(tag) or self._language
            weight = self.BY_ROLE[role]
            stopped = stop_words(language)
            for word, count in Counter(words_of(text, language)).items():
                if word not in stopped and not word.isdecimal():
                    counts[word] = counts.get(word, 0.0) + weight * count
        return _unit({word: 1 + log(count) for word, count in counts.items()})

    def _add_background(self, vector: Vector) -> None:
        """Add a document to the background; learn again after 5, 10, 20 and all of them."""
        self._background = [
            *(self._background or ()),
            dict(nlargest(_MAX_KEPT, vector.items(), key=_weight)),
        ]
        number = len(self._background)
        if number in (5, 10, 20) or number == self.BACKGROUND:
            like = _unit(_mean(self._goods))
            self._learn(
                sorted(self._background, key=lambda one: _product(like, one))[: number // 2]
            )
        if number >= self.BACKGROUND:
            self._background = None

    def _learn(self, bads: Sequence[Vector]) -> None:
        self._known.clear()
        foreign = _mean(bads)
        self._topic = self._difference(self._goods, foreign)
        self._strong = sorted(self._topic.values(), reverse=True)[:10][-1]
        self._high = self.FEW_SAMPLES
        if len(self._goods) > 2:
            self._high = median(
                _product(self._difference([*self._goods[:n], *self._goods[n + 1 :]], foreign), one)
                for n, one in enumerate(self._goods[:_MAX_LEFT_OUT])
            ) or self.FEW_SAMPLES  # fmt: skip
        self._low = self.UNKNOWN_FOREIGN * self._high
        if bads:
            typical = median(_product(self._topic, one) for one in bads)
            self._low = min(typical, self.MOST_FOREIGN * self._high)

    def _difference(self, goods: Sequence[Vector], foreign: Vector) -> Vector:
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
    """Detect the language of a sample that declares none."""
    text = f"{sample.title} {sample.headings} {sample.text}"
    if sample.language or len(text) < 20:
        return sample
    from py3langid.langid import classify  # loading its model takes a second

    language, _ = classify(text[:5000])
    return Sample(sample.text, sample.title, sample.headings, language)


@cache
def _warn_unstemmed(language: str) -> None:
    """Warn once per process, as a crawl makes its topic several times."""
    logger.warning("about: examples: no stemmer for %s: words count as they are written", language)
