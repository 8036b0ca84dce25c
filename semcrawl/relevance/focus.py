"""The topic of a crawl, how strictly the crawl keeps to it, and the grade of a document."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from semcrawl import settings as defaults
from semcrawl.settings.reader import Values
from semcrawl.topics import TEXT, Topic, TopicOptions, about, needs_of, threshold

#: gain of a document of the wanted kind just below the threshold, and of one that just reaches it.
#: Strategies thus prefer targets to near misses, and near misses to nothing
_NEAR_MISS = 0.25
_REACHED = 0.75
#: rows of reasons that a record or a page keeps
MAX_REASONS = 8


#: worth of an empty document, if documents count too: less than a page that leads to a full one
_EMPTY = 0.1
#: number of statements from which on a document is worth 1, if statements count
_FULL = 10_000


class Counting(StrEnum):
    """What counts in a crawl without a topic (``SEMCRAWL_WORTH``)."""

    DOCUMENTS = "documents"
    STATEMENTS = "statements"
    BOTH = "both"

    def worth(self, statements: int, *, unread: bool = False) -> float:
        """Return how much of a target an RDF document with so many statements is, 0 to 1.

        Of an ``unread`` one nothing is known, so it is worth 1.
        """
        if unread or self is Counting.DOCUMENTS:
            return 1.0
        if self is Counting.BOTH:
            return 1.0 if statements else _EMPTY
        return min(1.0, math.log(1 + statements) / math.log(1 + _FULL))


@dataclass(frozen=True, slots=True)
class Focus:
    """The topic of a crawl, and how strictly the crawl keeps to it."""

    topic: Topic | None = None
    #: as the user gave it
    about: str = ""
    #: least relevance of a target, 0 to 1
    threshold: float = 0.5
    #: whether documents below the threshold are kept too
    keep_all: bool = False
    #: whether the crawl ignores the links of documents that only miss the threshold
    hard: bool = False
    #: characters of a page's text to judge
    max_size: int = defaults.SEMCRAWL_ABOUT_MAX_SIZE
    #: what counts without a topic
    counting: Counting = Counting.BOTH


def read_focus(settings: Mapping[str, Any]) -> Focus:
    """Read ``SEMCRAWL_ABOUT`` and its related settings; raise ``UsageError`` for a wrong one."""
    values = Values(settings)
    return Focus(
        about(settings.get("SEMCRAWL_ABOUT") or "", settings),
        about_text(settings),
        threshold(settings),
        values["SEMCRAWL_KEEP"] == "all",
        values["SEMCRAWL_FOCUS"] == "hard",
        TopicOptions.from_settings(settings).max_size,
        Counting(values["SEMCRAWL_WORTH"]),
    )


def usual_targets(settings: Mapping[str, Any]) -> str:
    """Return the targets of a crawl that names none: what its topic reads; empty without a topic.

    They are RDF and pages with embedded data, and all pages if the topic reads texts. ``new``
    alone, which has no subject, changes none. Raises ``UsageError`` for a wrong ``SEMCRAWL_ABOUT``.
    """
    about = settings.get("SEMCRAWL_ABOUT") or ""
    given = any(one.strip() for one in ([about] if isinstance(about, str) else about))
    needs = needs_of(about) if given else frozenset()
    if not needs:
        return ""
    return "rdf,embedded,html" if TEXT in needs else "rdf,embedded"


def about_text(settings: Mapping[str, Any]) -> str:
    """Return the topic as the user gave it, in one line; empty without one."""
    given = settings.get("SEMCRAWL_ABOUT") or ""
    return given if isinstance(given, str) else ", ".join(map(str, given))


class Grade(NamedTuple):
    """A document as a target."""

    #: whether it counts as a target
    target: bool
    #: how much of one it is, 0 to 1
    gain: float


def leads_on(hard: bool, counts: bool, deciding: float, threshold: float) -> bool:
    """Whether the links of a judged document are followed; ``hard``: the crawl's focus is.

    What is not of a kind that the crawl looks for is not expected to be about the topic.
    """
    return deciding >= threshold or not (hard and counts)


def grade(
    counts: bool, relevance: float | None, threshold: float, worth: float | None = None
) -> Grade:
    """Grade a document as a target.

    ``counts`` says whether it is of a wanted kind, ``relevance`` how relevant it is to the topic, 0
    to 1, or ``None`` without a topic. It is a target if it counts and its relevance reaches
    ``threshold``. The gain rises with the relevance, from 0 to 0.25 below the threshold and from
    0.75 to 1 above. If the topic gives a ``worth`` (:attr:`Judgement.worth`), the gain is that.
    """
    if relevance is None or not counts:
        return Grade(counts, float(counts))
    relevance = min(1.0, max(0.0, relevance))
    if worth is not None:
        return Grade(relevance >= threshold, min(1.0, max(0.0, worth)))
    if relevance < threshold:
        return Grade(False, _NEAR_MISS * relevance / threshold)
    above = (relevance - threshold) / (1 - threshold) if threshold < 1 else 1.0
    return Grade(True, _REACHED + (1 - _REACHED) * above)
