"""Reads recorded responses again: their quads, without a crawl."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import IO, Protocol, Self

from scrapy.http import Response
from scrapy.settings import BaseSettings

from semcrawl.config.options import ReaderOptions, answer_reader
from semcrawl.config.targets import Targets, saved_name
from semcrawl.items import EMBEDDED, DocumentError, RdfDocument
from semcrawl.links import header_text, json_ld_alternate, link_header
from semcrawl.metadata.records import errors_text
from semcrawl.pipelines.quadsfile import EMBEDDED_FILE, EMBEDDED_LEDGER, QuadsFile
from semcrawl.pipelines.warcrecords import Damage, RecordedResponse, Unchanged, responses_in
from semcrawl.rdf import Reading
from semcrawl.reading import process as isolated
from semcrawl.reading.answer import Answer, AnswerTask, Form, Received
from semcrawl.reading.pool import ReadingLost, ReadingProcesses
from semcrawl.reading.reader import discard
from semcrawl.settings.reader import fill
from semcrawl.sources.endpoints import query_of
from semcrawl.sources.negotiation import as_rdf
from semcrawl.spiders.contexts import ContextRules
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.results import NOT_KEPT, begins_later, missing_part
from semcrawl.web.bodies import BodyFile
from semcrawl.web.urls import normalise, path_of, resolve
from semcrawl.web.vocabulary import Kind

#: responses per process that are read or wait
_AHEAD = 4
#: bytes of the bodies that are read or wait, except the first
_AHEAD_BYTES = 1 << 27
#: responses taken out of a file at a time, and their bytes
_AT_A_TIME = 32
_AT_A_TIME_BYTES = 1 << 23
#: documents written together
_BATCH = 200
#: passes over the files, as JSON-LD contexts may name further contexts
_MOST_PASSES = 5

#: a file, and the number of a response in it
Position = tuple[int, int]


class Sink(Protocol):
    """Takes the documents."""

    def write(self, document: RdfDocument) -> None:
        """Take a document; its file of quads may then go."""

    def close(self) -> None:
        """Write what waits."""


@dataclass
class StreamSink:
    """Writes the quads to a stream as they come."""

    stream: IO[bytes]

    def write(self, document: RdfDocument) -> None:
        """Write the lines of a document."""
        for piece in document.chunks():
            self.stream.write(piece)
        if document.spool is not None:
            document.spool.unlink(missing_ok=True)

    def close(self) -> None:
        """Flush."""
        self.stream.flush()


@dataclass
class FolderSink:
    """Writes a job folder; of several versions of a document, the last counts."""

    folder: Path
    _files: dict[bool, QuadsFile] = field(default_factory=dict, init=False)
    _waiting: list[RdfDocument] = field(default_factory=list, init=False)
    _bytes: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        """Make folder and file."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._files[False] = QuadsFile(self.folder)

    def write(self, document: RdfDocument) -> None:
        """Keep a document for the next batch."""
        self._waiting.append(document)
        self._bytes += len(document.nquads)
        if len(self._waiting) >= _BATCH or self._bytes >= _AHEAD_BYTES:
            self._flush()

    def close(self) -> None:
        """Write what waits, and remove the lines of earlier versions."""
        self._flush()
        for file in self._files.values():
            file.compact()
            file.close()

    def _flush(self) -> None:
        for embedded in (False, True):
            batch = [one for one in self._waiting if one.is_embedded is embedded]
            if batch and embedded not in self._files:
                names = (EMBEDDED_FILE, EMBEDDED_LEDGER)
                self._files[embedded] = QuadsFile(self.folder, *names)
            if batch:
                self._files[embedded].append(batch)
        for document in self._waiting:
            if document.spool is not None:
                document.spool.unlink(missing_ok=True)
        self._waiting.clear()
        self._bytes = 0


