"""Reads an answer: its bytes, its headers and its link's evidence in; what it gives out.

Spiders, ``semcrawl explain`` and the simulator read with it, and with nothing beside it. It asks
nobody and remembers nothing. What follows from an answer is decided by others.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto

from semcrawl import rdf
from semcrawl.links import (
    ExtractionOptions,
    Link,
    PageText,
    address_of,
    choices_header,
    context_links,
    cut_off,
    header_links,
    header_text,
    link_header,
    merge_links,
    metadata_links,
    refresh_target,
)
from semcrawl.rdf.streams import Readable
from semcrawl.reading.reader import Reader, discard
from semcrawl.sources import (
    Shelf,
    SitemapFile,
    SitemapLimits,
    arrange,
    is_sitemap_name,
    links_of,
    read_sitemap,
)
from semcrawl.sources.catalogues import DataList, catalogue_places, form_of, read_list
from semcrawl.sources.forms import FormTable, form_links
from semcrawl.sources.negotiation import is_as_rdf, varies_by_type
from semcrawl.sources.sitemaps import has_sitemap_root
from semcrawl.web.bodies import BodyFile
from semcrawl.web.hosts import netloc_of
from semcrawl.web.robots import HEADER, NOFOLLOW, RobotsTags
from semcrawl.web.urls import Normalisation
from semcrawl.web.vocabulary import Kind, RdfFormat

#: bytes of a body on disk that the detection of its type reads
_HEAD = 1 << 22
#: statuses of success without a body
_NO_CONTENT = (204, 205)
#: bytes above which a sitemap is read in a thread
_LARGE = 1 << 16
#: bytes copied at a time
_PIECE = 1 << 20


class Form(StrEnum):
    """What an answer turned out to be."""

    EMPTY = auto()  #: by its status it has no content
    SITEMAP = auto()
    LIST = auto()  #: a catalogue or a linkset that is not RDF
    RDF = auto()
    CONTEXT = auto()  #: a JSON-LD context and nothing more
    PAGE = auto()
    PAGE_AGAIN = auto()  #: a page where its RDF form was asked for
    OTHER = auto()


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Which ways to data are read, and how much of them."""

    #: catalogues, and the places where the software of hosts keeps them
    catalogues: bool = True
    #: ``Link`` headers, and linksets
    signposts: bool = True
    #: bytes of a list
    list_bytes: int = 16 * 2**20
    #: what search forms are filled with
    forms: FormTable = field(default_factory=FormTable)
    sitemaps: bool = True
    sitemap_limits: SitemapLimits = field(default_factory=SitemapLimits)
    #: the directives of documents that are obeyed
    robots: RobotsTags = field(default_factory=RobotsTags)
    #: the time that the age of a sitemap's entries counts from (seconds since the epoch); ``None``:
    #: the present
    now: float | None = None


@dataclass(frozen=True, slots=True)
class Received:
    """A response, and what is known of its link."""

    #: the address that gave it
    url: str
    body: bytes | BodyFile
    #: returns all values of a header
    headers: Callable[[bytes], Sequence[bytes]]
    status: int = 200
    #: the address before redirects; empty: the same
    link_url: str = ""
    #: a robots.txt or a sitemap names it as a sitemap
    is_sitemap: bool = False
    #: its address is a guess
    is_guess: bool = False
    is_seed: bool = False
    #: other hosts whose addresses it may list as a sitemap
    hosts: frozenset[str] = frozenset()
    #: whether an address is known; links to known ones are left out of pages
    known: Callable[[str], bool] | None = None
    #: whether the software of its host is to be found out
    software: bool = True

    @property
    def content_type(self) -> str:
        """The ``Content-Type`` header; empty without one."""
        values = self.headers(b"Content-Type")
        return header_text(values[-1]) if values else ""

    @property
    def head(self) -> bytes:
        """The body, or the beginning of one on disk."""
        return self.body.head(_HEAD) if isinstance(self.body, BodyFile) else self.body

    @property
    def size(self) -> int:
        """Bytes of the body."""
        return self.body.size if isinstance(self.body, BodyFile) else len(self.body)

    @property
    def varies(self) -> bool:
        """Whether its headers say that its type depends on the request."""
        return varies_by_type(map(header_text, self.headers(b"Vary")))

    @property
    def link_headers(self) -> list[str]:
        """The ``Link`` headers."""
        return [link_header(value) for value in self.headers(b"Link")]

    @property
    def choices(self) -> list[str]:
        """The choices in ``Alternates`` headers, written as ``Link`` headers."""
        found = (choices_header(address_of(value)) for value in self.headers(b"Alternates"))
        return [choice for choice in found if choice]

    @property
    def refreshes(self) -> list[str]:
        """The targets of ``Refresh`` headers, written as ``Link`` headers."""
        values = map(address_of, self.headers(b"Refresh"))
        return [f"<{target}>" for target in map(refresh_target, values) if target]


