"""URLs that the topic of a crawl names: an ontology, a thesaurus, pages as examples."""

from __future__ import annotations

from copy import copy
from functools import cache

from scrapy.settings import BaseSettings

from semcrawl.download.fetching import Fetcher
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.topics.options import FETCH

_ACCEPT = "text/turtle, application/rdf+xml;q=0.9, text/html;q=0.5, */*;q=0.1"


def fetch_topic_files(settings: BaseSettings) -> None:
    """Have the URLs of topics that are made of these settings fetched, each once.

    Bounded in size and time, one after the other, and never from private addresses unless
    ``SEMCRAWL_ALLOW_PRIVATE_ADDRESSES`` says so. Copies of the settings share what was fetched.
    """
    if settings.get(FETCH) is not None:
        return

    @cache
    def fetcher() -> Fetcher:
        thawed = copy(settings)  # (a crawler's settings are frozen)
        thawed.frozen = False
        return Fetcher.from_settings(thawed)

    @cache
    def fetch(url: str) -> bytes:
        try:
            return fetcher().get(url, _ACCEPT)[0]
        except SemcrawlError as error:
            raise UsageError(str(error)) from None

    settings.set(FETCH, fetch, "addon")
