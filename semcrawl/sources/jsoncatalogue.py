"""Reads catalogues in plain JSON: CKAN's answers, and ``data.json`` of open-data portals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from semcrawl.rdf.datalinks import media_type
from semcrawl.sources.listedlinks import NEXT, DataList, LinkCollector

#: data sets per request to CKAN
CKAN_ROWS = 100
_NAMES_AT_ONCE = 1000


def ckan_links(data: Mapping[str, Any], url: str, into: LinkCollector) -> DataList:
    """Read an answer of CKAN's action API: a page of data sets, one data set, or names."""
    result = data.get("result")
    if isinstance(result, dict) and isinstance(result.get("results"), list):
        packages = result["results"]
        for package in packages:
            _add_package(package, url, into)
        if packages and (target := _next_page(url, result.get("count"), len(packages))):
            into.add(target, NEXT, rel=NEXT)
    elif isinstance(result, dict):
        _add_package(result, url, into)
    elif isinstance(result, list):
        for name in result[:_NAMES_AT_ONCE]:
            if isinstance(name, str):
                query = urlencode({"id": name})
                into.add(f"{url.partition('/action/')[0]}/action/package_show?{query}", "dataset")
    return into.found


def _add_package(package: Any, url: str, into: LinkCollector) -> None:
    if not isinstance(package, dict):
        return
    for resource in _dicts(package.get("resources")):
        named = media_type(_text(resource.get("mimetype")))
        into.add(
            resource.get("url"),
            "resource",
            type=named or media_type(_text(resource.get("format"))),
            title=resource.get("name") or package.get("title"),
        )
    into.add(package.get("url"), "page", title=package.get("title"))


def _next_page(url: str, count: object, got: int) -> str:
    """Return the address of the next page, or an empty string after the last data set."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    start = query.get("start", "0")
    place = int(start) if start.isascii() and start.isdigit() and len(start) < 10 else 0
    if not isinstance(count, int) or place + got >= count:
        return ""
    query["start"] = str(place + got)
    return urlunsplit(parts._replace(query=urlencode(query)))


def data_json_links(data: Mapping[str, Any], into: LinkCollector) -> DataList:
    """Read the distributions and pages of data sets in ``data.json`` (DCAT-US)."""
    for dataset in _dicts(data.get("dataset")):
        title = dataset.get("title")
        for distribution in _dicts(dataset.get("distribution")):
            named = media_type(_text(distribution.get("mediaType")))
            kind = named or media_type(_text(distribution.get("format")))
            own_title = distribution.get("title") or title
            for name in ("downloadURL", "accessURL"):
                into.add(distribution.get(name), name, type=kind, title=own_title)
        identifier = dataset.get("identifier")
        into.add(dataset.get("landingPage"), "landingPage", title=title)
        if _text(identifier).startswith(("http://", "https://")):
            into.add(identifier, "identifier", title=title)
    return into.found


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
