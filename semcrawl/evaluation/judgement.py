"""Judges the documents of a world by a topic, as a crawl does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from semcrawl import rdf
from semcrawl.config.targets import Targets
from semcrawl.errors import UsageError
from semcrawl.evaluation.world import Answer
from semcrawl.links.pagetext import page_text
from semcrawl.links.parsing import parse_html
from semcrawl.topics import (
    MARKUP,
    STATEMENTS,
    TEXT,
    Document,
    Judgement,
    Remembering,
    Topic,
    about,
    parts_of,
    threshold,
)
from semcrawl.web.vocabulary import Kind

#: judges a document by its URL, answer and body
Judge = Callable[[str, Answer, bytes], Judgement]


@dataclass(frozen=True)
class Aim:
    """The topic of a crawl, and the least relevance of a target."""

    judge: Judge
    threshold: float
    #: kinds of documents that may be targets
    targets: Targets

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Aim | None:
        """Read the topic, its threshold and the targets; return ``None`` without a topic.

        The default targets are RDF, and also pages if the topic reads texts. Raises ``UsageError``
        for wrong values.
        """
        topic = about(settings.get("SEMCRAWL_ABOUT") or "", settings)
        if topic is None:
            return None
        if any(isinstance(part, Remembering) for part in parts_of(topic)):
            raise UsageError(
                f"about: {topic.name}: what is new depends on the order of requests; "
                "evaluate counts distinct statements for every strategy instead"
            )
        names = settings.get("SEMCRAWL_TARGETS") or ("rdf,html" if TEXT in topic.needs else "rdf")
        return cls(judge_by(topic), threshold(settings), Targets.parse(names))

    def counts(self, answer: Answer, relevance: float | None) -> bool:
        """Whether a document is of a kind that may be a target.

        A page with any relevance is assumed to hold data.
        """
        kind = answer.kind or Kind.OTHER
        if self.targets.images and answer.content_type.startswith("image/"):
            return True
        return self.targets.include(kind, answer.content_type, bool(relevance))

    def reached(self, answer: Answer, relevance: float | None) -> bool:
        """Whether a document with this relevance is a target."""
        reached = relevance is not None and relevance >= self.threshold
        return reached and answer.status == 200 and self.counts(answer, relevance)


def judge_by(topic: Topic, max_text: int = 1 << 20) -> Judge:
    """Return a function that judges pages by text and embedded data, and RDF by its statements.

    It reads at most ``max_text`` characters of a page's text.
    """

    def judge(url: str, answer: Answer, body: bytes) -> Judgement:
        content_type = answer.content_type or None
        if answer.kind is Kind.RDF:
            nquads = rdf.read(body, url, content_type).nquads
            return topic.judge(Document(url, Kind.RDF, statements=lambda: (nquads,)))
        root = parse_html(body, content_type).root if TEXT in topic.needs else None
        quads = rdf.read_embedded(body, url, content_type).nquads if embedded else b""
        markup = body if MARKUP in topic.needs else b""
        document = Document(url, Kind.HTML, statements=lambda: (quads,), markup=markup)
        if root is not None:
            text = page_text(root, max_text)
            document = Document(
                url,
                Kind.HTML,
                text.title,
                text.headings,
                text.text,
                text.language,
                lambda: (quads,),
                markup,
            )
        return topic.judge(document)

    embedded = STATEMENTS in topic.needs
    return judge
