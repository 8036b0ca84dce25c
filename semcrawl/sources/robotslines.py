"""The sitemaps that a robots.txt names.

As ``sitemap_urls_from_robots`` of Scrapy, which the pure parts may not import.
"""

from __future__ import annotations

import re

#: sitemaps of one robots.txt
_MOST = 1000
_LINE = re.compile(rb"^[ \t]*sitemap[ \t]*:[ \t]*([^\s#]+)", re.I | re.M)


def named_sitemaps(robots: bytes) -> list[str]:
    """Return the addresses of the ``Sitemap:`` lines as they are written, each once."""
    text = robots.replace(b"\r", b"\n")
    found = (match[1].decode("utf-8", "replace")[:4096] for match in _LINE.finditer(text))
    return list(dict.fromkeys(found))[:_MOST]
