"""Every page of the real sites: the links that independent readers find."""

import importlib.util
import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import html5lib
import lxml.etree
import lxml.html
import pytest

from semcrawl.links import ExtractionOptions, read_page
from semcrawl.links import trees as parsing
from semcrawl.rdf import detect
from semcrawl.web.charsets import Form, to_utf8
from semcrawl.web.urls import Resolver
from semcrawl.web.vocabulary import Kind

SHARED = Path(__file__).parents[3] / "shared"
pytestmark = [
    pytest.mark.sites,
    pytest.mark.slow,
    pytest.mark.skipif(not (SHARED / "sites").is_dir(), reason="needs ../shared/sites"),
]
PLACES = {
    "a": "href", "area": "href", "link": "href", "iframe": "src", "frame": "src",
    "object": "data", "embed": "src",
}  # fmt: skip
ALL = ExtractionOptions(max_links=10**9, text=10**9)
#: bytes above which a page is too much for html5lib, which reads every tenth page
TOO_MUCH = 300_000
#: bytes of pages that are read of one host; a larger host has thousands of pages of few templates
ENOUGH = 8_000_000


def replayed() -> Any:
    """The module that knows the sites' files and their types."""
    spec = importlib.util.spec_from_file_location("replay", SHARED / "bench" / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    replay = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(replay)
    return replay


def hosts() -> list[tuple[str, str]]:
    """The lists of sites, and the hosts in each."""
    lists = ("sites.json", "more-sites.json")
    if not all((SHARED / "sites" / name).is_file() for name in lists):
        return []
    return [
        (name, site["host"])
        for name in lists
        for site in json.loads((SHARED / "sites" / name).read_text())["sites"]
    ]


def pages(name: str, host: str) -> list[tuple[str, str, bytes]]:
    """Address, type and body of a host's pages: all of them, or evenly spread ones."""
    found = list(every_page(name, host))
    return found[:: 1 + sum(len(body) for _, _, body in found) // ENOUGH]


def every_page(name: str, host: str) -> Iterator[tuple[str, str, bytes]]:
    for site in replayed().load(str(SHARED / "sites" / name)):
        for path in sorted(Path(site.root).rglob("*")) if site.host == host else ():
            if path.is_file():
                _, content_type = site.kind(str(path))
                url = f"http://{site.host}{site.base}{path.relative_to(site.root)}"
                body = path.read_bytes()
                if detect(body, content_type, url).kind is Kind.HTML:
                    yield url, content_type, body


@pytest.mark.parametrize(("name", "host"), hosts())
def test_links_of_every_page(name, host, monkeypatch):
    seen = 0
    for url, content_type, body in pages(name, host):
        seen += 1
        found, texts = {}, []
        for large in (False, True):
            monkeypatch.setattr(parsing, "_LARGE", -1 if large else 1 << 30)
            page = read_page(body, url, content_type, ALL)
            found[large] = page.links
            texts.append(page.text)
            assert page.fault == "", url
        assert texts[0] == texts[1], url
        assert found[True] == found[False], url
        decoded = to_utf8(body, content_type, Form.PAGE)
        text, encoding = decoded.data.replace(b"\0", b""), decoded.encoding.name
        parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
        try:
            trees = [lxml.html.document_fromstring(text, parser=parser)]
        except lxml.etree.ParserError:  # no element at all
            trees = []
        if len(body) < TOO_MUCH and seen % 10 == 0:
            with warnings.catch_warnings(action="ignore"):
                trees.append(html5lib.parse(text.decode("utf-8", "replace"), "etree", False))
        for tree in trees:
            base = next((x.get("href") for x in tree.iter("base") if x.get("href")), "")
            resolver = Resolver(urljoin(url, base), encoding=encoding)
            wanted = {
                resolver.resolve(element.get(PLACES[element.tag]))
                for element in tree.iter()
                if element.tag in PLACES and element.get(PLACES[element.tag]) is not None
            }
            assert wanted - {None} <= {link.url for link in found[False]}, url
            others = {link.url for link in found[False]} - wanted
            assert all(link.element == "meta" for link in found[False] if link.url in others), url
    assert seen > 30
