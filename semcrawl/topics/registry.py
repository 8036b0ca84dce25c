"""Finds topics by name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from semcrawl.errors import UsageError
from semcrawl.topics.contract import Topic
from semcrawl.topics.options import TopicOptions

#: import paths of the topics that come with semcrawl
TOPICS: Mapping[str, str] = {
    "examples": "semcrawl.topics.examples.Examples",
    "keywords": "semcrawl.topics.keywords.Keywords",
    "new": "semcrawl.topics.novelty.New",
    "ontology": "semcrawl.topics.ontology.Ontology",
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
