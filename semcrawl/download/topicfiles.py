"""URLs that the topic of a crawl names: an ontology, a thesaurus, pages as examples."""

from __future__ import annotations

from copy import copy

from scrapy.settings import BaseSettings

from semcrawl.download.fetching import Fetcher
from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.topics.options import fetch_by

_ACCEPT = "text/turtle, application/rdf+xml;q=0.9, text/html;q=0.5, */*;q=0.1"


def fetch_topic_files(settings: BaseSettings) -> None:
    """Have the URLs of topics fetched in this process, each once, when a topic is made.

    Bounded in size and time, one after the other, and never from private addresses unless
    ``SEMCRAWL_ALLOW_PRIVATE_ADDRESSES`` says so.
    """
    fetchers: list[Fetcher] = []

    def fetch(url: str) -> bytes:
        if not fetchers:
            thawed = copy(settings)  # (a crawler's settings are frozen)
            thawed.frozen = False
            fetchers.append(Fetcher.from_settings(thawed))
        try:
            return fetchers[0].get(url, _ACCEPT)[0]
        except SemcrawlError as error:
            raise UsageError(str(error)) from None

    fetch_by(fetch)