@dataclass(frozen=True, slots=True)
class ListedSitemap:
    """The content of a sitemap."""

    file: SitemapFile
    #: its links by shape
    shelves: Sequence[Shelf] = ()
    faults: Sequence[str] = ()
    #: the latest times at which addresses may have changed
    latest: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Answer:
    """What a response gives."""

    form: Form
    #: the body that was read: decoded, or the beginning of a very large page
    body: bytes | BodyFile
    #: ``None`` if nothing was detected: no content, or a sitemap
    detection: rdf.Detection | None = None
    #: the robots directives to obey
    rules: frozenset[str] = frozenset()
    #: all links, in their order; none of a sitemap
    links: list[Link] = field(default_factory=list)
    #: links after the most that are taken
    beyond: list[Link] = field(default_factory=list)
    #: those of a page's elements and headers, of its host's catalogue by the software that it
    #: shows, and of its data
    own: list[Link] = field(default_factory=list)
    places: list[Link] = field(default_factory=list)
    data_links: list[Link] = field(default_factory=list)
    #: the quads of an RDF document, or of the data in a page
    data: rdf.Reading | None = None
    text: PageText = field(default_factory=PageText)
    listed: DataList | None = None
    sitemap: ListedSitemap | None = None
    faults: list[str] = field(default_factory=list)
    #: whether the data of the page are still to be read, by :meth:`AnswerReader.again`
    data_waits: bool = False

    @property
    def is_followed(self) -> bool:
        """Whether its robots directives allow following its links."""
        return NOFOLLOW not in self.rules


