"""Locks open files against other handles, in this process and others."""

from __future__ import annotations

from typing import IO

from portalocker import AlreadyLocked, LockException, LockFlags
from portalocker import lock as _lock
from portalocker import unlock as _unlock

__all__ = ["lock", "try_lock", "unlock"]


def lock(file: IO[bytes] | int, *, shared: bool = False) -> None:
    """Wait for the lock of an open file, held until :func:`unlock` or until the file is closed.

    ``shared`` locks exclude only exclusive ones. Raises ``OSError`` if the file system has no
    locks.
    """
    try:
        _lock(file, LockFlags.SHARED if shared else LockFlags.EXCLUSIVE)
    except LockException as error:
        raise OSError(str(error)) from error


def try_lock(file: IO[bytes] | int) -> bool:
    """Take the exclusive lock of an open file if it is free; return whether it was."""
    try:
        _lock(file, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING)
    except AlreadyLocked:
        return False
    except LockException as error:
        raise OSError(str(error)) from error
    return True


def unlock(file: IO[bytes] | int) -> None:
    """Release the lock of an open file."""
    _unlock(file)
