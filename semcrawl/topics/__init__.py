"""Topics: a topic says what a crawl is about, and judges the documents that were read."""

from semcrawl.topics.about import TOPICS, about, load_topic, needs_of, threshold
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
    TopicOptions,
    parts_of,
)

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