@dataclass
class AnswerReader:
    """Reads answers with one crawl's options."""

    reader: Reader
    options: AnswerOptions = field(default_factory=AnswerOptions)

    async def read(self, got: Received, *, whole: bool = True) -> Answer:
        """Read a response: its true type, and what that type gives (sources.md T.5, step 3).

        Unless ``whole``, the data of a large page may wait, as its links are had sooner. Raises
        :class:`~semcrawl.reading.pool.ReadingLost` if a reading was ended, and whatever a reader
        raises.
        """
        if got.status in _NO_CONTENT:  # its headers may name a type all the same
            return self.of_headers(got, Form.EMPTY)
        head, media = got.head, got.content_type
        if self._may_be_sitemap(got, head):
            sitemap = await self._sitemap(got)
            if sitemap.file.form or sitemap.faults:
                return Answer(Form.SITEMAP, got.body, rules=self._rules(got), sitemap=sitemap)
        linked = context_links(got.link_headers, got.url, media)
        detection = self.reader.detect(head, media, got.url, linked)
        listed = await self._list(got, head, media)
        if listed is not None and listed.rdf:
            found = rdf.Detection(Kind.RDF, RdfFormat.RDF_XML, 1.0, listed.form)
            data = await self.reader.read(listed.rdf, got.url, "", found)
            return self._document(got, found, data, listed)
        is_list = listed is not None and bool(listed.links or listed.faults)
        if listed is not None and is_list and detection.kind is not Kind.RDF:
            return self._catalogue(got, detection, listed)
        if detection.kind is Kind.RDF or detection.compression is not None:
            data = await self.data_of(got, detection)
            # the type of a compressed body is known only now
            if Kind.RDF in (detection.kind, data.detection.kind):
                if isinstance(got.body, bytes) and is_context_alone(got.body, data):
                    return Answer(Form.CONTEXT, got.body, data.detection, data=data)
                return self._document(got, detection, data, listed)
            discard(data)
            detection = data.detection
            if isinstance(got.body, BodyFile):
                plain = await self.reader.decoded(got.body)
                if plain is not got.body:
                    return await self.read(replace(got, body=plain), whole=whole)
        elif detection.kind is Kind.HTML:
            return await self._page(got, detection, whole=whole)
        return self.of_headers(got, Form.OTHER, detection)

    def of_headers(
        self, got: Received, form: Form = Form.OTHER, detection: rdf.Detection | None = None
    ) -> Answer:
        """Read only the headers of a response: links to metadata, and a successor."""
        links = self._header_links(got, document=False)
        spelling = self.reader.extraction.normalisation
        for target in got.refreshes:
            links += header_links(target, got.url, spelling)
        return Answer(form, got.body, detection, self._rules(got), links)

    def signposts(self, got: Received) -> list[str]:
        """Return the links in headers, if they are followed, as ``Link`` headers."""
        return [*got.link_headers, *got.choices] if self.options.signposts else []

    async def data_of(
        self,
        got: Received,
        detection: rdf.Detection,
        contexts: Mapping[str, bytes] | None = None,
    ) -> rdf.Reading:
        """Read the quads of an RDF document, with the JSON-LD contexts that were fetched for it."""
        media = got.content_type
        linked = context_links(got.link_headers, got.url, media)
        return await self.reader.read(
            got.body, got.url, media, detection, contexts=contexts, link_contexts=linked
        )

    async def again(
        self, got: Received, answer: Answer, contexts: Mapping[str, bytes] | None = None
    ) -> rdf.Reading:
        """Read the data of a document or a page again, with JSON-LD contexts, or data that wait."""
        if answer.form is Form.PAGE:
            body = answer.body if isinstance(answer.body, bytes) else b""
            return await self.reader.read_embedded(body, got.url, got.content_type, contexts)
        return await self.data_of(got, answer.detection or rdf.Detection(Kind.RDF), contexts)

    def with_data(self, got: Received, answer: Answer, data: rdf.Reading) -> Answer:
        """Return the answer with another reading of its data, whose links alone it has."""
        if answer.form is Form.PAGE:
            return replace(answer, data=data, links=self.reader.data_links(data, got.url))
        return self._document(got, answer.detection or data.detection, data, answer.listed)

    # -- kinds
    async def _page(self, got: Received, detection: rdf.Detection, *, whole: bool) -> Answer:
        if is_as_rdf(got.url):
            return Answer(Form.PAGE_AGAIN, got.body, detection, self._rules(got))
        if not isinstance(got.body, BodyFile):
            waits = not whole and self.reader.is_slow(got.body)
            return await self._page_with(got, detection, got.head, data_waits=waits)
        async with self.reader.large_page:  # read the beginning
            body = got.body.head(self.reader.options.max_in_memory)
            rest = f"only the first {len(body)} of its {got.size} bytes are read"
            faults = [rest] if got.size > len(body) else []
            return await self._page_with(got, detection, body, faults)

    async def _page_with(
        self,
        got: Received,
        detection: rdf.Detection,
        body: bytes,
        faults: Sequence[str] = (),
        *,
        data_waits: bool = False,
    ) -> Answer:
        reader = self.reader
        rules, media = self._rules(got, body), got.content_type
        headers = [*self.signposts(got), *got.refreshes]
        page = await reader.page(body, got.url, media, headers, got.known)
        looks = self.options.catalogues and got.software
        places = catalogue_places(body, got.url) if looks else []
        filled = await self._filled(body, got)
        data: rdf.Reading | None = None
        has_data = self.options.robots.keeps(rules) and bool(reader.options.embedded)
        if has_data and not data_waits:
            data = await reader.read_embedded(body, got.url, media)
        more = reader.data_links(data, got.url) if data is not None else []
        links, beyond = [*page.links, *places, *filled], page.beyond
        limit = reader.extraction.max_links
        if more:
            found = [*links, *more]
            links = merge_links(found, limit)
            beyond = [*beyond, *cut_off(found, links, limit)]
        return Answer(
            Form.PAGE,
            body,
            detection,
            rules,
            links,
            beyond,
            page.links,
            places,
            more,
            data,
            page.text,
            faults=[*faults, *filter(None, [page.fault])],
            data_waits=has_data and data_waits,
        )

    async def _filled(self, body: bytes, got: Received) -> list[Link]:
        """Return the addresses that the search forms of a page lead to."""
        if not self.options.forms or b"<form" not in body.lower():
            return []
        rest = (got.url, got.content_type, self.options.forms, self.reader.extraction.normalisation)
        return await self.reader.run(form_links, body, *rest, url=got.url)

    def _document(
        self, got: Received, detection: rdf.Detection, data: rdf.Reading, listed: DataList | None
    ) -> Answer:
        """Return RDF with its links: those of a catalogue, then its IRIs, then its headers."""
        links = self.reader.rdf_links(data)
        if self.options.catalogues:
            more = self.reader.catalogue_links(data, got.url)
            more += listed.links if listed is not None else ()
            if more:
                links = merge_links([*more, *links], self.reader.extraction.max_links)
        links += self._header_links(got, document=True)
        rules = self._rules(got)
        return Answer(Form.RDF, got.body, detection, rules, links, data=data, listed=listed)

    def _catalogue(self, got: Received, detection: rdf.Detection, listed: DataList) -> Answer:
        return Answer(
            Form.LIST,
            got.body,
            detection,
            self._rules(got),
            listed.links,
            listed=listed,
            faults=listed.faults,
        )

    async def _list(self, got: Received, head: bytes, media: str) -> DataList | None:
        """Read a catalogue or a linkset; ``None`` for a body that seems to be neither."""
        form, options = form_of(head, media), self.options
        reads = options.signposts if form.startswith("linkset") else options.catalogues
        if not form or not reads:
            return None
        if isinstance(got.body, BodyFile) or len(got.body) > options.list_bytes:
            limit = min(options.list_bytes, self.reader.options.max_in_memory)
            return DataList(form, faults=[f"it has more than {limit:,} bytes and is not read"])
        extraction, url = self.reader.extraction, got.url
        rest = (form, url, extraction.normalisation, extraction.max_links)
        return await self.reader.run(read_list, got.body, *rest, url=url)

    # -- sitemaps
    def _may_be_sitemap(self, got: Received, head: bytes) -> bool:
        if not self.options.sitemaps:
            return False
        by_name = got.is_seed and is_sitemap_name(got.link_url or got.url)
        return got.is_sitemap or by_name or has_sitemap_root(head)

    async def _sitemap(self, got: Received) -> ListedSitemap:
        body = got.body
        if isinstance(body, BodyFile):
            body = await self.reader.decoded(body)
        link_url = got.link_url or got.url
        hosts = frozenset(map(_bare, (netloc_of(got.url), netloc_of(link_url), *got.hosts)))
        rest = (
            got.url,
            got.is_sitemap or is_sitemap_name(link_url),
            hosts,
            self.options.sitemap_limits,
            self.reader.extraction.normalisation,
            self.options.now,
        )
        if got.size > _LARGE and not self.reader.here:
            sitemap = await asyncio.to_thread(_listed_sitemap, body, *rest)
        else:
            sitemap = _listed_sitemap(body, *rest)
        if got.is_guess and not sitemap.file.form and not sitemap.faults:
            return replace(sitemap, faults=["it is no sitemap"])
        return sitemap

    # -- headers
    def _rules(self, got: Received, page: bytes = b"") -> frozenset[str]:
        """Return the robots directives to obey, of headers and of a page."""
        return self.options.robots.said(map(header_text, got.headers(HEADER)), page)

    def _header_links(self, got: Received, *, document: bool) -> list[Link]:
        """Return the links to RDF in the headers of an RDF document or of another file."""
        spelling = self.reader.extraction.normalisation
        found = [
            link for value in self.signposts(got) for link in header_links(value, got.url, spelling)
        ]
        return metadata_links(found, rdf=document)


