"""Files that are whole under their name, or not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the name ``path`` when the block ends; an error leaves none.

    Of a link the file that it leads to is replaced. A device or a pipe (``/dev/null``) stays what
    it is, and is written to. Raises ``OSError``, which names ``path``.
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
        with suppress(OSError):  # a disk that may not be written has none
            part.unlink()
        if isinstance(error, OSError) and error.filename == str(part):
            error.filename = str(path)  # (no other process uses the other name)
        raise


def umask() -> int:
    """Return the permissions that the process takes from the files that it makes."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def is_special(path: Path) -> bool:
    """Whether a path is there and no ordinary file, so that nothing may take its place."""
    return path.exists() and not path.is_file()
