"""Pages of the real sites: the links that independent readers find."""

import importlib.util
import warnings
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urljoin

import html5lib
import lxml.etree
import lxml.html
import pytest

from semcrawl.links import ExtractionOptions, parsing, read_page
from semcrawl.rdf import detect
from semcrawl.web.urls import Resolver
from semcrawl.web.vocabulary import Kind

SHARED = Path(__file__).parents[3] / "shared"
pytestmark = [
    pytest.mark.sites,
    pytest.mark.slow,
    pytest.mark.skipif(not (SHARED / "sites").is_dir(), reason="needs ../shared/sites"),
]
PLACES = {"a": "href", "area": "href", "link": "href", "iframe": "src", "frame": "src"}
ALL = ExtractionOptions(max_links=10**9, text=10**9)
#: of the pages below so many bytes every third is read: a site's are made alike
LARGE = 64 * 1024
#: bytes above which a page is too much for html5lib, which reads every tenth of those
TOO_MUCH = 300_000


def pages(name: str) -> Iterator[tuple[str, str, bytes]]:
    spec = importlib.util.spec_from_file_location("replay", SHARED / "bench" / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    replay = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(replay)
    for site in replay.load(str(SHARED / "sites" / name)):
        for path in sorted(Path(site.root).rglob("*")):
            if path.is_file():
                _, content_type = site.kind(str(path))
                url = f"http://{site.host}{site.base}{path.relative_to(site.root)}"
                body = path.read_bytes()
                if detect(body, content_type, url).kind is Kind.HTML:
                    yield url, content_type, body


@pytest.mark.parametrize("name", ["sites.json", "more-sites.json"])
def test_links_of_pages(name, monkeypatch):
    for seen, (url, content_type, body) in enumerate(pages(name)):
        if len(body) < LARGE and seen % 3:
            continue
        found, texts = {}, []
        for large in (False, True):
            monkeypatch.setattr(parsing, "_LARGE", -1 if large else 1 << 30)
            page = read_page(body, url, content_type, ALL)
            found[large] = page.links
            texts.append(page.text)
            assert page.fault == "", url
        assert texts[0] == texts[1], url
        assert found[True] == found[False], url
        text, encoding = parsing.to_utf8(body, content_type)
        parser = lxml.html.HTMLParser(encoding="utf-8", huge_tree=True)
        try:
            trees = [lxml.html.document_fromstring(text, parser=parser)]
        except lxml.etree.ParserError:  # no element at all
            trees = []
        if len(body) < TOO_MUCH and seen % 30 == 0:
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
    assert seen > 100
