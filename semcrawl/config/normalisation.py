"""Reads the settings of URL normalisation (sources.md I)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from semcrawl.errors import UsageError
from semcrawl.settings.reader import fill, setting
from semcrawl.web.urls import Normalisation, normalise

_RULES = ("https-to-http", "drop-www", "drop-query")


def _rules(given: Iterable[str]) -> frozenset[str]:
    """Return the names of rules; raise ``UsageError`` for unknown ones."""
    found = frozenset(map(str.lower, given))
    for name in sorted(found.difference(_RULES)):
        raise UsageError(f"SEMCRAWL_URL_RULES takes {', '.join(_RULES)}, not {name!r}")
    return found


def _names(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the names to request, by hosts in links; raise ``UsageError`` for wrong ones."""
    return {_host(address): _host(name) for address, name in given.items()}


def _host(host: object) -> str:
    """Return a host as in URLs, but an IPv6 address without brackets."""
    text = str(host).strip().lower().strip("[]")
    url = f"http://[{text}]/" if ":" in text else f"http://{text}/"
    if normalise(url) != url:
        raise UsageError(f"SEMCRAWL_URL_HOST_NAMES: {host!r} is not a host")
    return text


@dataclass(frozen=True, slots=True)
class UrlOptions:
    """The settings ``SEMCRAWL_URL_…``."""

    presentational: tuple[str, ...] = setting("SEMCRAWL_URL_DROP_PARAMETERS")
    rules: frozenset[str] = setting("SEMCRAWL_URL_RULES", _rules)
    names: Mapping[str, str] = setting("SEMCRAWL_URL_HOST_NAMES", _names)


def url_normalisation(settings: Mapping[str, Any]) -> Normalisation:
    """Read the settings ``SEMCRAWL_URL_…``; raise ``UsageError`` for wrong ones."""
    given = fill(UrlOptions, settings)
    return Normalisation(
        presentational=frozenset(map(str.lower, given.presentational)),
        https_to_http="https-to-http" in given.rules,
        drop_www="drop-www" in given.rules,
        drop_query="drop-query" in given.rules,
        names=given.names,
    )
