"""Writes files atomically: a file is complete under its name, or absent."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets the name ``path`` when the block ends without an error.

    A symbolic link stays, and its target is replaced. A device or pipe such as ``/dev/null`` is
    written directly. Raises ``OSError`` that names ``path``.
    """
    if is_special(path):
        with path.open("wb") as file:
            yield file
        return
    target = path.resolve()
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("wb") as file:
            yield file
        part.replace(target)
    except BaseException as error:
        with suppress(OSError):  # it may not exist
            part.unlink()
        if isinstance(error, OSError) and error.filename == str(part):
            error.filename = str(path)
        raise


def umask() -> int:
    """Return the permissions that the process takes from the files that it makes."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def is_special(path: Path) -> bool:
    """Whether a path exists and is not a regular file, so it must not be replaced."""
    return path.exists() and not path.is_file()
