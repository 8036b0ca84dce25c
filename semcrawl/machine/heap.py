"""Gives memory back to the system that the C library keeps for later."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


@cache
def _trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):  # not glibc
        return lambda kept: 0


def give_back() -> None:
    """Give the free pages of all heaps back to the system; nothing happens without glibc.

    A heap that was large once, for the state of a model or a long document, stays so in pieces:
    after 20,000 requests a crawl had 77 MB in use and 218 MB free, half of its resident memory.
    """
    _trim()(0)
