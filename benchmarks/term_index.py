"""What the index of classes and properties costs: documents written with and without it.

    python benchmarks/term_index.py [--documents 6000] [--rounds 5]

Processor time of this process for each document, lines and row included; medians. A page costs
2.4 to 4.7 ms in all (``frontier_crawl.py``).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from semcrawl.items import RdfDocument
from semcrawl.pipelines.quadsfile import QuadsFile
from semcrawl.rdf.shortnames import INDEXED_TERMS

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#: documents that a crawl commits together
BATCH = 60


def documents(number: int, quads: int) -> Iterator[RdfDocument]:
    """Make documents of one class and up to twelve properties."""
    for n in range(number):
        url = f"http://example.org/doc/{n}"
        lines = [f"<{url}#it> <{TYPE}> <http://schema.org/Dataset> <{url}> .\n"]
        lines += [
            f"<{url}#it> <http://schema.org/property{p % 12}> "
            f'"some text, as descriptions have it, of statement {p}"@en <{url}> .\n'
            for p in range(quads - 1)
        ]
        yield RdfDocument(url, quads=quads, nquads="".join(lines).encode(), fetched_at=1.0)


def cost(terms: int, number: int, quads: int) -> float:
    """Write documents; return microseconds for each."""
    items = list(documents(number, quads))
    with tempfile.TemporaryDirectory() as folder:
        file = QuadsFile(Path(folder), terms=terms)
        began = time.process_time()
        for start in range(0, number, BATCH):
            file.append(items[start : start + BATCH])
        spent = time.process_time() - began
        file.close()
    return spent / number * 1e6


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--documents", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    for quads in (8, 16, 100):
        without, with_index = (
            median(cost(terms, args.documents, quads) for _ in range(args.rounds))
            for terms in (0, INDEXED_TERMS)
        )
        print(f"{quads:4} quads: {without:6.1f} µs without, {with_index:6.1f} µs with the index")


if __name__ == "__main__":
    main()
