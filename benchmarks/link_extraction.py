"""Pages per second of link extraction, side by side with a bare lxml loop in one run.

    python benchmarks/link_extraction.py [LINKS_PER_PAGE]

The bare loop parses the page as lxml does by itself and joins every ``href`` to the page's address;
it normalises nothing and reads no texts.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from urllib.parse import urljoin

from lxml import html

from semcrawl.links import extract_links

URL = "http://www.site.example/people/staff/index.html"
ROUNDS = 9


def page(number: int, links: int) -> bytes:
    """Make a page as content management systems do: a menu, a list, a text, a footer."""
    menu = "".join(
        f'<li class="menu-item menu-{n}"><a class="nav" href="/section/{n}/">Section {n}</a></li>'
        for n in range(links // 3)
    )
    rows = "".join(
        f'<tr class="row"><td><a href="person/{number}-{n}" title="About person {n}">Person {n}'
        f"</a> works on graphs of things and their names</td><td>room {n}, floor 2</td></tr>"
        for n in range(links // 3)
    )
    text = "".join(
        f"<p>Some words before <a href='http://other{n}.example/page?id={n}&amp;x=1'>a page</a> "
        f"and some words that come after it, <em>at some length</em>, on page {number}.</p>"
        for n in range(links - 2 * (links // 3))
    )
    return (
        "<!DOCTYPE html><html><head><meta charset='utf-8'><title>People</title>"
        "<link rel='stylesheet' href='/style.css'></head><body class='page wide'>"
        f"<div id='menu' class='nav main'><ul>{menu}</ul></div><div id='content'><h1>People</h1>"
        f"<table class='people'>{rows}</table>{text}</div><div class='footer'>© 2026</div>"
        "</body></html>"
    ).encode()


def bare(body: bytes) -> int:
    """Parse and join: what no link extraction can do without."""
    root = html.document_fromstring(body, parser=html.HTMLParser(encoding="utf-8"))
    return len([urljoin(URL, a.get("href")) for a in root.iter("a", "area", "link", "iframe")])


def ours(body: bytes) -> int:
    """Extract with all evidence."""
    return len(extract_links(body, URL, "text/html; charset=utf-8"))


def seconds(function: Callable[[bytes], int], pages: list[bytes]) -> float:
    """Time one pass over the pages."""
    start = time.perf_counter()
    for body in pages:
        function(body)
    return time.perf_counter() - start


def main() -> None:
    """Measure both in turn, several rounds; print the medians and their ratio."""
    links = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    pages = [page(number, links) for number in range(200)]
    times: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(ROUNDS):
        times["bare"].append(seconds(bare, pages))
        times["ours"].append(seconds(ours, pages))
    for name, runs in times.items():
        print(f"{name:5} {len(pages) / statistics.median(runs):8.0f} pages/s of {links} links")
    ratios = [b / o for b, o in zip(times["bare"], times["ours"], strict=True)]
    print(f"ratio {statistics.median(ratios):8.2f} (ours to bare)")


if __name__ == "__main__":
    main()
