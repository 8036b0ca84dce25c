"""Topics that are described by sample texts: the page filter of sources.md S."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import sqrt
from statistics import median
from typing import ClassVar, Self

from semcrawl.errors import UsageError
from semcrawl.topics.arguments import split_list
from semcrawl.topics.contract import STATEMENTS, TEXT, Document, Judgement
from semcrawl.topics.nearness import Nearness
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.passages import Role, passages
from semcrawl.topics.segmentation import primary, stemmer_of, stop_words, words_of
from semcrawl.topics.sourcefiles import Sample, samples_of

logger = logging.getLogger(__name__)

Vector = Mapping[str, float]


class Examples(Nearness):
    """Texts whose words are those of sample texts.

    A text is the vector of its words without stop words, weighted by frequency; words of titles
    and headings weigh more. The topic is the mean of the good samples' vectors, less half of that
    of the bad ones (Rocchio 1971), trimmed to its :attr:`FEATURES` weightiest words. A document's
    vector is trimmed to them and compared by its cosine. As this trimming hides what else a text is
    about, the cosine counts in full only where the topic's words are at least half as frequent as
    in the samples. The result is scaled so that the middle one of the samples, each compared with
    the others, is :attr:`TYPICAL`, and the middle one of the bad samples :attr:`FOREIGN`.
    """

    name = "examples"
    needs = frozenset({TEXT, STATEMENTS})
    #: words of the topic's vector
    FEATURES = 200
    #: times that a word of a place counts
    BY_ROLE: ClassVar = {Role.TITLE: 4.0, Role.HEADING: 2.0, Role.BODY: 1.0}
    #: relevance of a typical good and of a typical bad sample
    TYPICAL, FOREIGN = 0.8, 0.2
    #: what the comparison of one more text is expected to give, where samples are too few to tell
    FEW_SAMPLES = 0.4

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
                logger.info(
                    "about: examples: no stemmer for %s: words count as they are written", language
                )
        goods = [vector for sample in good if (vector := self._of_sample(sample))]
        bads = [vector for sample in bad if (vector := self._of_sample(sample))]
        if not goods:
            raise UsageError("the examples hold no word that says anything of a subject")
        self._features = self._topic(goods, bads)
        if not self._features:
            raise UsageError("the good examples have no word that the bad ones do not have as much")
        self._strongest = sorted(self._features.values(), reverse=True)[:10][-1]
        self._typical_share = median(_share(vector, self._features) for vector in goods)
        self._high, self._low = self._scale(goods, bads)

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Read files, URLs and folders with commas between them; ``-`` stands before bad ones."""
        good: list[Sample] = []
        bad: list[Sample] = []
        for name in split_list(argument):
            if name.startswith("-"):
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
        compared = self._compared(vector, self._features, self._typical_share)
        strongest = sorted(
            ((vector[word] * weight, word) for word, weight in self._features.items()
             if word in vector),
            reverse=True,
        )  # fmt: skip
        rows = [(word, f"{vector[word]:.1%} of the words") for _, word in strongest[:10]]
        return Judgement.of(self._scaled(compared), rows)

    def _similarity(self, text: str, language: str) -> float:
        """The weight of the topic's weightiest word in the text; that of the first ten is 1."""
        words = words_of(text, language or self._language)
        most = max((self._features.get(word, 0.0) for word in words), default=0.0)
        return min(1.0, most / self._strongest)

    def _of_sample(self, sample: Sample) -> Vector:
        texts = (
            (Role.TITLE, sample.title),
            (Role.HEADING, sample.headings),
            (Role.BODY, sample.text),
        )
        size = self._options.max_size
        return self._vector((role, text[:size], sample.language) for role, text in texts)

    def _vector(self, texts: Iterable[tuple[Role, str, str]]) -> Vector:
        """Return the share of each word in texts, those of titles and headings counted more."""
        counts: Counter[str] = Counter()
        for role, text, tag in texts:
            language = primary(tag) or self._language
            weight = self.BY_ROLE[role]
            silent = stop_words(language)
            for word, count in Counter(words_of(text, language)).items():
                if word not in silent and not word.isdecimal():
                    counts[word] += weight * count  # type: ignore[assignment]
        total = counts.total()
        return {word: count / total for word, count in counts.items()}

    def _topic(self, goods: Sequence[Vector], bads: Sequence[Vector]) -> Vector:
        mean: Counter[str] = Counter()
        for vectors, sign in ((goods, 1.0), (bads, -0.5)):
            for vector in vectors:
                for word, share in vector.items():
                    mean[word] += sign * share / len(vectors)  # type: ignore[assignment]
        return {word: weight for word, weight in mean.most_common(self.FEATURES) if weight > 0}

    def _scale(self, goods: Sequence[Vector], bads: Sequence[Vector]) -> tuple[float, float]:
        """Return what comparing gives for a typical good and a typical bad sample."""
        share = self._typical_share
        high = self.FEW_SAMPLES
        if len(goods) > 2:
            others = (([*goods[:n], *goods[n + 1 :]], one) for n, one in enumerate(goods[:50]))
            high = median(
                self._compared(one, self._topic(rest, bads), share) for rest, one in others
            )
        low = median([self._compared(one, self._features, share) for one in bads] or [0.0])
        return max(high, low + 0.05), low

    def _scaled(self, compared: float) -> float:
        if not self._low or compared <= self._low:
            foreign = self.FOREIGN if self._low else self.TYPICAL
            return foreign * compared / (self._low or self._high)
        reach = (compared - self._low) / (self._high - self._low)
        return self.FOREIGN + (self.TYPICAL - self.FOREIGN) * reach

    @staticmethod
    def _compared(vector: Vector, topic: Vector, typical_share: float) -> float:
        """Return the cosine, made smaller where the topic's words are rare."""
        product = sum(weight * vector.get(word, 0.0) for word, weight in topic.items())
        if not product:
            return 0.0
        trimmed = sqrt(sum(vector.get(word, 0.0) ** 2 for word in topic))
        norm = sqrt(sum(weight**2 for weight in topic.values()))
        density = _share(vector, topic) / (typical_share or 1.0)
        return product / (trimmed * norm) * min(1.0, 2 * density)


def _share(vector: Vector, topic: Vector) -> float:
    """Return the share of a text's words that are the topic's."""
    return sum(vector.get(word, 0.0) for word in topic)


def _with_language(sample: Sample) -> Sample:
    """Find the language of a sample that does not say it."""
    text = f"{sample.title} {sample.headings} {sample.text}"
    if sample.language or len(text) < 20:
        return sample
    from py3langid.langid import classify  # its model takes a second to load

    language, _ = classify(text[:5000])
    return Sample(sample.text, sample.title, sample.headings, language)
