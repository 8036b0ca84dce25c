"""Formats of lists and data are known at every door: elements, headers, statuses, other lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from harvest.runs import GUESSES, harvest

from semcrawl.lab.demo import DemoWeb, serve
from semcrawl.lab.demo.model import Request, Stream
from spiders.site import JSON_LD, page, triples

D = "http://d.example"
NT, XML = "application/n-triples", "application/xml"
ATOM, SITEMAP = "http://www.w3.org/2005/Atom", "http://www.sitemaps.org/schemas/sitemap/0.9"
RS = "http://www.openarchives.org/rs/terms/"


def feed(*entries: str, more: str = "") -> bytes:
    listed = "".join(f'<entry><link href="{entry}"/></entry>' for entry in entries)
    return f'<feed xmlns="{ATOM}">{more}{listed}</feed>'.encode()


def urlset(*entries: tuple[str, str]) -> bytes:
    urls = "".join(f"<url><loc>{D}{path}</loc><rs:md {md}/></url>" for path, md in entries)
    return f'<urlset xmlns="{SITEMAP}" xmlns:rs="{RS}">{urls}</urlset>'.encode()


HEAD = (
    '<link rel="alternate" type="application/atom+xml" href="/feed.xml">'
    '<link rel="alternate" type="application/rss+xml" href="/rss.xml">'
    '<link rel="resourcesync" href="/capabilities.xml">'
    f'<script type="{JSON_LD}" src="/script.js"></script><script src="/other.js"></script>'
)
#: path → status, headers, body
SITE: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/": (200, {"Content-Type": "text/html"}, page("/choices", "/named", head=HEAD)[1]),
    "/feed.xml": (
        200,
        {"Content-Type": "application/atom+xml"},
        feed("/by-feed.nt", more='<link rel="next" href="/feed.xml?page=2"/>'),
    ),
    "/feed.xml?page=2": (
        200,
        {"Content-Type": "application/atom+xml"},
        feed("/by-next.nt"),
    ),
    "/rss.xml": (
        200,
        {"Content-Type": XML},
        b"<rss><channel><item><link>/by-rss.nt</link></item></channel></rss>",
    ),
    "/capabilities.xml": (
        200,
        {"Content-Type": XML},
        urlset(("/resources.xml", 'capability="resourcelist"')),
    ),
    "/resources.xml": (200, {"Content-Type": XML}, urlset(("/by-sync", f'type="{NT}"'))),
    "/script.js": (200, {"Content-Type": JSON_LD}, json.dumps({"@id": D, f"{D}/p": "s"}).encode()),
    "/other.js": (200, {"Content-Type": "text/javascript"}, b""),
    "/choices": (
        300,
        {"Alternates": f'{{"by-choice.dat" 1 {{type {NT}}} {{length 9}}}}'},
        b"",
    ),
    "/named": (
        300,
        {"Content-Type": "text/html"},
        page("/by-page-of-choices.nt")[1],
    ),
}
CRAWL = [f"{D}/", "--fast", *GUESSES]
FOUND = ["feed.nt", "next.nt", "rss.nt", "sync", "choice.dat", "page-of-choices.nt"]
SITE |= {f"/by-{name}": (200, {"Content-Type": NT}, triples(name, 1)) for name in FOUND}


async def answer(request: Request, out: Stream) -> None:
    status, headers, body = SITE.get(request.path, (404, {"Content-Type": "text/plain"}, b""))
    await out.whole(status, list(headers.items()), body)


@pytest.mark.slow
def test_a_format_that_is_known_at_one_door_is_known_at_all(tmp_path: Path) -> None:
    with serve(DemoWeb(), handlers={"d.example": answer}) as server:
        run = harvest(*CRAWL, folder=tmp_path, proxy=server.proxy_url)
    run.is_calm()
    wanted = {f"{D}/by-{name}" for name in FOUND} | {f"{D}/script.js"}
    assert run.documents().keys() == wanted
    assert f"{D}/other.js" not in run.sent()
