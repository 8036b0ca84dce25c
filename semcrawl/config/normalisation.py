"""Reads the settings of URL normalisation (sources.md I)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from semcrawl.config.values import Values
from semcrawl.errors import UsageError
from semcrawl.web.urls import Normalisation, normalise


def url_normalisation(settings: Mapping[str, Any]) -> Normalisation:
    """Read the settings ``SEMCRAWL_URL_…``; raise ``UsageError`` for wrong ones."""
    values = Values(settings)
    return Normalisation(
        presentational=frozenset(map(str.lower, values.words("SEMCRAWL_URL_DROP_PARAMETERS"))),
        https_to_http=values.switch("SEMCRAWL_URL_HTTPS_TO_HTTP"),
        drop_www=values.switch("SEMCRAWL_URL_DROP_WWW"),
        drop_query=values.switch("SEMCRAWL_URL_DROP_QUERY"),
        names=_names(values),
    )


def _names(values: Values) -> dict[str, str]:
    """Read ``SEMCRAWL_URL_HOST_NAMES``: hosts in links → names to request."""
    setting = "SEMCRAWL_URL_HOST_NAMES"
    given = values.get(setting) or {}
    try:
        names = dict(json.loads(given) if isinstance(given, str) else given)
    except (ValueError, TypeError):
        raise UsageError(f"{setting} must be a mapping, or JSON of one, not {given!r}") from None
    return {_host(setting, address): _host(setting, name) for address, name in names.items()}


def _host(setting: str, host: object) -> str:
    """Return a host as in URLs, but an IPv6 address without brackets."""
    text = str(host).strip().lower().strip("[]")
    url = f"http://[{text}]/" if ":" in text else f"http://{text}/"
    if normalise(url) != url:
        raise UsageError(f"{setting}: {host!r} is not a host")
    return text
