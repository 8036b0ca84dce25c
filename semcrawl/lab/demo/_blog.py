"""blog: posts without an RDF document, but with JSON-LD in every page."""

from __future__ import annotations

import json
from html import escape
from math import ceil

from semcrawl.lab.demo.model import (
    Host,
    Prose,
    ResourceKind,
    alternate,
    link,
    listing,
    paragraphs,
    slug,
)

HOST = "blog.demo.example"
SITE = "Field notes"
POSTS = 40
PER_PAGE = 10
TAGS = ("walks", "counting", "weather", "people", "tools")


def build(prose: Prose, crawl_delay: float) -> Host:
    """Build the host."""
    host = Host(HOST, site=SITE, crawl_delay=crawl_delay, disallow=["/wp-admin/"])
    posts = []
    for number in range(POSTS):
        title = prose.title()
        year, month = 2026 - number // 20, 12 - number // 4 % 12
        posts.append((f"/{year}/{month:02}/{slug(title)}-{number}/", title))
    for number, (path, title) in enumerate(posts):
        _post(host, prose, number, path, title, posts[(number + 1) % POSTS])
    _lists(host, posts)
    _feed(host, posts)
    return host


def _post(
    host: Host, prose: Prose, number: int, path: str, title: str, older: tuple[str, str]
) -> None:
    data = {
        "@context": "https://schema.org",
        "@type": "BlogPosting",
        "@id": host.url(path),
        "headline": title,
        "datePublished": f"{path[1:5]}-{path[6:8]}-{1 + number % 28:02}",
        "author": {"@type": "Person", "name": prose.person()},
        "keywords": TAGS[number % len(TAGS)],
    }
    tag = TAGS[number % len(TAGS)]
    items = [link(older[0], f"Older: {older[1]}"), link(f"/tag/{tag}/", tag), link("/", "Home")]
    if number % 9 == 4:
        items.append(link("/wp-admin/edit", "Edit"))
    if number % 13 == 6:
        host.dead(f"/files/{number}.html")
        items.append(link(f"/files/{number}.html", "Supplement"))
    host.html(
        path,
        title,
        paragraphs(prose.paragraph() for _ in range(3))
        + f'<p><a href="/photos/{number}.jpg"><img src="/photos/{number}-small.jpg" alt=""></a></p>'
        + listing(items),
        head=f'<script type="application/ld+json">{json.dumps(data, ensure_ascii=False)}</script>\n'
        + alternate("/feed.xml", "application/atom+xml", "Feed"),
        embedded=7,
    )


def _lists(host: Host, posts: list[tuple[str, str]]) -> None:
    last = ceil(POSTS / PER_PAGE)
    for number in range(1, last + 1):
        some = posts[(number - 1) * PER_PAGE : number * PER_PAGE]
        turn = link(f"/page/{number + 1}/", "Older posts", rel="next") if number < last else ""
        host.html(
            "/" if number == 1 else f"/page/{number}/",
            f"Field notes, page {number}",
            listing(link(path, title) for path, title in some) + turn,
        )
    for position, tag in enumerate(TAGS):
        tagged = posts[position :: len(TAGS)]
        host.html(f"/tag/{tag}/", tag, listing(link(path, title) for path, title in tagged))


def _feed(host: Host, posts: list[tuple[str, str]]) -> None:
    entries = "".join(
        f"<entry><title>{escape(title)}</title><id>{host.url(path)}</id>"
        f'<link href="{host.url(path)}"/></entry>\n'
        for path, title in posts[:PER_PAGE]
    )
    feed = f'<?xml version="1.0"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n{entries}</feed>\n'
    host.body("/feed.xml", ResourceKind.OTHER, feed.encode(), "application/atom+xml")
    host.html("/wp-admin/edit", "Log in", "<form><input name=log></form>")
