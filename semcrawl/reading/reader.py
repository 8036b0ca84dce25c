"""Reads bodies for the spiders, off the reactor, with the options of the crawl.

Small bodies are read at once. Threads read large bodies in memory, in syntaxes that can be stopped
after any statement: their parsers release the interpreter often enough (``docs/rdf.md`` has the
figures), and nothing is copied. Processes, which can be killed, read all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from math import inf
from threading import Event
from typing import IO, Any, TypeVar, cast

from semcrawl import rdf
from semcrawl.items import DocumentError
from semcrawl.links import ExtractionOptions, Link, PageReading, Reason, read_page
from semcrawl.links.pagetexts import PageContent, page_content
from semcrawl.rdf.detection import coding_of, compression_of
from semcrawl.rdf.limits import STOPPED, Budget
from semcrawl.rdf.packed import unpack_into
from semcrawl.rdf.streams import CountedFile, SafeFile
from semcrawl.reading import process as isolated
from semcrawl.reading.pool import AT_END, ReadingLost, ReadingProcesses
from semcrawl.web.bodies import BodyFile
from semcrawl.web.hosts import domain_of
from semcrawl.web.urls import normalise
from semcrawl.web.vocabulary import Kind, RdfFormat

T = TypeVar("T")

#: bytes of a page's quads that are searched for links
_SEARCHED = 1 << 24
#: seconds that any document may take to be read, however small
_FIRST_SECONDS = 3.0
#: most readings in threads at a time, as each takes its share of the event loop's time
_THREADS = 2
#: how many times its size a packed document is taken to have when it is unpacked
_UNPACKS = 20

#: syntaxes whose time may grow faster than their size
_LIKE_JSON_LD = (RdfFormat.JSON_LD, RdfFormat.YAML_LD)
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
    #: bytes per second that a document must be read at, beyond its first seconds; 0: any
    least_rate: float = 0.0
    #: read everything at once where it is called, for programs that are in no hurry
    here: bool = False
    #: for readings in threads, which cannot be killed
    _closed: Event = field(default_factory=Event, init=False)
    _closing: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _turns: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_THREADS), init=False
    )
    #: held while a page is read that was too large for memory
    large_page: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def close(self) -> None:
        """End all readings: their documents are lost, by our own fault."""
        self._closed.set()
        self._closing.set()
        if self.processes is not None:
            self.processes.close()

    def detect(
        self, body: bytes, content_type: str, url: str, link_contexts: Sequence[str] = ()
    ) -> rdf.Detection:
        """Detect the true type of a body (sources.md T.5, step 3)."""
        return rdf.detect(body, content_type or None, url, link_contexts=link_contexts)

    async def read(
        self,
        body: bytes | BodyFile,
        url: str,
        content_type: str,
        detection: rdf.Detection,
        *,
        contexts: Mapping[str, bytes] | None = None,
        options: rdf.ReadOptions | None = None,
        link_contexts: Sequence[str] = (),
    ) -> rdf.Reading:
        """Read an RDF document of the detected type, with its links.

        ``options`` replace those of the crawl. Raises :class:`ReadingLost` if that says nothing
        about the document.
        """
        packed = detection.compression is not None
        size = body.size if isinstance(body, BodyFile) else len(body)
        seconds = self.seconds_for(size * _UNPACKS if packed else size)
        options = options or self.options
        work = partial(
            rdf.read,
            url=url,
            content_type=content_type or None,
            options=replace(options, max_seconds=min(options.max_seconds, seconds)),
            contexts=contexts,
            detection=detection,
            links=True,
            link_contexts=link_contexts,
        )
        stoppable = not packed and detection.format in _STOPPABLE
        try:
            if isinstance(body, BodyFile):
                if self.processes is not None:
                    return await self.processes.run(
                        isolated.read_shared_file,
                        work,
                        file=body,
                        owner=domain_of(url),
                        seconds=seconds,
                    )
                # the stream has only ``read``, and the readers call nothing else
                return await self._in_thread(work, cast(IO[bytes], body.stream()))
            long = detection.format in _LIKE_JSON_LD and len(body) > self.json_ld_above
            foreign = detection.format is RdfFormat.OWL_XML
            always = packed or long or foreign
            return await self._run(
                work, body, url=url, seconds=seconds, always=always, stoppable=stoppable
            )
        except ReadingLost as loss:
            if loss.ours:
                raise
            return _lost(detection, loss)

    async def read_embedded(
        self,
        body: bytes,
        url: str,
        content_type: str,
        contexts: Mapping[str, bytes] | None = None,
    ) -> rdf.Reading:
        """Read the data embedded in a page.

        Raises :class:`ReadingLost` if that says nothing about the page.
        """
        seconds = min(self.options.max_seconds, self.seconds_for(len(body)))
        options = replace(self.options, max_seconds=seconds)
        rest = (url, content_type or None, options, contexts)
        try:
            long = len(body) > self.json_ld_above < rdf.script_bytes(body)
            return await self._run(isolated.read_page, body, *rest, url=url, always=long)
        except ReadingLost as loss:
            if loss.ours:
                raise
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
            return await self._run(partial(read_page, known=known), body, *rest, url=url)
        page = await self._run(read_page, body, *rest, url=url)
        if known is None:
            return page
        links, beyond = (
            [link for link in found if not known(link.url)] for found in (page.links, page.beyond)
        )
        return replace(page, links=links, beyond=beyond)

    async def content(self, body: bytes, url: str, content_type: str) -> PageContent:
        """Return title, main text and language of a page; empty if that takes too long."""
        try:
            return await self._run(page_content, body, content_type or None, url=url)
        except ReadingLost:
            return PageContent()

    async def digest(self, body: bytes | BodyFile) -> str:
        """Return the SHA-256 of a body, hexadecimal."""
        if isinstance(body, BodyFile):
            return await self._in_thread(_digest_of_file, body)
        return await self._run(_digest, body, url="", stoppable=True)

    async def decoded(self, body: BodyFile) -> BodyFile:
        """Decode the ``Content-Encoding`` of a body on disk; return it as it is if that fails."""
        return await asyncio.to_thread(_decoded, body, self.options)

    def left_out_links(self, reading: rdf.Reading) -> dict[Reason, list[Link]]:
        """Return the links of an RDF document that the options do not choose, by reason."""
        found: dict[Reason, list[Link]] = {}
        for one in reading.links_left_out:
            url = normalise(one.iri, self.extraction.normalisation)
            if url is not None and one.left_out is not None:
                found.setdefault(one.left_out, []).append(Link(url, element="rdf"))
        return found

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

    def is_slow(self, body: bytes) -> bool:
        """Whether the data of a page are read beside the event loop, as the page is large."""
        return not self.here and len(body) > self.thread_above

    def seconds_for(self, size: int) -> float:
        """Return the seconds that the reading of ``size`` bytes may take (goal: a stall of 5 s)."""
        return _FIRST_SECONDS + size / self.least_rate if self.least_rate > 0 else inf

    async def run(
        self, work: Callable[..., T], body: bytes, *rest: object, url: str, always: bool = False
    ) -> T:
        """Call a pure function with the body at ``url``: here if it is small, or in a process.

        ``always``: in a process whatever the size, as the function may hang or crash.
        """
        return await self._run(work, body, *rest, url=url, always=always)

    def data_links(self, data: rdf.Reading, url: str) -> list[Link]:
        """Return the links in the data of a page, each address once."""
        wanted, limit = self.options.embedded_links, self.extraction.max_links
        if not wanted or not data.quads:
            return []
        lines = data.beginning(_SEARCHED)
        return rdf.data_links(lines, url, wanted, self.extraction.normalisation, limit)

    async def _run(
        self,
        work: Callable[..., T],
        body: bytes,
        *rest: object,
        url: str,
        seconds: float | None = None,
        always: bool = False,
        stoppable: bool = False,
    ) -> T:
        """Call ``work`` with a body: here if the body is small, or in a thread or a process."""
        if self.here or (not always and len(body) <= self.thread_above):
            return work(body, *rest)
        if stoppable or self.processes is None:
            return await self._in_thread(work, body, *rest)
        if seconds is None:
            seconds = self.seconds_for(len(body))
        return await self.processes.run(work, body, *rest, owner=domain_of(url), seconds=seconds)

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """Call ``work`` in a thread; raise :class:`ReadingLost` as soon as the reader is closed.

        Readers of RDF then end at the next statement.
        """
        if self.here:
            return work(*arguments)

        async def read() -> T:
            async with self._turns:
                return await asyncio.to_thread(_call_until, self._closed, work, *arguments)

        reading = asyncio.create_task(read())
        closing = asyncio.create_task(self._closing.wait())
        await asyncio.wait((reading, closing), return_when=asyncio.FIRST_COMPLETED)
        if reading.done() and not self._closed.is_set():
            closing.cancel()
            return reading.result()
        reading.add_done_callback(_forget)
        raise ReadingLost(AT_END, ours=True)


def at_once(reading: Coroutine[Any, Any, T]) -> T:
    """Run a reading that is done :attr:`Reader.here`, and return its result."""
    try:
        reading.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    reading.close()
    raise RuntimeError("the reading waits for something")


def _call_until(stopped: Event, work: Callable[..., T], *arguments: object) -> T:
    """Call ``work``; a reading in it ends when it is ``stopped``."""
    STOPPED.set(stopped)
    return work(*arguments)


def _forget(reading: asyncio.Task[Any]) -> None:
    """Delete what a reading made that nobody waits for."""
    if not reading.cancelled() and reading.exception() is None:
        result = reading.result()
        if isinstance(result, rdf.Reading):
            discard(result)


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
        if unpack_into(plain, packed, [kind], budget):
            return plain
    except ImportError:  # the package for zstd is missing
        pass
    plain.close()
    return body


def discard(reading: rdf.Reading) -> None:
    """Delete the file of a reading that no pipeline gets."""
    if reading.spool is not None:
        reading.spool.unlink(missing_ok=True)
