"""Reading bodies for the spiders: the pure parts with the crawl's options, off the reactor."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from scrapy.settings import BaseSettings

from semcrawl import rdf
from semcrawl.links import ExtractionOptions, Link, extract_links
from semcrawl.urls import Normalisation, normalise

#: bytes that are looked at to tell a body's type
_HEAD = 16_384


@dataclass
class Reader:
    """Detects, reads and extracts with one crawl's options."""

    extraction: ExtractionOptions
    options: rdf.ReadOptions = field(default_factory=rdf.ReadOptions)
    #: bytes above which a document is read in a thread
    thread_above: int = 262_144

    @classmethod
    def from_settings(cls, settings: BaseSettings, normalisation: Normalisation) -> Self:
        """Read the settings."""
        folder = settings.get("SEMCRAWL_JOBDIR") or settings.get("JOBDIR")
        return cls(
            ExtractionOptions(settings.getint("SEMCRAWL_MAX_LINKS_PER_PAGE"), normalisation),
            rdf.ReadOptions(spool_dir=Path(folder) if folder else None),
            settings.getint("SEMCRAWL_READ_IN_THREAD_ABOVE"),
        )

    def detect(self, body: bytes, content_type: str, url: str) -> rdf.Detection:
        """Tell what a body really is (sources.md T.5, step 3)."""
        return rdf.detect(body[:_HEAD], content_type or None, url)

    async def read(self, body: bytes, url: str, content_type: str) -> rdf.Reading:
        """Read an RDF document; large ones in a thread, so that the crawl goes on."""
        if len(body) > self.thread_above:
            return await asyncio.to_thread(rdf.read, body, url, content_type or None, self.options)
        return rdf.read(body, url, content_type or None, self.options)

    def links(
        self, body: bytes, url: str, content_type: str, headers: Sequence[str] = ()
    ) -> list[Link]:
        """Return the links of a page."""
        return extract_links(body, url, content_type or None, self.extraction, headers)

    def rdf_links(self, reading: rdf.Reading) -> list[Link]:
        """Return the links of an RDF document under their normalised URLs, each once."""
        links: dict[str, Link] = {}
        for link in rdf.links_of(reading.links):
            url = normalise(link.url, self.extraction.normalisation)
            if url is not None and url not in links:
                links[url] = Link(url, element="rdf", predicate=link.predicate, position=len(links))
        return list(links.values())
