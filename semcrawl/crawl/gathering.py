"""Letting a busy crawl read on, so that what is told and taken goes to Redis together."""

from __future__ import annotations

import asyncio
import time

#: seconds, at most, for which a busy crawl reads on before the frontier is told of it
_GATHERING = 0.01
#: a round of the event loop that takes less has found nothing to read, seconds
_IDLE_ROUND = 0.0003


async def let_others_work() -> None:
    """Wait until all that has arrived is read, but not for long.

    What is told and taken at once costs hardly more than a part of it.
    """
    began = last = time.monotonic()
    idle_rounds = 0
    while idle_rounds < 2 and last - began < _GATHERING:
        await asyncio.sleep(0)
        now = time.monotonic()
        idle_rounds = idle_rounds + 1 if now - last < _IDLE_ROUND else 0
        last = now
