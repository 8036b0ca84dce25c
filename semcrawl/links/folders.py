"""The folders above a page, which no page need link to."""

from __future__ import annotations

from urllib.parse import urlsplit

from semcrawl.links.model import FOLDER, Link
from semcrawl.web.vocabulary import FoundBy


def folders_above(url: str) -> list[Link]:
    """Return links to the folders that a page is in, the nearest first.

    >>> [link.url for link in folders_above("http://example.org/a/b/c.html")]
    ['http://example.org/a/b/', 'http://example.org/a/', 'http://example.org/']
    """
    parts = urlsplit(url)
    names = parts.path.split("/")[:-1]
    root = f"{parts.scheme}://{parts.netloc}"
    return [
        Link(
            f"{root}{'/'.join(names[:depth])}/",
            element=FOLDER,
            tag_path=FOLDER,
            found_by=FoundBy.FOLDER,
        )
        for depth in range(len(names), 0, -1)
    ]
