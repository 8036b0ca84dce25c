"""Builds requests to search services and reads their results: SearXNG, OpenSearch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urljoin

from lxml import etree

from semcrawl.sources.seedlists import Seed, plain
from semcrawl.web.htmltree import xml_tree

_NAMESPACE = "{http://a9.com/-/spec/opensearch/1.1/}"
#: readable media types of results, the best first
_RESULTS = ("application/rss+xml", "application/atom+xml")
_PARAMETER = re.compile(r"\{([A-Za-z]+)(\?)?\}")


@dataclass(frozen=True, slots=True)
class SearchService:
    """A search service, defined by an OpenSearch URL template."""

    template: str
    #: whether it answers with SearXNG's JSON; else with a feed
    is_json: bool = False
    #: numbers of the first page and of the first result
    first_page: int = 1
    first_result: int = 1

    def url(self, words: str, page: int, start: int, count: int) -> str:
        """Return the address of a page of results, counted from 0, after ``start`` results.

        Raises ``ValueError`` if the template needs an unknown value.
        """
        known = {
            "searchTerms": words,
            "startPage": str(self.first_page + page),
            "startIndex": str(self.first_result + start),
            "count": str(count),
            "inputEncoding": "UTF-8",
            "outputEncoding": "UTF-8",
            "language": "*",
        }

        def fill(match: re.Match[str]) -> str:
            if match[1] not in known and not match[2]:
                raise ValueError(f"the search service needs a value for {match[1]}")
            return quote(known.get(match[1], ""), safe="")

        return _PARAMETER.sub(fill, self.template)

    @property
    def has_pages(self) -> bool:
        """Whether it has further pages of results."""
        return "{startPage" in self.template or "{startIndex" in self.template


def searxng(base: str) -> SearchService:
    """Return the service of the SearXNG at ``base``, with or without ``/search``."""
    address = base.rstrip("/").removesuffix("/search") + "/search"
    template = f"{address}?q={{searchTerms}}&pageno={{startPage}}&format=json"
    return SearchService(template, is_json=True)


def read_description(body: bytes, url: str) -> SearchService:
    """Read an OpenSearch description; raise ``ValueError`` without readable results."""
    root = _parsed(body)
    if root is None or root.tag != f"{_NAMESPACE}OpenSearchDescription":
        raise ValueError("it is not an OpenSearch description")
    found: dict[str, etree._Element] = {}
    for each in root.iter(f"{_NAMESPACE}Url"):
        kind, template = (each.get("type") or "").lower(), each.get("template") or ""
        if each.get("rel", "results") == "results" and "{searchTerms" in template:
            found.setdefault(kind, each)
    kind = next((kind for kind in _RESULTS if kind in found), None)
    if kind is None:
        kinds = ", ".join(found) or "nothing"
        raise ValueError(f"the search service offers {kinds}, and neither RSS nor Atom")
    chosen = found[kind]
    return SearchService(
        urljoin(url, chosen.get("template") or ""),
        first_page=_number(chosen.get("pageOffset")),
        first_result=_number(chosen.get("indexOffset")),
    )


def read_results(body: bytes, service: SearchService) -> Sequence[Seed]:
    """Read a page of results; raise ``ValueError`` for anything else."""
    if not service.is_json:
        return list(_read_feed(body))
    try:
        results = json.loads(body)["results"]
        found = [one for one in results if isinstance(one, dict) and one.get("url")]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(
            "it does not give SearXNG's JSON (do its settings allow `json`?)"
        ) from None
    return [Seed(str(one["url"]), plain(one.get("title"))) for one in found]


def _read_feed(body: bytes) -> Iterator[Seed]:
    """Read the items of RSS of any version, or the entries of Atom."""
    root = _parsed(body)
    if root is None or etree.QName(root).localname.lower() not in ("rss", "rdf", "feed"):
        raise ValueError("its results are neither RSS nor Atom")
    for item in root.iter("{*}item", "{*}entry"):
        links = item.findall("{*}link")
        found = [
            one.get("href") or one.text or ""
            for one in links
            if one.get("rel", "alternate") == "alternate"
        ]
        if url := next((one.strip() for one in found if one.strip()), ""):
            yield Seed(url, plain(item.findtext("{*}title")))


def _parsed(body: bytes) -> etree._Element | None:
    try:
        return xml_tree(body)
    except ValueError:
        return None


def _number(text: str | None) -> int:
    return int(text) if text and text.strip().isdecimal() else 1