@dataclass(frozen=True, slots=True)
class AnswerTask:
    """Reads an answer in a process of :class:`~semcrawl.reading.pool.ReadingProcesses`.

    Of what it gives out, the links stay behind.
    """

    #: with headers that can be sent, and without a body
    got: Received
    extraction: ExtractionOptions
    reading: rdf.ReadOptions
    options: AnswerOptions
    #: the JSON-LD contexts that it may name
    contexts: Mapping[str, bytes] = field(default_factory=dict)

    def __call__(self, body: bytes | BodyFile) -> Answer:
        """Read the body."""
        answers = AnswerReader(Reader(self.extraction, self.reading, here=True), self.options)
        got = replace(self.got, body=body)

        async def read() -> Answer:
            answer = await answers.read(got)
            if answer.data is not None and answer.data.contexts_needed and self.contexts:
                discard(answer.data)
                answer = replace(answer, data=await answers.again(got, answer, self.contexts))
            return answer

        answer = asyncio.run(read())
        return Answer(
            answer.form,
            b"",
            answer.detection,
            answer.rules,
            data=answer.data,
            text=answer.text,
            faults=answer.faults,
        )

    def of_stream(self, stream: Readable) -> Answer:
        """Read a body that another process has in a file."""
        body = BodyFile(self.reading.spool_dir)
        while piece := stream.read(_PIECE):
            body.write(piece)
        return self(body)


