"""Handles the signals that end a command."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["signals_call"]

#: ending signals; not every system has all
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


@contextmanager
def signals_call(
    function: Callable[[], object], names: tuple[str, ...] = _ENDING
) -> Iterator[None]:
    """Call ``function`` on Ctrl-C and the like; restore the former handlers at the end.

    Ignored signals stay ignored. Works in the main thread only.
    """
    numbers = [number for name in names if (number := getattr(signal, name, None))]
    before = {
        number: handler
        for number in numbers
        if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, lambda *_: function())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
