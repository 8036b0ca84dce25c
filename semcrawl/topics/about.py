"""Parses ``SEMCRAWL_ABOUT``: the topics of a crawl and how they combine.

``keywords:merge sort,quick sort`` is one topic: a name and its argument. ``all(…, …)``,
``any(…, …)`` and ``0.7*… + 0.3*…`` combine topics. Text in double quotes is taken literally.
"""

from __future__ import annotations

import importlib
import re
from abc import ABC, abstractmethod
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from math import isfinite
from typing import TYPE_CHECKING, Any, Self
from typing import Any as Anything

from semcrawl import settings as defaults
from semcrawl.errors import UsageError
from semcrawl.links.pagetexts import OwnTexts, main_text
from semcrawl.settings.reader import Values
from semcrawl.topics.contract import (
    MAX_REASONS,
    NEAR,
    STATEMENTS,
    TEXT,
    Closing,
    Document,
    Judgement,
    Topic,
    TopicOptions,
    parts_of,
)
from semcrawl.topics.examples import Examples
from semcrawl.topics.sourcefiles import Sample
from semcrawl.topics.texts import Role, passages

if TYPE_CHECKING:
    from semcrawl.links import PageText
    from semcrawl.rdf import Reading


#: import paths of the topics that come with semcrawl
TOPICS: Mapping[str, str] = {
    "examples": "semcrawl.topics.examples.Examples",
    "keywords": "semcrawl.topics.phrases.Keywords",
    "new": "semcrawl.topics.novelty.New",
    "ontology": "semcrawl.topics.vocabularies.Ontology",
    "shape": "semcrawl.topics.shapes.Shape",
    "thesaurus": "semcrawl.topics.thesaurus.Thesaurus",
    "vocabulary": "semcrawl.topics.vocabularies.Vocabulary",
    "vocabulary-share": "semcrawl.topics.vocabularies.VocabularyShare",
}


def topic_class(name: str) -> Any:
    """Return the class of a topic by its name or import path; raise ``UsageError`` if none is."""
    path = TOPICS.get(name)
    if path is None:
        if "." not in name:
            close = get_close_matches(name, TOPICS, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(TOPICS)}"
            raise UsageError(f"about: unknown topic {name!r}; {hint}")
        path = name
    module_name, _, class_name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module_name), class_name)
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        raise UsageError(f"about: cannot load the topic {name!r}: {error}") from error


def load_topic(name: str, argument: str, options: TopicOptions) -> Topic:
    """Make a topic by its name, or by the import path of its class (``package.module.Class``).

    Raises ``UsageError`` for an unknown name, a class that is not a topic, or a wrong argument.
    """
    found = topic_class(name)
    if not callable(getattr(found, "from_argument", None)):
        raise UsageError(f"about: {name!r} is not a topic: it has no from_argument()")
    try:
        topic = found.from_argument(argument, options)
    except UsageError as error:
        raise UsageError(f"about: {name}: {error}") from error
    if not isinstance(topic, Topic):
        raise UsageError(f"about: {name!r} is not a topic: parts of the contract are missing")
    return topic


