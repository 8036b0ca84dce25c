"""Reads published lists of addresses: vocabularies (LOV), the LOD cloud, OPML, plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from semcrawl.sources.endpointsteps import SEED_PREFIX
from semcrawl.web.charsets import text_of
from semcrawl.web.htmltree import xml_tree

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
