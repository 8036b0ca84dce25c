"""The cost of the strategy `learned` per link, in time and memory.

    learned_cost.py [PAGES] [LINKS_PER_PAGE]

Every link is new and its texts are random words: the worst case. Beside it, in the same run, the
time that lxml takes to parse and extract the same links, for a sense of scale.
"""

from __future__ import annotations

import random
import resource
import sys
import time
from html import escape

from made_sites import WORDS

from semcrawl.links import Link, Page, extract_links
from semcrawl.relevance.contract import Outcome
from semcrawl.relevance.learned import Learned
from semcrawl.web.vocabulary import Kind

HOST = "http://site.example"


def html(rng: random.Random, number: int, count: int) -> bytes:
    items = []
    for i in range(count):
        a, b, c, d = rng.choices(WORDS, k=4)
        around = " ".join(rng.choices(WORDS, k=9))
        items.append(
            f'<li>{around} <a href="/{a}/{b}/{c}-{number}-{i}.html">{escape(d)} {number}</a></li>'
        )
    return f"<html><body><div class=list><ul>{''.join(items)}</ul></div></body></html>".encode()


def main(pages: int = 1000, count: int = 30) -> None:
    rng = random.Random(1)
    strategy, url = Learned(), f"{HOST}/"
    spent = {"extract": 0.0, "rank": 0.0, "learn": 0.0}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    links: list[Link] = []
    for number in range(pages):
        body = html(rng, number, count)
        start = time.process_time()
        links = extract_links(body, url, "text/html")
        extracted = time.process_time()
        ranked = strategy.rank(Page(url), links)
        judged = time.process_time()
        strategy.taken([url])
        strategy.learn(Outcome(url, Kind.HTML, False, url, f"{HOST}/", new_links=tuple(ranked)))
        strategy.rekeyed()
        strategy.room(1)
        end = time.process_time()
        spent["extract"] += extracted - start
        spent["rank"] += judged - extracted
        spent["learn"] += end - judged
        url = ranked[0].link.url
    total = pages * count
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    print(f"{total} new links on {pages} pages, microseconds of CPU per link:")
    for name, seconds in spent.items():
        print(f"  {name:8s} {seconds / total * 1e6:6.1f}")
    own = spent["rank"] + spent["learn"]
    print(f"  learned / extraction: {own / spent['extract']:.2f}")
    began = time.process_time()
    for _ in range(100):
        strategy.rank(Page(url), links)
    print(f"  a link known already: {(time.process_time() - began) / 100 / count * 1e6:.1f}")
    print(f"memory: {grown / total:.0f} bytes per waiting link, {grown >> 20} MiB in all")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
