"""The topic of a crawl of a world, and what it counts as a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semcrawl.config.targets import Targets
from semcrawl.errors import UsageError
from semcrawl.evaluation.nodes import Node
from semcrawl.relevance.focus import leads_on, read_focus
from semcrawl.topics import TEXT, Remembering, Topic, about, parts_of, threshold
from semcrawl.web.vocabulary import Kind


@dataclass(frozen=True)
class Aim:
    """The topic of a crawl, and the least relevance of a target."""

    judge: Topic
    threshold: float
    #: kinds of documents that may be targets
    targets: Targets
    #: whether the links of documents that only miss the threshold are ignored
    hard: bool = False

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
        hard = read_focus(settings).hard
        return cls(topic, threshold(settings), Targets.parse(names), hard)

    def counts(self, node: Node) -> bool:
        """Whether a document is of a kind that may be a target."""
        answer = node.answer
        if self.targets.images and answer.content_type.startswith("image/"):
            return True
        return self.targets.include(answer.kind or Kind.OTHER, answer.content_type, node.quads)

    def leads_on(self, node: Node) -> bool:
        """Whether the links of a document are followed."""
        if node.judged is None:
            return True
        counts = node.keeps and self.counts(node)
        return leads_on(self.hard, counts, node.judged.deciding, self.threshold)

    def reached(self, node: Node) -> bool:
        """Whether a document is relevant enough to be a target."""
        relevance = node.relevance
        reached = relevance is not None and relevance >= self.threshold
        return reached and node.answer.is_success and self.counts(node)
