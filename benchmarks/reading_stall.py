"""How long the crawl's event loop stands still while a large document is read.

Reads N-Triples of about 50 MB in the event loop's own thread and in a worker thread, side by side,
and prints the longest pause that a task waking every 5 milliseconds saw, and the ratio.

    python benchmarks/reading_stall.py [--megabytes 50]
"""

from __future__ import annotations

import argparse
import asyncio
import time

from scrapy.settings import Settings

import semcrawl.settings
from semcrawl.spiders.reading import Reader, discard
from semcrawl.urls import DEFAULT_NORMALISATION

URL = "http://d.example/big.nt"
PAUSE = 0.005  # seconds


def document(size: int) -> bytes:
    """N-Triples of about so many bytes."""
    line = '<http://d.example/s/{0}> <http://v.example/label> "value number {0} of many" .\n'
    return "".join(line.format(n) for n in range(size // len(line.format(100_000)))).encode()


async def longest_stall(reader: Reader, body: bytes) -> tuple[float, float]:
    """Return the longest stall and the time of one reading, in seconds."""
    worst = 0.0

    async def beat() -> None:
        nonlocal worst
        while True:
            before = time.perf_counter()
            await asyncio.sleep(PAUSE)
            worst = max(worst, time.perf_counter() - before - PAUSE)

    task = asyncio.create_task(beat())
    await asyncio.sleep(10 * PAUSE)
    start = time.perf_counter()
    discard(await reader.read(body, URL, "application/n-triples"))
    elapsed = time.perf_counter() - start
    await asyncio.sleep(2 * PAUSE)
    task.cancel()
    return worst, elapsed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    body = document(parser.parse_args().megabytes * 1_000_000)
    names = [name for name in dir(semcrawl.settings) if name.startswith("SEMCRAWL_")]
    values = {name: getattr(semcrawl.settings, name) for name in names}
    reader = Reader.from_settings(Settings(values), DEFAULT_NORMALISATION)
    stalls = {}
    for name, limit in (("in the loop", len(body)), ("in a thread", 0)):
        reader.thread_above = limit
        stalls[name], elapsed = asyncio.run(longest_stall(reader, body))
        print(f"{name}: longest stall {stalls[name]:.3f} s, reading {elapsed:.1f} s")
    print(f"ratio: {stalls['in the loop'] / stalls['in a thread']:.0f}")


if __name__ == "__main__":
    main()
