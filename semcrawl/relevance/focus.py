"""The topic of a crawl and how strictly it is kept to: settings made into one part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semcrawl import settings as defaults
from semcrawl.errors import UsageError
from semcrawl.topics import Topic, TopicOptions, about, threshold


@dataclass(frozen=True, slots=True)
class Focus:
    """The topic of a crawl, and how strictly the crawl keeps to it."""

    topic: Topic | None = None
    #: as the user gave it
    about: str = ""
    #: relevance from which on a document counts, 0 to 1
    threshold: float = 0.5
    #: whether documents below the threshold go to the results as well
    keep_all: bool = False
    #: whether the links of targets' kinds below the threshold are left alone
    hard: bool = False
    #: characters of a page's text that are judged
    max_size: int = defaults.SEMCRAWL_ABOUT_MAX_SIZE


def read_focus(settings: Mapping[str, Any]) -> Focus:
    """Read ``SEMCRAWL_ABOUT`` and its kin; raise ``UsageError`` for wrong ones."""
    return Focus(
        about(settings.get("SEMCRAWL_ABOUT") or "", settings),
        about_text(settings),
        threshold(settings),
        _one_of(settings, "SEMCRAWL_KEEP", ("relevant", "all")) == "all",
        _one_of(settings, "SEMCRAWL_FOCUS", ("soft", "hard")) == "hard",
        TopicOptions.from_settings(settings).max_size,
    )


def about_text(settings: Mapping[str, Any]) -> str:
    """Return the topic as the user gave it, in one line; empty without one."""
    given = settings.get("SEMCRAWL_ABOUT") or ""
    return given if isinstance(given, str) else ", ".join(map(str, given))


def _one_of(settings: Mapping[str, Any], name: str, words: tuple[str, ...]) -> str:
    word = str(settings.get(name) or words[0]).strip().lower()
    if word not in words:
        raise UsageError(f"{name} must be {' or '.join(words)}, not {settings.get(name)!r}")
    return word
