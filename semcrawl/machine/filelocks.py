"""Locks on open files, which keep out other handles of this process and of others."""

from __future__ import annotations

from typing import IO

from portalocker import AlreadyLocked, LockException, LockFlags
from portalocker import lock as _lock
from portalocker import unlock as _unlock

__all__ = ["lock", "try_lock", "unlock"]


def lock(file: IO[bytes] | int, *, shared: bool = False) -> None:
    """Wait for the lock of an open file; it ends with :func:`unlock` and when the file is closed.

    Those who want it ``shared`` keep out only those who do not. Raises ``OSError`` where the file
    system has no locks.
    """
    try:
        _lock(file, LockFlags.SHARED if shared else LockFlags.EXCLUSIVE)
    except LockException as error:
        raise OSError(str(error)) from error


def try_lock(file: IO[bytes] | int) -> bool:
    """Take the lock of an open file for this handle alone; return whether it was free."""
    try:
        _lock(file, LockFlags.EXCLUSIVE | LockFlags.NON_BLOCKING)
    except AlreadyLocked:
        return False
    except LockException as error:
        raise OSError(str(error)) from error
    return True


def unlock(file: IO[bytes] | int) -> None:
    """Let others have the lock."""
    _unlock(file)
