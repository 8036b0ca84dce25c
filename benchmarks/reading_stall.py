"""How long the crawl's event loop stands still while large documents are read.

Three loads, each read in the event loop's own thread and beside it, side by side: one
document of N-Triples, many documents of Turtle that come at the same time, and one HTML page with
RDFa in every row, whose links are looked for too. Prints the longest pause that a task waking every
5 milliseconds saw, and the ratio.

    python benchmarks/reading_stall.py [--megabytes 50]
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable

from scrapy.settings import Settings

import semcrawl.settings
from semcrawl.config.options import document_reader
from semcrawl.rdf import detect
from semcrawl.reading.reader import Reader, discard

URL = "http://d.example/big"
PAUSE = 0.005  # seconds
DOCUMENTS = 16

Work = Callable[[Reader], Awaitable[None]]


def filled(line: str, size: int, head: str = "", tail: str = "") -> bytes:
    """So many bytes of lines with numbers in them."""
    count = size // len(line.format(100_000))
    return (head + "".join(line.format(n) for n in range(count)) + tail).encode()


def loads(size: int) -> dict[str, Work]:
    """The work by its name."""
    triples = filled('<http://d.example/s/{0}> <http://v.example/p> "value {0} of many" .\n', size)
    turtle = filled(
        '<#s{0}> :p "value {0}", [ :q <o/{0}> ] .\n',
        size // DOCUMENTS,
        "@prefix : <http://v.example/> .\n",
    )
    page = filled(
        '<tr about="#s{0}"><td property="dc:title">value {0}</td>'
        '<td><a rel="dc:relation" href="/o/{0}">one of many</a></td></tr>\n',
        size // 5,
        "<html><body><table>\n",
        "</table></body></html>",
    )

    async def one(reader: Reader) -> None:
        discard(await reader.read(triples, URL, "", detect(triples, None, URL)))

    async def many(reader: Reader) -> None:
        kind = detect(turtle, "text/turtle", URL)
        for reading in await asyncio.gather(
            *(reader.read(turtle, f"{URL}/{n}", "", kind) for n in range(DOCUMENTS))
        ):
            discard(reading)

    async def html(reader: Reader) -> None:
        discard(await reader.read_embedded(page, URL, "text/html"))
        await reader.page(page, URL, "text/html")

    return {
        f"N-Triples, {len(triples) / 1e6:.0f} MB": one,
        f"{DOCUMENTS} of Turtle, {len(turtle) / 1e6:.1f} MB each": many,
        f"HTML with RDFa, {len(page) / 1e6:.0f} MB": html,
    }


async def longest_stall(reader: Reader, work: Work) -> tuple[float, float]:
    """Return the longest stall and the time of the work, in seconds."""
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
    await work(reader)
    elapsed = time.perf_counter() - start
    await asyncio.sleep(2 * PAUSE)
    task.cancel()
    return worst, elapsed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=50)
    size = parser.parse_args().megabytes * 1_000_000
    names = [name for name in dir(semcrawl.settings) if name.startswith("SEMCRAWL_")]
    values = {name: getattr(semcrawl.settings, name) for name in names}
    reader = document_reader(Settings(values))
    for name, work in loads(size).items():
        stalls = {}
        for where, limit in (("in the loop", 1 << 40), ("in threads", 0)):
            reader.thread_above = limit
            stalls[where], elapsed = asyncio.run(longest_stall(reader, work))
            print(f"{name}, {where}: longest stall {stalls[where]:.3f} s, in all {elapsed:.1f} s")
        print(f"ratio: {stalls['in the loop'] / stalls['in threads']:.0f}")


if __name__ == "__main__":
    main()
