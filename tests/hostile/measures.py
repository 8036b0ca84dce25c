"""Measures of a crawl from outside: the server's log, the processes, the files left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Self


class Memory:
    """Watches the memory of a process and all its children while in use as a context manager.

    :attr:`peak` (bytes) is the largest sum of what they have resident, what several share counted
    once, by looks ten times a second; at least the most that one of them ever had by itself.
    """

    def __init__(self, pid: int, every: float = 0.1) -> None:
        self.peak = 0
        self._pid = pid
        self._every = every
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(self._every):
            family = _family(self._pid)
            resident = sum(_bytes_of(member, "smaps_rollup", "Pss:") for member in family)
            most = max(_bytes_of(member, "status", "VmHWM:") for member in family)
            self.peak = max(self.peak, resident, most)


def _family(pid: int) -> list[int]:
    family = [pid]
    for member in family:
        try:
            for children in Path(f"/proc/{member}/task").glob("*/children"):
                family += map(int, children.read_text().split())
        except OSError:
            continue
    return family


def _bytes_of(pid: int, file: str, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/{file}").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    kilobytes = (line.split()[1] for line in lines if line.startswith(name))
    return int(next(kilobytes, "0")) * 1024


def gaps(times: Iterable[float]) -> list[float]:
    """Seconds between one and the next."""
    return [later - earlier for earlier, later in pairwise(sorted(times))]


def wait(condition: Callable[[], bool], seconds: float, every: float = 0.1) -> bool:
    """Wait for a condition, ``seconds`` at most; return whether it holds."""
    over = threading.Event()
    for _ in range(int(seconds / every)):
        if condition():
            return True
        over.wait(every)
    return condition()
