"""Signals that end a command."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["signals_call"]

#: of these a system has some
_ENDING = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")


@contextmanager
def signals_call(
    function: Callable[[], object], names: tuple[str, ...] = _ENDING
) -> Iterator[None]:
    """Call ``function`` at Ctrl-C and the like; give the former handlers back at the end.

    Signals that are ignored stay ignored. This works in the main thread only.
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
