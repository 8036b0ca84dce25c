"""Reads bodies for the spiders, off the reactor, with the options of the crawl.

Small bodies are read at once. Threads read large bodies in syntaxes that can be stopped after any
statement: their parsers release the interpreter often enough (``docs/rdf.md`` has the figures), and
nothing is copied. Processes, which can be killed, read all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from typing import IO, Self, TypeVar, cast

from scrapy.settings import BaseSettings

from semcrawl import rdf
from semcrawl.config.readoptions import read_options
from semcrawl.config.targets import Targets
from semcrawl.download.spool import spool_folder
from semcrawl.items import DocumentError
from semcrawl.links import ExtractionOptions, Link, PageReading, merge_links, read_page
from semcrawl.links.pagecontent import PageContent, page_content
from semcrawl.rdf.detection import coding_of, compression_of
from semcrawl.rdf.limits import Budget
from semcrawl.rdf.packed.archives import unpacked
from semcrawl.rdf.packed.streams import CountedFile, SafeFile
from semcrawl.reading import process as isolated
from semcrawl.reading.pool import ReadingLost, ReadingProcesses
from semcrawl.web.bodies import BodyFile
from semcrawl.web.urls import Normalisation
from semcrawl.web.vocabulary import Kind, RdfFormat

T = TypeVar("T")

#: bytes decoded at a time
_PIECE = 1 << 20
#: bytes of a page's quads that are searched for links
_SEARCHED = 1 << 24

#: syntaxes that are read statement by statement, with a check of the time after each
_STOPPABLE = frozenset(
    {RdfFormat.N_TRIPLES, RdfFormat.N_QUADS, RdfFormat.TURTLE, RdfFormat.TRIG, RdfFormat.N3}
)


@dataclass
class Reader:
    """Detects types, reads bodies and extracts links with one crawl's options."""

    extraction: ExtractionOptions
    options: rdf.ReadOptions = field(default_factory=rdf.ReadOptions)
    #: bytes above which a document is read in a thread or a process
    thread_above: int = 262_144
    #: without processes, threads read everything, and time is limited between statements only
    processes: ReadingProcesses | None = None
    #: bytes above which JSON-LD is read in a process
    json_ld_above: int = 32_768

    @classmethod
    def from_settings(
        cls, settings: BaseSettings, normalisation: Normalisation, text: int = 0
    ) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones.

        ``text``: characters to read of a page's text.
        """
        options = read_options(settings, spool_folder(settings))
        count = settings.getint("SEMCRAWL_READ_PROCESSES")
        return cls(
            ExtractionOptions(
                settings.getint("SEMCRAWL_MAX_LINKS_PER_PAGE"),
                normalisation,
                Targets.parse(settings.getlist("SEMCRAWL_TARGETS")).elements,
                text,
            ),
            options,
            settings.getint("SEMCRAWL_READ_IN_THREAD_ABOVE"),
            ReadingProcesses(
                count,
                options.max_seconds,
                options.spool_dir,
                settings.getint("SEMCRAWL_READ_MEMORY"),
            )
            if count > 0
            else None,
            settings.getint("SEMCRAWL_READ_JSON_LD_IN_PROCESS_ABOVE"),
        )

    def close(self) -> None:
        """End the processes."""
        if self.processes is not None:
            self.processes.close()

    def detect(self, body: bytes, content_type: str, url: str) -> rdf.Detection:
        """Detect the true type of a body (sources.md T.5, step 3)."""
        return rdf.detect(body, content_type or None, url)

    async def read(
        self,
        body: bytes | BodyFile,
        url: str,
        content_type: str,
        detection: rdf.Detection,
        *,
        contexts: Mapping[str, bytes] | None = None,
        options: rdf.ReadOptions | None = None,
    ) -> rdf.Reading:
        """Read an RDF document of the detected type, with its links.

        ``options`` replace those of the crawl.
        """
        work = partial(
            rdf.read,
            url=url,
            content_type=content_type or None,
            options=options or self.options,
            contexts=contexts,
            detection=detection,
            links=True,
        )
        packed = detection.compression is not None
        stoppable = not packed and detection.format in _STOPPABLE
        try:
            if isinstance(body, BodyFile):
                if self.processes is not None and not stoppable:
                    return await self.processes.run(isolated.read_shared_file, work, file=body)
                # the stream has only ``read``, and the readers call nothing else
                return await asyncio.to_thread(work, cast(IO[bytes], body.stream()))
            long = detection.format is RdfFormat.JSON_LD and len(body) > self.json_ld_above
            foreign = detection.format is RdfFormat.OWL_XML
            always = packed or long or foreign
            return await self._run(work, body, always=always, stoppable=stoppable)
        except ReadingLost as loss:
            return _lost(detection, loss)

    async def read_embedded(
        self,
        body: bytes,
        url: str,
        content_type: str,
        contexts: Mapping[str, bytes] | None = None,
    ) -> rdf.Reading:
        """Read the data embedded in a page."""
        rest = (url, content_type or None, self.options, contexts)
        try:
            long = len(body) > self.json_ld_above < rdf.script_bytes(body)
            return await self._run(isolated.read_page, body, *rest, always=long)
        except ReadingLost as loss:
            reading = _lost(rdf.Detection(Kind.HTML, None, 1.0, "read as a page"), loss)
            reading.embedded = True
            return reading

    async def page(
        self,
        body: bytes,
        url: str,
        content_type: str,
        headers: Sequence[str] = (),
        known: Callable[[str], bool] | None = None,
    ) -> PageReading:
        """Return links and text of a page, without links to ``known`` URLs.

        Raises :class:`ReadingLost` if the page cannot be parsed in time.
        """
        rest = (url, content_type or None, self.extraction, headers)
        if len(body) <= self.thread_above or self.processes is None:
            return await self._run(partial(read_page, known=known), body, *rest)
        page = await self._run(read_page, body, *rest)
        if known is None:
            return page
        return replace(page, links=[link for link in page.links if not known(link.url)])

    async def content(self, body: bytes, content_type: str) -> PageContent:
        """Return title, main text and language of a page; empty if that takes too long."""
        try:
            return await self._run(page_content, body, content_type or None)
        except ReadingLost:
            return PageContent()

    async def digest(self, body: bytes | BodyFile) -> str:
        """Return the SHA-256 of a body, hexadecimal."""
        if isinstance(body, BodyFile):
            return await asyncio.to_thread(_digest_of_file, body)
        return await self._run(_digest, body, stoppable=True)

    async def decoded(self, body: BodyFile) -> BodyFile:
        """Decode the ``Content-Encoding`` of a body on disk; return it as it is if that fails."""
        return await asyncio.to_thread(_decoded, body, self.options)

    def rdf_links(self, reading: rdf.Reading) -> list[Link]:
        """Return the links of an RDF document under their normalised URLs, each once."""
        return rdf.document_links(reading, self.extraction.normalisation)

    def catalogue_links(self, reading: rdf.Reading, url: str) -> list[Link]:
        """Return the links of a catalogue in RDF, including addresses in literals."""
        properties = self.options.link_properties
        extraction = self.extraction
        return rdf.catalogue_links(
            reading, url, properties, extraction.normalisation, extraction.max_links
        )

    async def run(
        self, work: Callable[..., T], body: bytes, *rest: object, always: bool = False
    ) -> T:
        """Call a pure function with a body: here if the body is small, otherwise in a process.

        ``always``: in a process whatever the size, as the function may hang or crash.
        """
        return await self._run(work, body, *rest, always=always)

    def with_data_links(self, links: Sequence[Link], data: rdf.Reading, url: str) -> Sequence[Link]:
        """Return the links of a page together with those of its data, each address once."""
        wanted, limit = self.options.embedded_links, self.extraction.max_links
        if not wanted or not data.quads:
            return links
        if data.spool is not None:
            with data.spool.open("rb") as file:
                lines = file.read(_SEARCHED)
        else:
            lines = data.nquads
        found = rdf.data_links(lines, url, wanted, self.extraction.normalisation, limit)
        return merge_links([*links, *found], limit) if found else links

    async def _run(
        self,
        work: Callable[..., T],
        body: bytes,
        *rest: object,
        always: bool = False,
        stoppable: bool = False,
    ) -> T:
        """Call ``work`` with a body: here if the body is small, or in a thread or a process."""
        if not always and len(body) <= self.thread_above:
            return work(body, *rest)
        if stoppable or self.processes is None:
            return await asyncio.to_thread(work, body, *rest)
        return await self.processes.run(work, body, *rest)


def _lost(detection: rdf.Detection, loss: ReadingLost) -> rdf.Reading:
    return rdf.Reading(detection, errors=[DocumentError(str(loss))], error_count=1)


def _digest(body: bytes) -> str:
    return sha256(body).hexdigest()


def _digest_of_file(body: BodyFile) -> str:
    digest = sha256()
    for piece in body.stream():
        digest.update(piece)
    return digest.hexdigest()


def _decoded(body: BodyFile, options: rdf.ReadOptions) -> BodyFile:
    """Decode a body's ``Content-Encoding``, within the limits of reading.

    A body in another encoding, or a damaged one, is returned as it is.
    """
    kind = coding_of(b",".join(body.codings).decode("latin-1"))
    budget = Budget(options)
    packed = SafeFile(CountedFile(body.stream(), budget), budget, counted=False)
    if kind is None or compression_of(packed.peek(4)) is not kind:
        return body
    plain = BodyFile(options.spool_dir)
    try:
        content = unpacked(packed, kind, budget)
        while piece := content.read(_PIECE):
            plain.write(piece)
    except ImportError:  # the package for zstd is missing
        plain.close()
        return body
    if content.fault or packed.fault:
        plain.close()
        return body
    return plain


def discard(reading: rdf.Reading) -> None:
    """Delete the file of a reading that no pipeline gets."""
    if reading.spool is not None:
        reading.spool.unlink(missing_ok=True)
