"""Locks open files against other handles, in this process and others.

Where there is ``flock``, portalocker would do the same, and load a Redis client.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import IO

if sys.platform == "win32":
    import portalocker
else:
    import fcntl

__all__ = ["lock", "try_lock", "unlock"]


def lock(file: IO[bytes] | int, *, shared: bool = False) -> None:
    """Wait for the lock of an open file, held until :func:`unlock` or until the file is closed.

    ``shared`` locks exclude only exclusive ones. Raises ``OSError`` if the file system has no
    locks.
    """
    _take(file, shared=shared)


def try_lock(file: IO[bytes] | int) -> bool:
    """Take the exclusive lock of an open file if it is free; return whether it was.

    Raises ``OSError`` if the file system has no locks.
    """
    with suppress(BlockingIOError):
        _take(file, waits=False)
        return True
    return False


if sys.platform == "win32":

    def _take(file: IO[bytes] | int, *, shared: bool = False, waits: bool = True) -> None:
        kind = portalocker.LockFlags.SHARED if shared else portalocker.LockFlags.EXCLUSIVE
        try:
            portalocker.lock(file, kind if waits else kind | portalocker.LockFlags.NON_BLOCKING)
        except portalocker.AlreadyLocked as error:
            raise BlockingIOError(str(error)) from error
        except portalocker.LockException as error:
            raise OSError(str(error)) from error

    def unlock(file: IO[bytes] | int) -> None:
        """Release the lock of an open file."""
        portalocker.unlock(file)

else:

    def _take(file: IO[bytes] | int, *, shared: bool = False, waits: bool = True) -> None:
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        fcntl.flock(file, kind if waits else kind | fcntl.LOCK_NB)

    def unlock(file: IO[bytes] | int) -> None:
        """Release the lock of an open file."""
        fcntl.flock(file, fcntl.LOCK_UN)
