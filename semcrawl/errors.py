"""Every error that semcrawl raises on purpose.

Each carries one line fit for a user's eyes::

    SemcrawlError
    ├── UsageError         the command line, a setting or a file given by the user is wrong
    ├── FrontierError      the frontier cannot go on
    │   ├── FrontierUnavailable   its server or file cannot be used now
    │   └── FrontierCorrupt       a key or file holds what it should not
    │       └── FrontierGone          its file is not there any more
    └── StoreError         a target of the results cannot be written
        └── ResultsGone           results that were written are not there any more
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SemcrawlError(Exception):
    """Base of all errors of this package; ``str(error)`` is one line for the user."""


class UsageError(SemcrawlError):
    """A command line, a setting or an input file is wrong."""


class FrontierError(SemcrawlError):
    """The frontier cannot do what was asked."""


class FrontierUnavailable(FrontierError):  # noqa: N818 - a state of the server
    """The frontier's server is away, refuses, or is read-only."""


class FrontierCorrupt(FrontierError):  # noqa: N818 - a state of a key
    """The frontier holds something else than it should; the message names the key or file."""


class FrontierGone(FrontierCorrupt):
    """The file of the frontier was deleted, moved or replaced while a crawl was using it."""


class StoreError(SemcrawlError):
    """Results cannot be written to their target."""


class ResultsGone(StoreError):  # noqa: N818 - a state of files
    """A file of the results was deleted, moved or replaced while a crawl wrote to it."""


def existing_folder(folder: Path) -> Path:
    """Return a folder that the user gave; raise ``UsageError`` if there is none."""
    if not folder.is_dir():
        is_file = folder.exists()
        raise UsageError(f"{folder} is no folder" if is_file else f"there is no folder {folder}")
    return folder


@contextmanager
def os_errors_as(kind: type[SemcrawlError], what: str) -> Iterator[None]:
    """Raise an ``OSError`` as ``kind``, in one line that begins with ``what``."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}") from None