def is_context_alone(body: bytes, reading: rdf.Reading) -> bool:
    """Whether a document without statements is a JSON-LD context and nothing more."""
    if reading.quads or reading.detection.format is not RdfFormat.JSON_LD:
        return False
    others = _beside_context(body)
    if others is None:
        return False
    # whether other members mean something is not known before all contexts are there
    return not others or not (reading.error_count or any(key[:1] == "@" for key in others))


def has_only_context(body: bytes) -> bool:
    """Whether a body is JSON whose only member is a context."""
    return bool(body) and _beside_context(body) == []


def _beside_context(body: bytes) -> list[str] | None:
    """Return the members of a JSON object beside its ``@context``; ``None`` if it has none."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or "@context" not in document:
        return None
    return [key for key in document if key != "@context"]


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _listed_sitemap(
    body: bytes | BodyFile,
    url: str,
    expected: bool,
    hosts: frozenset[str],
    limits: SitemapLimits,
    normalisation: Normalisation,
    now: float | None,
) -> ListedSitemap:
    """Read a sitemap and sort its links; a pure function, for a thread."""
    pieces = [body] if isinstance(body, bytes) else body.stream()
    file = read_sitemap(pieces, limits, expected=expected)
    latest: dict[str, int] = {}

    def may_list(address: str) -> bool:
        return _bare(netloc_of(address)) in hosts

    links, odd = links_of(file.entries, url, may_list, normalisation, now=now, latest=latest)
    faults = [*file.faults, *(f"{number:,} entries {what}" for what, number in odd.items())]
    return ListedSitemap(file, arrange(links), faults, latest)
