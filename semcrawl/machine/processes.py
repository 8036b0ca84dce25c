"""Checks other processes of this machine, and bounds the memory of this one."""

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


def bound_memory(size: int) -> None:
    """Limit this process to ``size`` bytes of memory, where the system supports it."""
    if sys.platform == "win32":
        return
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (size if most < 0 else min(size, most), most))
