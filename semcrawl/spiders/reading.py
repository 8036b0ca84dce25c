"""Reading bodies for the spiders: the pure parts with the crawl's options, off the reactor.

Large bodies are read in threads, not in processes: the parsers release the interpreter between
and during their calls often enough (``docs/rdf.md`` has the figures), and nothing is copied.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import IO, Self, TypeVar, cast

from scrapy.settings import BaseSettings

from semcrawl import rdf
from semcrawl.bodies import BodyFile
from semcrawl.links import ExtractionOptions, Link, extract_links
from semcrawl.spiders.readoptions import read_options
from semcrawl.spiders.spool import spool_folder
from semcrawl.urls import Normalisation, normalise

T = TypeVar("T")


@dataclass
class Reader:
    """Detects, reads and extracts with one crawl's options."""

    extraction: ExtractionOptions
    options: rdf.ReadOptions = field(default_factory=rdf.ReadOptions)
    #: bytes above which a document is read in a thread
    thread_above: int = 262_144

    @classmethod
    def from_settings(cls, settings: BaseSettings, normalisation: Normalisation) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        return cls(
            ExtractionOptions(settings.getint("SEMCRAWL_MAX_LINKS_PER_PAGE"), normalisation),
            read_options(settings, spool_folder(settings)),
            settings.getint("SEMCRAWL_READ_IN_THREAD_ABOVE"),
        )

    def detect(self, body: bytes, content_type: str, url: str) -> rdf.Detection:
        """Tell what a body really is (sources.md T.5, step 3)."""
        return rdf.detect(body, content_type or None, url)

    async def read(
        self,
        body: bytes | BodyFile,
        url: str,
        content_type: str,
        *,
        packed: bool = False,
        contexts: Mapping[str, bytes] | None = None,
    ) -> rdf.Reading:
        """Read an RDF document, its links too; ``packed`` if it must be unpacked first."""

        def work() -> rdf.Reading:
            label = content_type or None
            if isinstance(body, BodyFile):
                file = cast(IO[bytes], body.stream())  # nothing but read is asked for
                reading = rdf.read_stream(file, url, label, self.options, contexts=contexts)
            else:
                reading = rdf.read(body, url, label, self.options, contexts=contexts)
            _ = reading.links  # looked for when first asked
            return reading

        if isinstance(body, BodyFile):
            return await asyncio.to_thread(work)
        return await self._run(work, len(body), always=packed)

    async def read_embedded(
        self,
        body: bytes,
        url: str,
        content_type: str,
        contexts: Mapping[str, bytes] | None = None,
    ) -> rdf.Reading:
        """Read the data embedded in a page."""

        def work() -> rdf.Reading:
            return rdf.read_embedded(
                body, url, content_type or None, self.options, contexts=contexts
            )

        return await self._run(work, len(body))

    async def links(
        self,
        body: bytes,
        url: str,
        content_type: str,
        headers: Sequence[str] = (),
        known: Callable[[str], bool] | None = None,
    ) -> list[Link]:
        """Return the links of a page, without those to known URLs."""

        def work() -> list[Link]:
            return extract_links(body, url, content_type or None, self.extraction, headers, known)

        return await self._run(work, len(body))

    async def digest(self, body: bytes | BodyFile) -> str:
        """Return the SHA-256 of a body, hexadecimal."""
        if isinstance(body, BodyFile):
            return await asyncio.to_thread(_digest_of_file, body)
        return await self._run(lambda: sha256(body).hexdigest(), len(body))

    def rdf_links(self, reading: rdf.Reading) -> list[Link]:
        """Return the links of an RDF document under their normalised URLs, each once.

        The property that a link came with and its place are its evidence: ``tag_path`` says
        ``rdf/object/seeAlso``.
        """
        links: dict[str, Link] = {}
        for found in reading.links:
            url = normalise(found.iri, self.extraction.normalisation)
            if url is not None and url not in links:
                links[url] = Link(
                    url,
                    element="rdf",
                    predicate=found.predicate,
                    tag_path=f"rdf/{found.position}/{_local_name(found.predicate)}",
                    position=len(links),
                )
        return list(links.values())

    async def _run(self, work: Callable[[], T], size: int, *, always: bool = False) -> T:
        if always or size > self.thread_above:
            return await asyncio.to_thread(work)
        return work()


def _digest_of_file(body: BodyFile) -> str:
    digest = sha256()
    for piece in body.stream():
        digest.update(piece)
    return digest.hexdigest()


def discard(reading: rdf.Reading) -> None:
    """Remove the file of a reading that no pipeline will see."""
    if reading.spool is not None:
        reading.spool.unlink(missing_ok=True)


def _local_name(iri: str) -> str:
    """Return what stands behind the last ``#`` or ``/`` of an IRI."""
    return iri.rstrip("#/").rpartition("#")[2].rpartition("/")[2]
