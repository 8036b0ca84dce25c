"""Widens a topic by the words of the first results (T 2.3 in sources.md)."""

from __future__ import annotations

from collections import defaultdict, deque

from semcrawl.errors import UsageError
from semcrawl.topics._combining import Any
from semcrawl.topics.contract import STATEMENTS, TEXT, Document, Judgement, Topic
from semcrawl.topics.examples import Examples
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.passages import Role, passages
from semcrawl.topics.sourcefiles import Sample

#: documents judged last whose words count less
_OTHERS = 50


class FirstResults(Examples):
    """Texts like the first results: their heaviest words, less those of other documents."""

    name = "first results"


class Widened(Any):
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
