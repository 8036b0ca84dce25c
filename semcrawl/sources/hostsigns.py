"""Recognises the software behind a page, and knows where such software keeps its catalogue."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

from semcrawl.links import Link
from semcrawl.sources.jsoncatalogue import CKAN_ROWS
from semcrawl.sources.listedlinks import LinkCollector
from semcrawl.web.wordsearch import WordSearch

#: bytes of a page that are searched
_HEAD = 65_536
_SIGN = WordSearch(b"enerator")
_GENERATOR = re.compile(
    rb"<meta\s[^>]*?name\s*=\s*[\"']?generator\b[^>]*?content\s*=\s*[\"']?([^\"'>]{1,80})", re.I
)
_GENERATOR_LAST = re.compile(
    rb"<meta\s[^>]*?content\s*=\s*[\"']([^\"'>]{1,80})[\"'][^>]*?name\s*=\s*[\"']?generator\b", re.I
)
#: the root that CKAN's pages name
_SITE_ROOT = re.compile(rb"\bdata-site-root\s*=\s*[\"']([^\"'>]{1,300})", re.I)
#: beginning of the generator's name → addresses relative to the root, and media types
_PLACES = (
    (
        "ckan",
        (
            ("catalog.ttl", "text/turtle"),
            (f"api/3/action/package_search?rows={CKAN_ROWS}", "application/json"),
        ),
    ),
    ("dkan", (("data.json", "application/json"),)),
    ("socrata", (("data.json", "application/json"),)),
    ("arcgis hub", (("data.json", "application/json"),)),
    ("eprints", (("cgi/oai2?verb=ListMetadataFormats", "text/xml"),)),
    ("dspace", (("oai/request?verb=ListMetadataFormats", "text/xml"),)),
    ("fair data point", (("", "text/turtle"),)),
)


def catalogue_places(body: bytes, url: str) -> list[Link]:
    """Return links to the catalogue of a page's host, if the page names known software.

    >>> page = b'<meta name="generator" content="ckan 2.10">'
    >>> [link.url for link in catalogue_places(page, "http://example.org/dataset/a")][0]
    'http://example.org/catalog.ttl'
    """
    head = body[:_HEAD]
    if not _SIGN.found_in(head):
        return []
    found = _GENERATOR.search(head) or _GENERATOR_LAST.search(head)
    if found is None:
        return []
    generator = found[1].decode("latin-1").strip().lower()
    for name, places in _PLACES:
        if generator.startswith(name):
            into = LinkCollector(url, name.replace(" ", "-"))
            for place, media_type in places:
                into.add(urljoin(_root(head, url), place), "sign", type=media_type)
            return into.found.links
    return []


def _root(head: bytes, url: str) -> str:
    """Return the software's root on the page's own host."""
    parts = urlsplit(url)
    own = f"{parts.scheme}://{parts.netloc}/"
    if named := _SITE_ROOT.search(head):
        root: str = urljoin(url, named[1].decode("latin-1"))
        if root.startswith(own):
            return root if root.endswith("/") else root + "/"
    return own
