"""Checks other processes of this machine."""

from __future__ import annotations

import os
import sys


def is_alive(pid: int) -> bool:
    """Whether a process of any user runs."""
    if sys.platform == "win32":
        import psutil  # on Windows os.kill would end the process

        return bool(psutil.pid_exists(pid))
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
