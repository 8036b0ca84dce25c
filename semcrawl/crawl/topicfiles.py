"""Files that a topic names by their URLs, fetched when it is made."""

from __future__ import annotations

from copy import copy
from functools import cache
from typing import TYPE_CHECKING

from scrapy.settings import BaseSettings

from semcrawl.errors import SemcrawlError, UsageError
from semcrawl.topics.contract import FETCH

if TYPE_CHECKING:
    from semcrawl.crawl.filefetching import Fetcher

_ACCEPT = "text/turtle, application/rdf+xml;q=0.9, text/html;q=0.5, */*;q=0.1"


def fetch_topic_files(settings: BaseSettings) -> None:
    """Let topics made from these settings fetch the URLs that they name, each once.

    Fetches are bounded in size and time, run one after the other, and reach private addresses only
    with ``SEMCRAWL_ALLOW_PRIVATE_ADDRESSES``. Copies of the settings share the files.
    """
    if settings.get(FETCH) is not None:
        return

    @cache
    def fetcher() -> Fetcher:
        # most crawls name no file: they load no client
        from semcrawl.crawl.filefetching import Fetcher

        thawed = copy(settings)  # a crawler's settings are frozen
        thawed.frozen = False
        return Fetcher.from_settings(thawed)

    @cache
    def fetch(url: str) -> bytes:
        try:
            return fetcher().get(url, _ACCEPT)[0]
        except SemcrawlError as error:
            raise UsageError(str(error)) from None

    settings.set(FETCH, fetch, "addon")
