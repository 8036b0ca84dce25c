"""Reads a world's answers: the links of pages and lists, and other ways to data."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from semcrawl import rdf
from semcrawl.config.leadoptions import LeadOptions
from semcrawl.evaluation.judgement import Judge
from semcrawl.evaluation.world import Answer, World
from semcrawl.links import (
    ExtractionOptions,
    Link,
    extract_links,
    header_links,
    merge_links,
    metadata_links,
    refresh_target,
)
from semcrawl.sources import Shelf
from semcrawl.sources.datalists import form_of, read_list
from semcrawl.sources.endpointsteps import names_endpoint
from semcrawl.sources.hostsigns import catalogue_places
from semcrawl.sources.listedlinks import DataList
from semcrawl.sources.negotiation import names_itself, varies_by_type
from semcrawl.topics import Judgement
from semcrawl.topics.novelty import statement_hashes
from semcrawl.web.vocabulary import Kind, RdfFormat

#: returns the links to a page's images, from its body, URL and content type
PageImageLinks = Callable[[bytes, str, str], Sequence[Link]]


@dataclass(frozen=True, slots=True)
class Node:
    """The answer to a URL, with its links inside the world."""

    answer: Answer
    #: first links of a page, in document order; those of a list, of headers, of RDF
    links: tuple[Link, ...] = ()
    #: SHA-256 of the body, empty unless HTML or RDF; duplicates under other URLs have the same
    digest: bytes = b""
    #: RDF out of which not one statement can be read, for a fault of its own
    broken: bool = False
    #: judgement by the topic; ``None`` without a topic or a body
    judged: Judgement | None = None
    #: hashes of the distinct statements of an RDF document
    statements: Sequence[int] = ()
    #: the links of a sitemap by shape
    shelves: tuple[Shelf, ...] = ()
    #: links of a page with those to the catalogue of its host; empty if it shows no software
    with_catalogue: tuple[Link, ...] = ()
    #: links of a page that its elements and headers have, without those of its data
    own_links: tuple[Link, ...] = ()
    #: those to the catalogue of its host
    signs: tuple[Link, ...] = ()
    #: whether its headers say that its type varies, and its data of what type its address is
    varies: bool = False
    names_itself: bool = False
    #: it is a list of links, and no page
    is_list: bool = False

    @property
    def relevance(self) -> float | None:
        """Relevance to the topic, 0 to 1; ``None`` if it was not judged."""
        return None if self.judged is None else self.judged.relevance


@dataclass(frozen=True)
class NodeReader:
    """Reads the answers of a world."""

    world: World
    leads: LeadOptions
    max_links: int
    judge: Judge | None
    #: properties of data embedded in pages whose values are links
    embedded_links: frozenset[str]
    #: whether the links of RDF documents are followed
    follow_rdf: bool
    inside: Callable[[str], bool]
    #: finds the links to a page's images, if images are targets
    images: PageImageLinks | None = None
    #: whether RDF documents lead to endpoints, even if their other links are not followed
    finds_endpoints: bool = False

    def read(self, name: str, url: str) -> Node:
        """Read the world's answer with a name; ``url`` is its address."""
        answer = self.world.fetch(name)
        varies = varies_by_type(_headers(answer, "vary"))
        if answer.status != 200 or answer.kind is None:
            return Node(answer, varies=varies)
        if answer.kind is Kind.OTHER and answer.content_type.startswith("image/"):
            return Node(answer, self._kept(self._of_headers(answer, url)))
        body = self.world.body(name)
        listed = self._list(body, answer, url)
        if answer.kind is Kind.RDF or (listed is not None and listed.rdf):
            return self._document(answer, body, url, listed)
        if listed is not None and (listed.links or listed.faults):
            return Node(answer, self._kept(listed.links), is_list=True)
        if answer.kind is Kind.HTML:
            return self._page(answer, body, url, varies=varies)
        return Node(answer, self._kept(self._of_headers(answer, url)))

    def _list(self, body: bytes, answer: Answer, url: str) -> DataList | None:
        """Read a catalogue or a linkset; return ``None`` for other documents."""
        form = form_of(body[:8192], answer.content_type)
        if not self.leads.reads(form) or len(body) > self.leads.most_bytes:
            return None
        return read_list(body, form, url, limit=self.max_links)

    def _document(self, answer: Answer, body: bytes, url: str, listed: DataList | None) -> Node:
        """Read RDF, possibly from a list."""
        kind, content = answer.content_type or None, body
        found: rdf.Detection | None = None
        if listed is not None and listed.rdf:
            found = rdf.Detection(Kind.RDF, RdfFormat.RDF_XML, 1.0, listed.form)
            content, answer = listed.rdf, replace(answer, kind=Kind.RDF)
        leads_on = self.follow_rdf or self.finds_endpoints
        reading = rdf.read(content, url, kind, detection=found, links=leads_on)
        links: list[Link] = []
        if leads_on:
            links = rdf.document_links(reading)
            if self.leads.catalogues:
                more = rdf.catalogue_links(reading, url, limit=self.max_links)
                more += listed.links if listed is not None else ()
                links = merge_links([*more, *links], self.max_links) if more else links
            links += self._of_headers(answer, url, is_rdf=True)
        if not self.follow_rdf:
            links = [link for link in links if names_endpoint(link)]
        broken = reading.error_count > 0 and not reading.quads and not reading.contexts_needed
        return Node(
            answer,
            self._kept(links),
            sha256(body).digest(),
            broken,
            None if self.judge is None else self.judge(url, answer, body),
            array("Q", statement_hashes((reading.nquads,))),
        )

    def _page(self, answer: Answer, body: bytes, url: str, *, varies: bool) -> Node:
        refreshes = map(refresh_target, _headers(answer, "refresh"))
        headers = [*_headers(answer, "link"), *(f"<{target}>" for target in refreshes if target)]
        options = ExtractionOptions(max_links=self.max_links)
        own = extract_links(body, url, answer.content_type, options, headers)
        if self.images is not None:
            own = merge_links([*own, *self.images(body, url, answer.content_type)], self.max_links)
        named: list[Link] = []
        itself = False
        if self.embedded_links or self.leads.negotiation:
            data = rdf.read_embedded(body, url, answer.content_type)
            itself = names_itself(data.nquads, url)
            if self.embedded_links:
                named = rdf.data_links(data.nquads, url, self.embedded_links, limit=self.max_links)
        signs = catalogue_places(body, url) if self.leads.catalogues else []
        return Node(
            answer,
            self._kept(merge_links([*own, *named], self.max_links) if named else own),
            sha256(body).digest(),
            judged=None if self.judge is None else self.judge(url, answer, body),
            with_catalogue=self._kept(merge_links([*own, *signs, *named], self.max_links))
            if signs
            else (),
            own_links=self._kept(own),
            signs=self._kept(signs),
            varies=varies,
            names_itself=itself,
        )

    def _of_headers(self, answer: Answer, url: str, *, is_rdf: bool = False) -> list[Link]:
        """Return the links to RDF in the headers of RDF, or of a file that is not a page."""
        values = _headers(answer, "link") if self.leads.signposts else []
        found = [link for value in values for link in header_links(value, url)]
        return metadata_links(found, rdf=is_rdf)

    def _kept(self, links: Sequence[Link]) -> tuple[Link, ...]:
        return tuple(link for link in links if self.inside(link.url))


def _headers(answer: Answer, wanted: str) -> list[str]:
    return [value for name, value in answer.headers if name.lower() == wanted]