@dataclass
class Tally:
    """What was read."""

    responses: int = 0
    #: ``revisit`` records, which have no body
    unchanged: int = 0
    documents: int = 0
    #: pages with data
    pages: int = 0
    quads: int = 0
    #: parts of files that cannot be read
    damaged: int = 0
    #: documents that gave no quads because of errors
    unreadable: int = 0
    #: responses that were not read, and documents not kept, by reason
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass
class Rereading:
    """Reads the responses of WARC files with the settings of a crawl."""

    task: AnswerTask
    processes: ReadingProcesses
    judge: TopicJudge
    targets: Targets
    sink: Sink
    #: told in one line what cannot be read
    tell: Callable[[str], None]
    #: responses that are read or wait
    ahead: int
    #: bytes of all JSON-LD contexts, and of one
    context_bytes: int
    max_context: int
    tally: Tally = field(default_factory=Tally, init=False)
    #: by address, the contexts that were found
    _contexts: dict[str, bytes] = field(default_factory=dict, init=False)
    _sought: set[str] = field(default_factory=set, init=False)
    #: whether documents may wait for contexts
    _waits: bool = field(default=True, init=False)

    @classmethod
    def from_settings(
        cls,
        settings: BaseSettings,
        sink: Sink,
        tell: Callable[[str], None],
        count: int,
        spool: Path,
    ) -> Self:
        """Read with ``count`` processes; quads of large documents go to ``spool`` for a while."""
        judge = TopicJudge.from_settings(settings)
        answers = answer_reader(settings, judge.text_chars, spool)
        reader = answers.reader
        nothing = Received("", b"", lambda name: ())
        context = ContextRules().max_bytes
        return cls(
            AnswerTask(nothing, reader.extraction, reader.options, answers.options),
            ReadingProcesses(
                count, reader.options.max_seconds, spool, fill(ReaderOptions, settings).memory
            ),
            judge,
            fill(ReaderOptions, settings).targets,
            sink,
            tell,
            _AHEAD * count,
            16 * context,
            context,
        )

    def close(self) -> None:
        """End the processes and the topic."""
        self.processes.close()
        self.judge.close()

    async def read(self, paths: Collection[Path]) -> Tally:
        """Read all files; documents that name contexts of the files wait for a further pass."""
        try:
            waiting: dict[Position, frozenset[str]] | None = None
            for left in reversed(range(_MOST_PASSES)):
                self._waits = left > 0
                waiting = await self._pass(paths, waiting)
                wanted = {url for urls in waiting.values() for url in urls} - self._sought
                if not waiting:
                    break
                await asyncio.to_thread(self._seek, paths, wanted)
        finally:
            self.processes.close()  # threads wait for them
        self.sink.close()
        return self.tally

    async def _pass(
        self, paths: Collection[Path], only: Mapping[Position, frozenset[str]] | None
    ) -> dict[Position, frozenset[str]]:
        """Read the responses, or ``only`` some; return those that wait for contexts."""
        waiting: dict[Position, frozenset[str]] = {}
        reading: deque[tuple[Position, RecordedResponse, asyncio.Task[Answer]]] = deque()
        held = 0

        async def take() -> None:
            nonlocal held
            position, response, task = reading.popleft()
            held -= _size(response)
            needed = await self._take(response, task)
            if needed:
                waiting[position] = needed | (only or {}).get(position, frozenset())

        found = self._responses(paths, first=only is None)
        while some := await asyncio.to_thread(_some, found):
            for position, response in some:
                if not (position in only if only is not None else self._is_read(response)):
                    continue
                needed = only[position] if only is not None else ()
                task = asyncio.create_task(self._read(response, needed))
                reading.append((position, response, task))
                held += _size(response)
                while len(reading) >= self.ahead or (held > _AHEAD_BYTES and len(reading) > 1):
                    await take()
        while reading:
            await take()
        return waiting

    def _responses(
        self, paths: Iterable[Path], *, first: bool
    ) -> Iterator[tuple[Position, RecordedResponse]]:
        """Yield the responses of all files; tell of damage the ``first`` time."""
        options = self.task.reading
        for file, path in enumerate(paths):
            number = 0
            try:
                for one in responses_in(path, options.max_in_memory, options.spool_dir):
                    if isinstance(one, RecordedResponse):
                        number += 1
                        yield (file, number), one
                    elif first and isinstance(one, Unchanged):
                        self.tally.unchanged += 1
                    elif first and isinstance(one, Damage):
                        self._damaged(f"{path}: the record at byte {one.offset:,}: {one.reason}")
            except OSError as error:
                if first:
                    self._damaged(f"{path}: {error.strerror or error}")

    def _damaged(self, text: str) -> None:
        self.tally.damaged += 1
        self.tell(text)

    def _is_read(self, response: RecordedResponse) -> bool:
        """Count a response; return whether it may hold a document."""
        self.tally.responses += 1
        reason = ""
        if not 200 <= response.status < 300:
            reason = f"status {response.status}" if response.status else "no status"
        elif begins_later(_scrapy(response)):
            reason = "a part of a document"
        elif path_of(response.url) == "/robots.txt":
            reason = "robots.txt"
        elif response.ours and "{" in query_of(response.url):
            reason = "answers of SPARQL endpoints"  # only the crawl knew their graphs
        if reason:
            self.tally.left_out[reason] += 1
        return not reason

    async def _read(self, response: RecordedResponse, needed: Collection[str]) -> Answer:
        """Read a response in a process."""
        url, media = _address(response, self.task), response.headers
        got = Received(url, b"", media, response.status)
        contexts = {
            one: self._contexts[key] for one in needed if (key := _key(one)) in self._contexts
        }
        task, body = replace(self.task, got=got, contexts=contexts), response.body
        if isinstance(body, BodyFile):
            return await self.processes.run(
                isolated.read_shared_file, task.of_stream, file=body, owner=url
            )
        return await self.processes.run(task, body, owner=url)

    async def _take(self, response: RecordedResponse, task: asyncio.Task[Answer]) -> frozenset[str]:
        """Write what a response gave; or return the contexts that it waits for."""
        url = _address(response, self.task)
        try:
            answer = await task
        except ReadingLost as loss:
            self._unreadable(url, str(loss))
            return frozenset()
        data = answer.data
        if data is None or answer.form not in (Form.RDF, Form.PAGE):
            if data is not None:
                discard(data)
            if answer.form is Form.RDF or answer.form is Form.PAGE:
                asked = not self.task.options.robots.keeps(answer.rules)
                self.tally.left_out[NOT_KEPT if asked else "pages without data"] += 1
            else:
                self.tally.left_out["neither RDF nor pages"] += 1
            return frozenset()
        needed = frozenset(data.contexts_needed)
        if self._waits and {_key(one) for one in needed} - self._sought:
            discard(data)
            return needed
        for fault in filter(None, (missing_part(_scrapy(response)), response.fault)):
            data.errors.insert(0, DocumentError(fault))
            data.error_count += 1
        verdict = await self._judged(url, response, answer, data)
        if data.error_count and not data.quads:
            self._unreadable(url, errors_text(data.error_count, data.errors))
        elif not self.task.options.robots.keeps(answer.rules):
            self.tally.left_out[NOT_KEPT] += 1
        elif not verdict.kept:
            self.tally.left_out["not about the topic"] += 1
        elif not data.quads and answer.form is Form.PAGE:
            self.tally.left_out["pages without data"] += 1
        else:
            self._write(url, response, data)
            return frozenset()
        discard(data)
        return frozenset()

    def _unreadable(self, url: str, reason: str) -> None:
        self.tally.unreadable += 1
        self.tell(f"{url}: {reason}")

    async def _judged(
        self, url: str, response: RecordedResponse, answer: Answer, data: Reading
    ) -> Verdict:
        """Judge a document by the topic, as a crawl does."""
        media = _last(response, b"Content-Type")
        if answer.form is Form.PAGE:
            counts = self.targets.include(Kind.HTML, media, data.quads)
            body = response.body
            if isinstance(body, BodyFile):
                body = body.head(self.task.reading.max_in_memory)
            return await self.judge.page(url, answer.text, data, body, counts=counts)
        name = saved_name(_last(response, b"Content-Disposition"))
        counts = self.targets.include(Kind.RDF, media, url=url, name=name)
        whole = not data.error_count or data.quads > 0
        return await self.judge.rdf(url, data, counts=counts, may_keep=whole)

    def _write(self, url: str, response: RecordedResponse, data: Reading) -> None:
        """Write a document, and count it."""
        body = response.body
        digest = sha256()
        for piece in [body] if isinstance(body, bytes) else body.stream():
            digest.update(piece)
        document = RdfDocument(
            url,
            request_url=url,
            format=EMBEDDED if data.embedded else str(data.detection.format or ""),
            content_type=_last(response, b"Content-Type"),
            bytes=_size(response),
            quads=data.quads,
            errors=data.errors,
            error_count=data.error_count,
            etag=_last(response, b"ETag"),
            last_modified=_last(response, b"Last-Modified"),
            content_hash=digest.hexdigest(),
            fetched_at=response.date,
            nquads=data.nquads,
            spool=data.spool,
            revisit=True,  # of several versions, the last counts
            members=tuple(member.name for member in data.members),
        )
        if document.is_embedded:
            self.tally.pages += 1
        else:
            self.tally.documents += 1
        self.tally.quads += data.quads
        self.sink.write(document)

    # -- contexts
    def _seek(self, paths: Iterable[Path], names: Iterable[str]) -> None:
        """Look for JSON-LD contexts in the files, redirects followed; keep those found."""
        names = {_key(name) for name in names} - self._sought
        #: by address, the names that led to it
        wanted = {name: {name} for name in names}
        self._sought |= names
        for _ in range(_MOST_PASSES):
            more: dict[str, set[str]] = {}
            for _, response in self._responses(paths, first=False):
                led = wanted.get(_key(response.url))
                if led is None:
                    continue
                if onward := _onward(response):
                    more.setdefault(_key(onward), set()).update(led)
                elif response.status == 200 and _size(response) <= self.max_context:
                    self._keep(led, response.body)
            wanted = {url: led for url, led in more.items() if led - self._contexts.keys()}
            if not wanted:
                return

    def _keep(self, names: Iterable[str], body: bytes | BodyFile) -> None:
        if isinstance(body, bytes) and b'"@context"' in body:
            held = sum(map(len, self._contexts.values()))
            if held + len(body) <= self.context_bytes:
                self._contexts.update(dict.fromkeys(names, body))


