"""Parses ``SEMCRAWL_ABOUT``: the topics of a crawl and how they combine.

``keywords:merge sort,quick sort`` is one topic: a name and its argument. ``all(…, …)``,
``any(…, …)`` and ``0.7*… + 0.3*…`` combine topics. Text in double quotes is taken literally.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any as Anything

from semcrawl import settings as defaults
from semcrawl.errors import UsageError
from semcrawl.settings.reader import Values
from semcrawl.topics._combining import All, Any, Mean
from semcrawl.topics.contract import Topic
from semcrawl.topics.options import TopicOptions
from semcrawl.topics.registry import TOPICS, load_topic, topic_class

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
    topic = topics[0] if len(topics) == 1 else All((topic, 1.0) for topic in topics)
    results = Values(settings)["SEMCRAWL_ABOUT_WIDEN"]
    if not results:
        return topic
    from semcrawl.topics._widening import Widened

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
        kind = All if group[1] == "all" else Any
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
