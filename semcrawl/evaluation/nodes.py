"""Reads a world's answers as a crawl does, and keeps what strategies see of them."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

from semcrawl.evaluation.world import Answer, World
from semcrawl.links import Link, merge_links
from semcrawl.reading.answer import Answer as Reading
from semcrawl.reading.answer import AnswerReader, Form, Received
from semcrawl.reading.reader import at_once, discard
from semcrawl.sources import Shelf
from semcrawl.sources.endpointsteps import names_endpoint
from semcrawl.sources.negotiation import names_itself
from semcrawl.topics import Document, Judgement, Topic
from semcrawl.topics.novelty import statement_hashes
from semcrawl.topics.pagejudge import PageJudge
from semcrawl.web.vocabulary import Kind

#: returns the links to a page's images, from its body, URL and content type
PageImageLinks = Callable[[bytes, str, str], Sequence[Link]]
_KINDS = {Form.RDF: Kind.RDF, Form.PAGE: Kind.HTML, Form.PAGE_AGAIN: Kind.HTML}


@dataclass(frozen=True, slots=True)
class Node:
    """The answer to a URL, with its links inside the world."""

    #: as the world gives it, with the kind that was read
    answer: Answer
    #: first links of a page, in document order; those of a list, of headers, of RDF
    links: tuple[Link, ...] = ()
    #: SHA-256 of the body, empty unless HTML or RDF; duplicates under other URLs have the same
    digest: bytes = b""
    #: RDF out of which not one statement can be read, for a fault of its own
    broken: bool = False
    #: judgement by the topic; ``None`` without a topic or a body
    judged: Judgement | None = None
    #: number of statements, and hashes of the distinct ones of an RDF document
    quads: int = 0
    statements: Sequence[int] = ()
    #: the links of a sitemap by shape
    shelves: tuple[Shelf, ...] = ()
    #: links of a page with those to the catalogue of its host; empty if it shows no software
    with_catalogue: tuple[Link, ...] = ()
    #: links of a page that its elements and headers have, without those of its data
    own_links: tuple[Link, ...] = ()
    #: those to the catalogue of its host
    signs: tuple[Link, ...] = ()
    #: those that its headers alone give, if its body is not taken
    header_links: tuple[Link, ...] = ()
    #: whether its headers say that its type varies, and its data of what type its address is
    varies: bool = False
    names_itself: bool = False
    #: it is a list of links, and no page
    is_list: bool = False
    #: it is a sitemap, perhaps without links
    is_sitemap: bool = False
    #: it has no body
    empty: bool = False
    #: whether its robots directives allow keeping a copy
    keeps: bool = True

    @property
    def relevance(self) -> float | None:
        """Relevance to the topic, 0 to 1; ``None`` if it was not judged."""
        return None if self.judged is None else self.judged.relevance


@dataclass(frozen=True)
class NodeReader:
    """Reads the answers of a world."""

    world: World
    answers: AnswerReader
    topic: Topic | None
    #: whether the links of RDF documents are followed
    follow_rdf: bool
    inside: Callable[[str], bool]
    #: finds the links to a page's images, if images are targets
    images: PageImageLinks | None = None
    #: whether RDF documents lead to endpoints, even if their other links are not followed
    finds_endpoints: bool = False

    @cached_property
    def pages(self) -> PageJudge | None:
        """The judge of pages; ``None`` without a topic."""
        return None if self.topic is None else PageJudge(self.topic)

    def received(self, name: str, url: str) -> Received:
        """Return the world's answer with a name, as a crawl would get it from ``url``."""
        answer = self.world.fetch(name)
        # what shows images is judged by its headers; to draw them all takes long
        drawn = answer.content_type.startswith("image/") and answer.kind is Kind.OTHER
        body = b"" if drawn or not answer.is_success else self.world.body(name)
        return Received(url, body, answer.header_values, answer.status)

    def read(self, name: str, got: Received) -> Node:
        """Read the world's answer with a name, which was ``received``."""
        answer = self.world.fetch(name)
        if not answer.is_success:
            return Node(answer, varies=got.varies, empty=True)
        if answer.content_type.startswith("image/") and not got.body:
            read = self.answers.of_headers(got)
        else:
            read = at_once(self.answers.read(got))
        headers = self.answers.of_headers(got)
        node = Node(
            replace(answer, kind=_KINDS.get(read.form, Kind.OTHER)),
            self._followed(read, read.links),
            header_links=self._followed(headers, headers.links),
            varies=got.varies,
            empty=not got.body,
            is_list=read.form is Form.LIST,
            is_sitemap=read.form is Form.SITEMAP,
            keeps=self.answers.options.robots.keeps(read.rules),
        )
        body = got.body if isinstance(got.body, bytes) else b""
        try:
            if read.sitemap is not None:
                return self._sitemap(node, read.sitemap.shelves)
            if read.form is Form.RDF:
                return self._document(node, read, got.url, body)
            return self._page(node, read, got, body) if read.form is Form.PAGE else node
        finally:
            if read.data is not None:
                discard(read.data)

    def _document(self, node: Node, read: Reading, url: str, body: bytes) -> Node:
        """Add what an RDF document has."""
        data, links = read.data, node.links
        if data is None:
            return node
        if not self.follow_rdf:
            wanted = self.finds_endpoints
            links = tuple(link for link in links if wanted and names_endpoint(link))
        document = Document.of_rdf(url, data)
        return replace(
            node,
            links=links,
            digest=sha256(body).digest(),
            broken=data.error_count > 0 and not data.quads and not data.contexts_needed,
            judged=None if self.topic is None else self.topic.judge(document),
            quads=data.quads,
            statements=array("Q", statement_hashes(document.statements())),
        )

    def _page(self, node: Node, read: Reading, got: Received, body: bytes) -> Node:
        """Add what a page has, its images among its links."""
        url, data = got.url, read.data
        shown = () if self.images is None else self.images(body, url, got.content_type)
        most = self.answers.reader.extraction.max_links
        plain = [*read.own, *read.data_links, *shown]
        links = self._followed(read, merge_links(plain, most))
        whole = self._followed(read, merge_links([*read.links, *shown], most))
        judged = None
        if self.pages is not None:
            judged = self.pages.judge(url, read.text, data, body)
        return replace(
            node,
            links=links,
            with_catalogue=whole if read.places else (),
            own_links=self._followed(read, read.own),
            signs=self._followed(read, read.places),
            digest=sha256(body).digest(),
            judged=judged,
            quads=0 if data is None else data.quads,
            names_itself=data is not None and names_itself(data.nquads, url),
        )

    def _followed(self, read: Reading, links: Sequence[Link]) -> tuple[Link, ...]:
        """Return the links that a crawl may follow."""
        if not read.is_followed:
            return ()
        passes_over = self.answers.options.robots.passes_over
        return tuple(link for link in links if self.inside(link.url) and not passes_over(link.rel))

    def _sitemap(self, node: Node, shelves: Sequence[Shelf]) -> Node:
        """Add the links of a sitemap by shape, without those outside the world."""
        kept = [
            replace(shelf, links=[link for link in shelf.links if self.inside(link.url)])
            for shelf in shelves
        ]
        kept = [shelf for shelf in kept if shelf.links]
        return replace(
            node, links=tuple(link for shelf in kept for link in shelf.links), shelves=tuple(kept)
        )