def _some(
    found: Iterator[tuple[Position, RecordedResponse]],
) -> list[tuple[Position, RecordedResponse]]:
    """Return the next responses; none at the end."""
    some, size = [], 0
    for one in found:
        some.append(one)
        size += _size(one[1])
        if len(some) >= _AT_A_TIME or size >= _AT_A_TIME_BYTES:
            break
    return some


def _onward(response: RecordedResponse) -> str:
    """Return where a context is, if not in a response itself."""
    if 300 <= response.status < 400:
        return resolve(response.url, _last(response, b"Location")) or ""
    if "json" in _last(response, b"Content-Type"):
        return ""
    return json_ld_alternate(map(link_header, response.headers(b"Link")), response.url) or ""


def _key(url: str) -> str:
    return normalise(url) or url


def _address(response: RecordedResponse, task: AnswerTask) -> str:
    """Return the name that a crawl has for the document."""
    url = normalise(response.url, task.extraction.normalisation) or response.url
    return as_rdf(url) if response.as_rdf else url


def _size(response: RecordedResponse) -> int:
    body = response.body
    return body.size if isinstance(body, BodyFile) else len(body)


def _last(response: RecordedResponse, name: bytes) -> str:
    values = response.headers(name)
    return header_text(values[-1]) if values else ""


def _scrapy(response: RecordedResponse) -> Response:
    headers = {name.decode("latin-1"): value for name, value in response.headers.pairs}
    return Response(response.url, response.status, headers)
