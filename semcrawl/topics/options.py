"""Options of topics besides their argument: bounds, and how they read files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from semcrawl import settings as defaults
from semcrawl.errors import UsageError

#: what fetches URLs in this process, and what it fetched: several topics may be made of one
_fetch: Callable[[str], bytes] | None = None
_fetched: dict[str, bytes] = {}


def fetch_by(fetch: Callable[[str], bytes] | None) -> None:
    """Choose how the URLs of topics are fetched in this process; without a way they are refused.

    ``fetch`` raises ``UsageError`` for what cannot be had. What was fetched is not asked for again.
    """
    global _fetch
    _fetch = fetch


def read_file(name: str) -> bytes:
    """Return the bytes of a file or URL; raise ``UsageError`` for what cannot be read.

    URLs are read as :func:`fetch_by` was told.
    """
    if name[:8].lower().startswith(("http://", "https://")):
        if name not in _fetched:
            if _fetch is None:
                raise UsageError(f"{name} cannot be fetched here: save it, and name the file")
            _fetched[name] = _fetch(name)
        return _fetched[name]
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror or error}") from None


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """Bounds of a judgement, and how the files and URLs of a topic are read."""

    #: bytes of a document's statements, and characters of its text, that are read: the first ones
    max_size: int = defaults.SEMCRAWL_ABOUT_MAX_SIZE
    #: returns the bytes of a file or URL that a topic names; raises ``UsageError``
    read: Callable[[str], bytes] = read_file
    #: all settings, for topics that have their own
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_settings(
        cls, settings: Mapping[str, Any], read: Callable[[str], bytes] = read_file
    ) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        return cls(whole_number(settings, "SEMCRAWL_ABOUT_MAX_SIZE"), read, settings)


def whole_number(settings: Mapping[str, Any], name: str) -> int:
    """Return a setting that is a whole number from 1; raise ``UsageError`` when it is none."""
    value = settings.get(name, getattr(defaults, name))
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = 0
    if number < 1:
        raise UsageError(f"{name} must be a whole number from 1, not {value!r}")
    return number
