"""Writes files atomically, and brings data to the disk for good."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

#: errors of a disk that has no more room or is broken, of which the system names no file
_OF_WRITING = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that gets the name ``path`` when the block ends without an error.

    A symbolic link stays, and its target is replaced. A device or pipe such as ``/dev/null`` is
    written directly. Raises ``OSError`` that names ``path``.
    """
    if is_special(path):
        try:
            with path.open("wb") as file:
                yield file
        except OSError as error:
            _name(error, path)
            raise
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
        if isinstance(error, OSError):
            _name(error, path, part)
        raise


def _name(error: OSError, path: Path, part: Path | None = None) -> None:
    """Name the file in an error of writing: only those of opening name it by themselves."""
    if error.filename == str(part) or (error.filename is None and error.errno in _OF_WRITING):
        error.filename = str(path)


def sync(descriptor: int) -> None:
    """Return when a file's data are on the disk, so that they survive a power loss."""
    # macOS and Windows have no call that leaves out the times of the file
    getattr(os, "fdatasync", os.fsync)(descriptor)


def sync_folder(path: Path) -> None:
    """Return when the names of a folder's files are on the disk; Windows has no such call."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def umask() -> int:
    """Return the permissions that the process takes from the files that it makes."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def is_special(path: Path) -> bool:
    """Whether a path exists and is not a regular file, so it must not be replaced."""
    return path.exists() and not path.is_file()
