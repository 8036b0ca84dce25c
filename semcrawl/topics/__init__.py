"""Topics: a topic says what a crawl is about, and judges the documents that were read."""

from semcrawl.topics.about import about, needs_of, threshold
from semcrawl.topics.contract import (
    MARKUP,
    NEAR,
    STATEMENTS,
    STOPPED,
    TEXT,
    Closing,
    Combining,
    Document,
    Judgement,
    Remembering,
    StatementMemory,
    Topic,
    parts_of,
)
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.registry import TOPICS, load_topic

__all__ = [
    "MARKUP",
    "NEAR",
    "STATEMENTS",
    "STOPPED",
    "TEXT",
    "TOPICS",
    "Closing",
    "Combining",
    "Document",
    "Judgement",
    "Remembering",
    "StatementMemory",
    "Topic",
    "TopicOptions",
    "about",
    "load_topic",
    "needs_of",
    "parts_of",
    "threshold",
]
