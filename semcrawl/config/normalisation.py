"""Reads the settings of URL normalisation (sources.md I)."""

from __future__ import annotations

from scrapy.settings import BaseSettings

from semcrawl.errors import UsageError
from semcrawl.web.urls import Normalisation, normalise


def url_normalisation(settings: BaseSettings) -> Normalisation:
    """Read the settings ``SEMCRAWL_URL_…``; raise ``UsageError`` for wrong ones."""
    dropped = settings.getlist("SEMCRAWL_URL_DROP_PARAMETERS")
    return Normalisation(
        presentational=frozenset(name.strip().lower() for name in dropped),
        https_to_http=settings.getbool("SEMCRAWL_URL_HTTPS_TO_HTTP"),
        drop_www=settings.getbool("SEMCRAWL_URL_DROP_WWW"),
        drop_query=settings.getbool("SEMCRAWL_URL_DROP_QUERY"),
        names=_names(settings),
    )


def _names(settings: BaseSettings) -> dict[str, str]:
    """Read ``SEMCRAWL_URL_HOST_NAMES``: hosts in links → names to request."""
    setting = "SEMCRAWL_URL_HOST_NAMES"
    try:
        names = settings.getdict(setting)
    except (ValueError, TypeError):
        raise UsageError(
            f"{setting} must be a mapping, or JSON of one, not {settings.get(setting)!r}"
        ) from None
    return {_host(setting, address): _host(setting, name) for address, name in names.items()}


def _host(setting: str, host: object) -> str:
    """Return a host as in URLs, but an IPv6 address without brackets."""
    text = str(host).strip().lower().strip("[]")
    url = f"http://[{text}]/" if ":" in text else f"http://{text}/"
    if normalise(url) != url:
        raise UsageError(f"{setting}: {host!r} is not a host")
    return text
