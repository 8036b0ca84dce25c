"""The cost of a topic per page: alone, and as a share of a whole crawl.

    topics.py [--pages 3000] [--rounds 3] [--about TOPIC …]

The first table gives microseconds per document: of judging it, of reading the text of a page for
it, and beside these what the crawl does with the document anyway (finding the links of a page,
reading RDF). The pages are local ones of 30 links; the RDF document has 100 statements in Turtle.
The second table has whole crawls of the local pages (`semcrawl harvest`), with each topic and
without, in turn: CPU seconds of the crawler's process, and what the topic adds.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from typing import Any

from local_pages import make_page, served_pages
from rich.console import Console
from rich.table import Table

from semcrawl.links import extract_links
from semcrawl.links.pagetexts import page_text
from semcrawl.links.trees import parse_html
from semcrawl.rdf import Reading, read
from semcrawl.topics import TEXT, Document, Topic, about
from semcrawl.web.vocabulary import Kind

_TOPICS = ["vocabulary:foaf:,schema:Dataset", "keywords:merge sort,quick sort,later use"]
_DOCUMENTS = 200
_MAX_CHARS = 100_000


def turtle(number: int) -> bytes:
    """A document of 100 statements on 20 people."""
    lines = ["@prefix f: <http://xmlns.com/foaf/0.1/> ."]
    for n in range(20):
        me = f"<http://a.example/{number}/{n}>"
        lines.append(
            f'{me} a f:Person ; f:name "Person {n} of {number}" ; f:nick "p{n}" ;'
            f" f:knows <http://a.example/{number}/{n + 1}> , <http://a.example/{n}/{number}> ."
        )
    return "\n".join(lines).encode()


def read_turtle(source: bytes) -> Reading:
    """Read a document as the crawl does."""
    return read(source, "http://a.example/d", "text/turtle")


def microseconds(function: Callable[[Any], object], values: Iterable[Any]) -> float:
    """Median CPU time of a call, over values."""
    spent = []
    for value in values:
        began = time.process_time_ns()
        function(value)
        spent.append((time.process_time_ns() - began) / 1000)
    return statistics.median(spent)


def alone(specs: list[str]) -> Table:
    """Time the parts by themselves."""
    bodies = [make_page(n, _DOCUMENTS) for n in range(_DOCUMENTS)]
    roots = [parse_html(body, "text/html").root for body in bodies]
    texts = [page_text(root, _MAX_CHARS) for root in roots]
    pages = [
        Document("http://a.example/", Kind.HTML, t.title, t.headings, t.text, "en", markup=body)
        for t, body in zip(texts, bodies, strict=True)
    ]
    sources = [turtle(n) for n in range(_DOCUMENTS)]
    quads = [read_turtle(source).nquads for source in sources]
    data = [
        Document("http://a.example/d", Kind.RDF, statements=lambda lines=lines: [lines])
        for lines in quads
    ]
    table = Table("", "page", "RDF document", title="µs per document")
    table.add_row(
        "links of a page; reading RDF",
        f"{microseconds(lambda body: extract_links(body, 'http://a.example/'), bodies):.0f}",
        f"{microseconds(read_turtle, sources):.0f}",
    )
    reading = microseconds(lambda root: page_text(root, _MAX_CHARS), roots)
    table.add_row("text of a page", f"{reading:.0f}", "")
    for spec in specs:
        topic = made(spec)
        on_page, on_data = microseconds(topic.judge, pages), microseconds(topic.judge, data)
        with_text = " + text" if TEXT in topic.needs else ""
        table.add_row(spec, f"{on_page:.0f}{with_text}", f"{on_data:.0f}")
    return table


def made(spec: str) -> Topic:
    """Make a topic."""
    topic = about(spec, {})
    if topic is None:
        raise SystemExit("name a topic")
    return topic


def crawl(start: str, pages: int, spec: str) -> float:
    """Crawl once; return CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "semcrawl", "harvest", start, "--fast", "--out", "job"]
        command += [
            "--pages",
            str(pages),
            "-s",
            "LOG_LEVEL=WARNING",
            "-s",
            f"SEMCRAWL_ABOUT={spec}",
        ]
        command += ["-q"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def crawls(specs: list[str], pages: int, rounds: int) -> Table:
    """Time whole crawls, the topics in turn."""
    host, _ = served_pages(pages)
    spent: dict[str, list[float]] = {spec: [] for spec in ["", *specs]}
    for _ in range(rounds):
        for spec, found in spent.items():
            found.append(crawl(f"{host}/s0/page-0.html", pages, spec))
    table = Table("topic", "CPU seconds", "per page", "added", title=f"{pages} pages, medians")
    plain = statistics.median(spent[""])
    for spec, found in spent.items():
        median = statistics.median(found)
        added = f"{median / plain - 1:+.1%}" if spec else ""
        table.add_row(spec or "none", f"{median:.2f}", f"{median / pages * 1e6:.0f} µs", added)
    return table


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=3000, help="0: no crawls")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--about", nargs="+", default=_TOPICS)
    args = parser.parse_args()
    console = Console()
    console.print(alone(args.about))
    if args.pages:
        console.print(crawls(args.about, args.pages, args.rounds))


if __name__ == "__main__":
    main()
