"""Reads published lists of addresses: vocabularies (LOV), the LOD cloud, OPML, plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin

from lxml import etree

from semcrawl.links.trees import xml_tree
from semcrawl.sources.endpoints import SEED_PREFIX
from semcrawl.web.charsets import text_of

#: an address anywhere in a line of plain text
_ADDRESS = re.compile(r"(?:sparql\+)?https?://[^\s<>\"']+", re.IGNORECASE)
#: parts of the LOD cloud's entries with links, and what they lead to
_CLOUD_PARTS = (
    ("full_download", "dump"),
    ("other_download", "download"),
    ("sparql", "SPARQL endpoint"),
    ("example", "example"),
)
#: characters of a title in a comment
_TITLE = 100


@dataclass(frozen=True, slots=True)
class Seed:
    """An address to start from, and the reason."""

    url: str
    why: str = ""


def read_list(body: bytes) -> list[Seed]:
    """Read a list, whose content shows its form.

    Raises ``ValueError`` for other JSON or XML.
    """
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start in (b"{", b"["):
        return list(_read_json(body))
    if start == b"<":
        return list(_read_opml(body))
    return list(_read_text(body))


def _read_text(body: bytes) -> Iterator[Seed]:
    for line in text_of(body).splitlines():
        if not line.lstrip().startswith("#") and (found := _ADDRESS.search(line)):
            yield Seed(found[0].rstrip(",;|"))


def _read_json(body: bytes) -> Iterator[Seed]:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"it is not JSON: {error}") from None
    if isinstance(data, dict):
        # `lod-data.json` is one object of all data sets
        entries = [one for one in data.values() if isinstance(one, dict)]
        if any(name in one for one in entries for name, _ in _CLOUD_PARTS):
            yield from _read_cloud(entries)
            return
    if isinstance(data, list):
        if all(isinstance(one, str) for one in data):
            yield from (Seed(one) for one in data)
            return
        found = [one for one in data if isinstance(one, dict) and ("uri" in one or "nsp" in one)]
        if found:
            yield from _read_vocabularies(found)
            return
    raise ValueError("it is neither LOV's list of vocabularies nor the LOD cloud's of data sets")


def _read_vocabularies(entries: Iterable[Mapping[str, Any]]) -> Iterator[Seed]:
    """Read LOV's list (``/api/v2/vocabulary/list``)."""
    for entry in entries:
        prefix, title = entry.get("prefix") or "", _title(entry.get("titles"))
        yield Seed(
            str(entry.get("uri") or entry["nsp"]),
            " ".join(filter(None, ["vocabulary", str(prefix), title and f"({title})"])),
        )


def _read_cloud(entries: Iterable[Mapping[str, Any]]) -> Iterator[Seed]:
    """Read the LOD cloud's list (``lod-data.json``), a data set's dumps first."""
    for entry in entries:
        title = plain(entry.get("title"))
        for part, what in _CLOUD_PARTS:
            links = entry.get(part)
            for link in links if isinstance(links, list) else ():
                if not isinstance(link, dict):
                    continue
                url = str(link.get("download_url") or link.get("access_url") or "")
                status = plain(link.get("status"))
                if not url or status.upper().startswith(("FAIL", "4", "5")):
                    continue
                prefix = SEED_PREFIX if part == "sparql" else ""
                yield Seed(prefix + url, f"{what} of {title}" if title else what)
        if website := entry.get("website"):
            yield Seed(str(website), f"website of {title}" if title else "website")


def _title(titles: Any) -> str:
    """Return the English title, else the first."""
    found = [one for one in titles or () if isinstance(one, dict)]
    found.sort(key=lambda one: one.get("lang") != "en")
    return plain(found[0].get("value")) if found else ""


def plain(text: Any) -> str:
    """Return a text on one line, shortened for a comment."""
    return " ".join(str(text or "").split())[:_TITLE]


def _read_opml(body: bytes) -> Iterator[Seed]:
    """Read OPML: feeds and pages of its outlines."""
    root = xml_tree(body, recover=True)
    if str(root.tag).lower() != "opml":
        raise ValueError("it is XML, but not OPML")
    for outline in root.iter("outline"):
        title = plain(outline.get("title") or outline.get("text"))
        for name in ("xmlUrl", "htmlUrl", "url"):
            if url := (outline.get(name) or "").strip():
                yield Seed(url, title)


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
