"""Options of topics besides their argument: bounds, and the way they read files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from semcrawl import settings as defaults
from semcrawl.errors import UsageError, os_errors_as
from semcrawl.settings.reader import Values

#: name of the setting with the function that fetches URLs of topics; without it they are refused
FETCH = "SEMCRAWL_ABOUT_FETCH"


def read_file(
    name: str,
    fetch: Callable[[str], bytes] | None = None,
    most: int = defaults.SEMCRAWL_ABOUT_MAX_FILE,
) -> bytes:
    """Return the bytes of a file or URL; raise ``UsageError`` if it cannot be read.

    A file of more than ``most`` bytes is refused, and so is a device without end. ``fetch`` returns
    the bytes of a URL, or raises ``UsageError``; without it URLs are refused.
    """
    if name[:8].lower().startswith(("http://", "https://")):
        if fetch is None:
            raise UsageError(f"{name} cannot be fetched here: save it, and name the file")
        return fetch(name)
    with os_errors_as(UsageError, f"cannot read {name}"), Path(name).open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise UsageError(f"{name} has more than {most:,} bytes (SEMCRAWL_ABOUT_MAX_FILE)")
    return data


@dataclass(frozen=True, slots=True)
class TopicOptions:
    """Bounds of a judgement, and access to the files and URLs of a topic."""

    #: bytes of a document's statements, and characters of its text, to read from its beginning
    max_size: int = defaults.SEMCRAWL_ABOUT_MAX_SIZE
    #: returns the bytes of a file or URL that a topic names; raises ``UsageError``
    read: Callable[[str], bytes] = read_file
    #: bytes of the statements of a topic's file, beyond which it is refused
    max_file: int = defaults.SEMCRAWL_ABOUT_MAX_FILE
    #: all settings, for topics that have their own
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_settings(
        cls, settings: Mapping[str, Any], read: Callable[[str], bytes] | None = None
    ) -> Self:
        """Read the settings; raise ``UsageError`` for a wrong one.

        Without ``read``, the function in the setting :data:`FETCH` fetches URLs.
        """
        most = Values(settings)["SEMCRAWL_ABOUT_MAX_FILE"]
        read = read or partial(read_file, fetch=settings.get(FETCH), most=most)
        return cls(Values(settings)["SEMCRAWL_ABOUT_MAX_SIZE"], read, most, settings)