class _Combination(ABC):
    """Combines the judgements of its parts."""

    name: str

    def __init__(self, parts: Iterable[tuple[Topic, float]]) -> None:
        """Combine topics; only the mean uses their weights."""
        self.parts = tuple(parts)
        self.needs = frozenset(need for part, _ in self.parts for need in part.needs)
        self._with_words = [each for each in self.parts if each[0].knows_words]
        self.knows_words = bool(self._with_words)

    @classmethod
    def from_argument(cls, argument: str, options: TopicOptions) -> Self:
        """Raise ``UsageError``: :func:`~semcrawl.topics.about` makes combinations."""
        raise UsageError(f"write {cls.name}(…) around the topics")

    @property
    def takes_long(self) -> bool:
        """Whether one of the parts takes long."""
        return any(part.takes_long for part, _ in self.parts)

    def judge(self, document: Document) -> Judgement:
        """Combine the judgements; each part gets an equal share of the rows of reasons."""
        judged = [(part, part.judge(document)) for part, _ in self.parts]
        weights = [weight for _, weight in self.parts]
        number = self._combined([said.relevance for _, said in judged], weights)
        worth = decides = None
        if any(said.worth is not None for _, said in judged):
            worths = [said.relevance if said.worth is None else said.worth for _, said in judged]
            worth = self._combined(worths, weights)
        if any(said.decides is not None for _, said in judged):
            decides = self._combined([said.deciding for _, said in judged], weights)
        each = max(1, MAX_REASONS // len(judged))
        rows = [
            row
            for part, said in judged
            for row in [(part.name, f"{said.relevance:.2f}"), *said.reasons][:each]
        ]

        def keep() -> None:
            for _, said in judged:
                said.keep()

        return Judgement.of(number, rows, worth, decides, keep)

    def similarity(self, text: str, language: str = "") -> float:
        """Combine the similarities of the parts that know words."""
        return self._combined_similarity(
            [part.similarity(text, language) for part, _ in self._with_words]
        )

    def iri_similarity(self, iri: str) -> float:
        """Combine the similarities of the parts that know words."""
        return self._combined_similarity([part.iri_similarity(iri) for part, _ in self._with_words])

    def _combined_similarity(self, numbers: Sequence[float]) -> float:
        """Combine similarities.

        The largest wins, as a link's text rarely names two subjects at once.
        """
        return max(numbers, default=0.0)

    def close(self) -> None:
        """Close the parts that need it."""
        for part, _ in self.parts:
            if isinstance(part, Closing):
                part.close()

    @abstractmethod
    def _combined(self, numbers: Sequence[float], weights: Sequence[float]) -> float: ...


class AllOf(_Combination):
    """As relevant as its least relevant part."""

    name = "all"

    def _combined(self, numbers: Sequence[float], weights: Sequence[float]) -> float:
        return min(numbers)


class AnyOf(_Combination):
    """As relevant as its most relevant part."""

    name = "any"

    def _combined(self, numbers: Sequence[float], weights: Sequence[float]) -> float:
        return max(numbers)


class Mean(_Combination):
    """The weighted mean of its parts."""

    name = "mean"

    def _combined(self, numbers: Sequence[float], weights: Sequence[float]) -> float:
        total = sum(weights)
        return sum(number * weight for number, weight in zip(numbers, weights, strict=True)) / total

    def _combined_similarity(self, numbers: Sequence[float]) -> float:
        return (
            self._combined(numbers, [weight for _, weight in self._with_words]) if numbers else 0.0
        )


_WEIGHT = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*\*\s*")
_TOPIC = re.compile(r"\s*([A-Za-z_][\w.-]*)\s*(:|\Z)\s*(.*?)\s*\Z", re.S)
_GROUP = re.compile(r"\s*(all|any)\s*\((.*)\)\s*\Z", re.S)
#: the beginning of a topic; a comma without one behind it belongs to an argument
_BEGINS = re.compile(
    r"\s*(?:[\d.]+\s*\*\s*)?(?:(?:all|any)\s*\("
    rf"|(?:{'|'.join(map(re.escape, TOPICS))})\s*(?:[:,)]|\Z))"
    r"|\s*[A-Za-z_]\w*(?:\.\w+)+:(?!//)"
)
#: most levels of parentheses
_MAX_DEPTH = 20


def about(
    spec: str | Iterable[str],
    settings: Mapping[str, Anything],
    read: Callable[[str], bytes] | None = None,
) -> Topic | None:
    """Make the topic that ``SEMCRAWL_ABOUT`` describes; ``None`` for an empty value.

    A list means all of its topics. ``read`` returns the bytes of a file or URL that a topic names;
    the default is that of :meth:`TopicOptions.from_settings`. Raises ``UsageError`` with one line.
    """
    specs = [spec] if isinstance(spec, str) else [*spec]
    if any(not isinstance(one, str) for one in specs):
        raise UsageError(f"about: a topic is a text such as keywords:fish, not {spec!r}")
    texts = [one for one in specs if one.strip()]
    if not texts:
        return None
    options = TopicOptions.from_settings(settings, read)
    try:
        topics = [_sum(text, options, 0) for text in texts]
    except UsageError as error:
        raise UsageError(" ".join(str(error).split())) from error
    topic = topics[0] if len(topics) == 1 else AllOf((topic, 1.0) for topic in topics)
    results = Values(settings)["SEMCRAWL_ABOUT_WIDEN"]
    if not results:
        return topic

    return Widened(topic, results, threshold(settings), options)


def needs_of(spec: str | Iterable[str]) -> frozenset[str]:
    """Return the parts of documents that a topic with a subject reads, without making it.

    See :attr:`Topic.needs`. ``new`` has no subject. Raises ``UsageError`` for an unknown topic, or
    parentheses that do not fit.
    """
    texts = [spec] if isinstance(spec, str) else [*spec]
    classes = [topic_class(name) for text in texts for name in _names(text)]
    return frozenset(
        need
        for each in classes
        if getattr(each, "has_subject", True)
        for need in getattr(each, "needs", ())
    )


def _names(text: str, depth: int = 0) -> Iterator[str]:
    """Yield the names of the single topics in a text."""
    for part in _split(text, _is_plus) if depth <= _MAX_DEPTH else ():
        match = _WEIGHT.match(part)
        single = part[match.end() :] if match else part
        if group := _GROUP.match(single):
            for inner in _split(group[2], _is_comma):
                yield from _names(inner, depth + 1)
        elif topic := _TOPIC.match(single):
            yield topic[1]


def threshold(settings: Mapping[str, Anything]) -> float:
    """Return the least relevance of a target; raise ``UsageError`` for a wrong setting."""
    name = "SEMCRAWL_ABOUT_THRESHOLD"
    value = settings.get(name, getattr(defaults, name))
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not (isfinite(number) and 0 < number <= 1):
        raise UsageError(f"{name} must be above 0 and at most 1, not {value!r}")
    return number


def _sum(text: str, options: TopicOptions, depth: int) -> Topic:
    """Parse topics separated by `` + ``."""
    if depth > _MAX_DEPTH:
        raise UsageError("about: too many parentheses")
    weighted = [_weighted(part, options, depth) for part in _split(text, _is_plus)]
    total = sum(weight for _, weight in weighted)
    if not (isfinite(total) and total > 0):
        raise UsageError(f"about: weights must be finite, and one above 0: {text.strip()[:200]}")
    if len(weighted) == 1:
        return weighted[0][0]
    return Mean(weighted)


def _weighted(text: str, options: TopicOptions, depth: int) -> tuple[Topic, float]:
    match = _WEIGHT.match(text)
    weight = float(match[1]) if match else 1.0
    return _single(text[match.end() :] if match else text, options, depth), weight


def _single(text: str, options: TopicOptions, depth: int) -> Topic:
    if group := _GROUP.match(text):
        parts = [_sum(part, options, depth + 1) for part in _split(group[2], _is_comma)]
        kind = AllOf if group[1] == "all" else AnyOf
        return parts[0] if len(parts) == 1 else kind((part, 1.0) for part in parts)
    if topic := _TOPIC.match(text):
        return load_topic(topic[1], topic[3], options)
    if not text.strip():
        raise UsageError("about: a topic is missing: write NAME:ARGUMENT, such as keywords:fish")
    raise UsageError(
        f"about: cannot read {text.strip()!r}: write NAME:ARGUMENT, such as keywords:fish"
    )


def _is_plus(text: str, at: int) -> bool:
    """Whether a `` + `` begins at this position."""
    return text.startswith(" + ", at)


def _is_comma(text: str, at: int) -> bool:
    """Whether a comma at this position separates topics."""
    return text[at] == "," and _BEGINS.match(text, at + 1) is not None


def _split(text: str, separates: Callable[[str, int], bool]) -> list[str]:
    """Split a text where ``separates`` holds, outside quotes and parentheses."""
    parts, start, depth, quoted = [], 0, 0, False
    for at, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth < 0:
                raise UsageError(f"about: a ) without its ( in {text.strip()}")
        elif not depth and separates(text, at):
            parts.append(text[start:at])
            start = at + (3 if sign == " " else 1)
    if quoted:
        raise UsageError(f"about: a quotation mark is not closed in {text.strip()}")
    if depth:
        raise UsageError(f"about: a ( without its ) in {text.strip()}")
    return [*parts, text[start:]]


class PageJudge:
    """Judges the pages of one crawl by a topic.

    A page is judged by its own text: what most pages of its site repeat does not count. Lists of
    links count to guide the crawl, as where they lead may be about the topic. Whether the page is
    kept is decided by the rest of its text.
    """

    def __init__(self, topic: Topic) -> None:
        """Judge by ``topic``."""
        self._topic = topic
        self._texts = OwnTexts()
        self._reads = TEXT in topic.needs
        #: a topic that learns from what it judges must see each page once
        self._once = any(getattr(each, "learns", False) for each in (topic, *parts_of(topic)))

    def judge(
        self, url: str, text: PageText, data: Reading | None = None, markup: bytes = b""
    ) -> Judgement:
        """Judge a page by its text, the data embedded in it, and its bytes."""
        own = self._texts.own(url, text) if self._reads else text
        if self._once:
            own = main_text(own)
        judged = self._topic.judge(Document.of_page(url, own, data, markup))
        if not self._reads or not own.lists or judged.deciding <= NEAR or self._once:
            return judged
        again = self._topic.judge(Document.of_page(url, main_text(own), data, markup))
        if again.deciding >= judged.deciding:
            return judged
        return replace(judged, decides=again.deciding)


#: documents judged last whose words count less
_OTHERS = 50


class FirstResults(Examples):
    """Texts like the first results: their heaviest words, less those of other documents."""

    name = "first results"


class Widened(AnyOf):
    """A topic, and what is like the first documents about it.

    The first ``results`` documents that reach the threshold become samples, the last others bad
    ones. The :attr:`Examples.FEATURES` words that distinguish them widen the topic, once: later
    results do not, so the topic does not drift. **Reading**: TF-IDF is the logarithm of a word's
    frequency less its mean in the other documents.
    """

    name = "widened"
    learns = True

    def __init__(self, topic: Topic, results: int, threshold: float, options: TopicOptions) -> None:
        """Widen ``topic`` after so many results; raise ``UsageError`` if it knows no words."""
        if not topic.knows_words:
            raise UsageError(
                f"about: {topic.name} knows no words, so SEMCRAWL_ABOUT_WIDEN cannot widen it"
            )
        super().__init__([(topic, 1.0)])
        self.needs |= {TEXT, STATEMENTS}
        self._results, self._threshold, self._options = results, threshold, options
        self._found: list[Sample] = []
        self._others: deque[Sample] = deque(maxlen=_OTHERS)

    def judge(self, document: Document) -> Judgement:
        """Judge by the topic, and by the likeness to the first results once there are enough."""
        judgement = super().judge(document)
        if len(self._found) < self._results and (sample := self._sample(document)):
            about_it = judgement.deciding >= self._threshold
            (self._found if about_it else self._others).append(sample)
            if len(self._found) == self._results:
                self._widen()
        return judgement

    def _widen(self) -> None:
        try:
            likeness = FirstResults(self._found, list(self._others), self._options)
        except UsageError:  # nothing but stop words
            return
        self.parts += ((likeness, 1.0),)
        self._with_words = list(self.parts)

    def _sample(self, document: Document) -> Sample | None:
        texts: dict[Role, list[str]] = defaultdict(list)
        for passage in (found := passages(document, self._options.max_size)):
            texts[passage.role].append(passage.text)
        if not found:
            return None
        body, title, headings = (
            "\n".join(texts[role]) for role in (Role.BODY, Role.TITLE, Role.HEADING)
        )
        return Sample(body, title, headings, found[0].language)
