"""Topics described by sample texts: the page filter of sources.md S.

Documents of a job that the user marked as good or bad examples of a topic.
Their texts are stored with them, so a topic needs nothing else of the job.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from heapq import nlargest
from math import log, sqrt
from pathlib import Path
from statistics import median
from typing import ClassVar, Self

from semcrawl.errors import UsageError, os_errors_as
from semcrawl.settings.reader import read_switch
from semcrawl.topics.contract import STATEMENTS, TEXT, Document, Judgement, TopicOptions, split_list
from semcrawl.topics.shapes import Heaps
from semcrawl.topics.sourcefiles import Sample, samples_of
from semcrawl.topics.texts import (
    Nearness,
    Role,
    passages,
    primary,
    stemmer_of,
    stop_words,
    words_of,
)

#: file in the job folder, with one JSON object per line
MARKS_FILE = "marks.jsonl"
GOOD, BAD = "good", "bad"
#: file that marks a folder as a job's
_JOB = "crawl.db"


@dataclass(frozen=True, slots=True)
class Marked:
    """A text of a marked document; a document has one per language."""

    url: str
    #: :data:`GOOD` or :data:`BAD`
    mark: str
    sample: Sample


def read_marks(folder: Path) -> list[Marked]:
    """Return the marked documents of a job folder; raise ``UsageError`` for an invalid file."""
    path = folder / MARKS_FILE
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {getattr(error, 'strerror', error)}") from None
    return [*_marked(text, path)]


def marked_in(folder: Path) -> list[Marked]:
    """Return the marked documents of a folder; raise ``UsageError`` for a job without any."""
    marked = read_marks(folder) if folder.is_dir() else []
    if not marked and (folder / _JOB).is_file():
        raise UsageError(
            f"nothing is marked in the job {folder}: semcrawl pages {folder} --mark good URL"
        )
    return marked


def _marked(text: str, path: Path) -> Iterator[Marked]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            texts = [row.get(name, "") for name in ("text", "title", "headings", "language")]
            valid = row["mark"] in (GOOD, BAD) and all(isinstance(one, str) for one in texts)
            marked = Marked(str(row["url"]), row["mark"], Sample(*texts))
        except (ValueError, TypeError, KeyError, AttributeError):
            valid = False
        if not valid:
            raise UsageError(f"{path}, line {number}: not a marked document")
        yield marked


def write_marks(folder: Path, marked: Iterable[Marked]) -> None:
    """Replace the marked documents of a job folder atomically; raise ``UsageError`` on failure."""
    path = folder / MARKS_FILE
    lines = [
        json.dumps({"mark": one.mark, "url": one.url, **asdict(one.sample)}, ensure_ascii=False)
        for one in marked
    ]
    part = path.with_name(f"{MARKS_FILE}.part")
    with os_errors_as(UsageError, f"cannot write {path}"):
        part.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        os.replace(part, path)


logger = logging.getLogger(__name__)

Vector = Mapping[str, float]
#: most words kept of a background document
_MAX_KEPT = 5000
#: most samples in the leave-one-out comparison
_MAX_LEFT_OUT = 50
#: finds before the first retraining
_FIRST_FINDS = 8
_RETRAIN = "SEMCRAWL_ABOUT_RETRAIN"
_NONE: Vector = {}


class Examples(Nearness):
    """Texts with words similar to those of sample texts.

    A text is a vector of its words without stop words, weighted by the logarithm of their
    frequency; words of titles and headings count several times. The topic is the mean vector of the
    good samples minus that of the bad ones (Rocchio 1971), cut to its :attr:`FEATURES` heaviest
    words. Relevance comes from the cosine of a document's vector with it. S cuts the document's
    vector too. This topic does not, as other subjects of a text would then not count, and long
    texts on anything would be near every topic.

    Without bad samples, those of the first :attr:`BACKGROUND` judged documents replace them that
    are more likely bad than good. Words that a site repeats in its navigation thus lose their
    weight.

    The cosine is calibrated by two heaps (:class:`~semcrawl.topics.shapes.Heaps`), of the good
    samples, each compared with the others, of the bad ones, and of up to :attr:`JUDGED` documents
    of the crawl: ½ is where good and bad are equally likely, the middle of the good heap is
    :attr:`TYPICAL`, that of the bad one :attr:`FOREIGN`.
    """

    name = "examples"
    needs = frozenset({TEXT, STATEMENTS})
    learns = True
    #: number of words in the topic's vector
    FEATURES = 50
    #: factor for words of a place
    BY_ROLE: ClassVar = {Role.TITLE: 4.0, Role.HEADING: 2.0, Role.BODY: 1.0}
    #: least share of its weight that a word keeps when bad samples have it too
    LEAST = 0.2
    #: number of judged documents among which bad samples are looked for
    BACKGROUND = 50
    #: number of judged documents that calibrate the relevance
    JUDGED = 500
    #: relevance of a typical good and of a typical bad document, and where both are as likely
    TYPICAL, FOREIGN, EVEN = 0.7, 0.2, 0.5
    #: assumed cosine of a typical good sample where samples are too few to measure it
    FEW_SAMPLES = 0.4
    #: assumed cosine of a typical bad document relative to a good one
    UNKNOWN_FOREIGN = 0.25

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
        #: cosines of judged documents; ``None`` when no more are needed
        self._judged: list[float] | None = []
        self._learn(bads)
        #: the samples, and the best finds with their relevance; ``None`` without retraining
        self._samples = list(self._goods)
        self._finds: list[tuple[float, Vector]] | None = None
        if read_switch(_RETRAIN, options.settings.get(_RETRAIN, False)):
            self._finds = []
        self._found = 0
        #: the last judged documents
        self._recent: deque[Vector] = deque(maxlen=self.BACKGROUND)

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
        if vector and self._judged is not None:
            self._add_judged(whole)
        relevance = self._scaled(whole)
        if vector and self._finds is not None:
            self._retrain(relevance, vector)
        rows = [(word, f"{part / whole:.0%} of the likeness") for word, part in strongest[:10]]
        return Judgement.of(relevance, rows)

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
            self._topic = self._difference(self._goods, {})
            border = self._heaps_with(self._background).border
            bads = [one for one in self._background if _product(self._topic, one) < border]
            self._learn(bads, self._background)
        if number >= self.BACKGROUND:
            self._background = None

    def _retrain(self, relevance: float, vector: Vector) -> None:
        """Note a find; learn again from the best ones when their number has doubled.

        There are no more finds than samples, so that these keep half of the weight: a topic does
        not drift away from them.
        """
        vector = dict(nlargest(_MAX_KEPT, vector.items(), key=_weight))
        self._recent.append(vector)
        if relevance < self.TYPICAL:
            return
        best = [*(self._finds or ()), (relevance, vector)]
        self._finds = sorted(best, key=lambda one: -one[0])[: len(self._samples)]
        self._found += 1
        if self._found >= _FIRST_FINDS and self._found & (self._found - 1) == 0:
            self._goods = [*self._samples, *(find for _, find in self._finds)]
            self._learn(self._bads, list(self._recent))

    def _add_judged(self, cosine: float) -> None:
        """Add a document's cosine; calibrate again whenever their number has doubled."""
        self._judged = [*(self._judged or ()), cosine]
        number = len(self._judged)
        if number in (100, 200) or number >= self.JUDGED:
            self._heaps = Heaps.of(self._of_goods, self._of_bads, self._judged, self._foreign)
        if number >= self.JUDGED:
            self._judged = None

    def _learn(self, bads: Sequence[Vector], judged: Sequence[Vector] = ()) -> None:
        """Learn the topic from the good samples and from bad ones; calibrate it.

        ``judged``: documents of which nothing is known, the bad ones among them.
        """
        self._known.clear()
        self._bads = list(bads)
        foreign = _mean(bads)
        self._topic = self._difference(self._goods, foreign)
        self._strong = sorted(self._topic.values(), reverse=True)[:10][-1]
        self._heaps = self._heaps_with(judged, () if judged else bads, foreign)
        if judged:
            self._judged = [_product(self._topic, one) for one in judged]

    def _heaps_with(
        self, judged: Sequence[Vector], bads: Sequence[Vector] = (), foreign: Vector = _NONE
    ) -> Heaps:
        """Return the heaps of the samples and of judged documents."""
        cosines = [
            _product(self._difference([*self._goods[:n], *self._goods[n + 1 :]], foreign), one)
            for n, one in enumerate(self._goods[:_MAX_LEFT_OUT])
        ]
        few = len(self._goods) <= 2 or not median(cosines)
        self._of_goods = [self.FEW_SAMPLES] * 3 if few else cosines
        self._of_bads = [_product(self._topic, one) for one in bads]
        self._foreign = self.UNKNOWN_FOREIGN * median(self._of_goods)
        crawl = [_product(self._topic, one) for one in judged]
        return Heaps.of(self._of_goods, self._of_bads, crawl, self._foreign)

    def _difference(self, goods: Sequence[Vector], foreign: Vector) -> Vector:
        left = {
            word: max(weight - foreign.get(word, 0.0), self.LEAST * weight)
            for word, weight in _mean(goods).items()
        }
        return _unit(dict(nlargest(self.FEATURES, left.items(), key=_weight)))

    def _scaled(self, cosine: float) -> float:
        heaps = self._heaps
        low = max(0.0, min(heaps.bad.middle, 0.8 * heaps.border))
        if cosine <= low:
            return self.FOREIGN * cosine / low if low else 0.0
        if cosine <= heaps.border:
            reach = (cosine - low) / (heaps.border - low)
            return self.FOREIGN + (self.EVEN - self.FOREIGN) * reach
        high = max(heaps.good.middle, 1.2 * heaps.border)
        return self.EVEN + (self.TYPICAL - self.EVEN) * (cosine - heaps.border) / (
            high - heaps.border
        )


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
