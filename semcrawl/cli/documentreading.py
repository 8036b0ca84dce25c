"""Reads one document for ``explain`` as a crawl does: its links and the topic's judgement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from scrapy.settings import BaseSettings

from semcrawl.config.leadoptions import EndpointOptions, LeadOptions
from semcrawl.config.normalisation import url_normalisation
from semcrawl.errors import UsageError
from semcrawl.links import Link, Page, header_links, merge_links, metadata_links
from semcrawl.rdf import Detection, Reading
from semcrawl.relevance import Label
from semcrawl.relevance.rules import relevancy_r
from semcrawl.sources import is_sitemap_name, links_of, read_sitemap
from semcrawl.sources.datalists import form_of, read_list
from semcrawl.sources.endpointsteps import names_endpoint
from semcrawl.sources.hostsigns import catalogue_places
from semcrawl.sources.listedlinks import DataList
from semcrawl.sources.negotiation import may_be_candidate, names_itself, other_form, varies_by_type
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.reading import Reader, discard
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import Kind, RdfFormat


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A page or RDF document, and its links to rank."""

    page: Page
    links: Sequence[Link]
    verdict: Verdict
    #: queries to endpoints, which no strategy judges
    queries: Sequence[Link] = ()


async def read_for_explanation(
    settings: BaseSettings,
    body: bytes,
    url: str,
    content_type: str,
    headers: Sequence[str],
    vary: Sequence[str] = (),
) -> ReadDocument:
    """Read a body as a crawl with these settings does; ``headers`` are its ``Link:`` headers.

    Sitemaps, catalogues and linksets count as pages with their entries as links. Raises
    ``UsageError`` for any other body and for wrong settings.
    """
    document = await _read(settings, body, url, content_type, headers, vary)
    if EndpointOptions.from_settings(settings).allowed != "found":
        return document
    queries = [link for link in document.links if names_endpoint(link)]
    links = [link for link in document.links if not names_endpoint(link)]
    return replace(document, links=links, queries=queries)


async def _read(
    settings: BaseSettings,
    body: bytes,
    url: str,
    content_type: str,
    headers: Sequence[str],
    vary: Sequence[str],
) -> ReadDocument:
    options = LeadOptions.from_settings(settings)
    headers = headers if options.signposts else ()
    judge = TopicJudge.from_settings(settings)
    reader = Reader.from_settings(settings, url_normalisation(settings), judge.text_chars)
    detection = reader.detect(body, content_type, url)
    try:
        listed = _list_of(body, url, content_type, options, reader)
        if listed is not None and listed.rdf:
            detection = Detection(Kind.RDF, RdfFormat.RDF_XML, 1.0, listed.form)
        if detection.kind is Kind.RDF:
            content = listed.rdf if listed is not None and listed.rdf else body
            reading = await reader.read(content, url, content_type, detection)
            verdict = await judge.rdf(url, reading, counts=True)
            links = _of_rdf(reading, url, headers, options, reader, listed)
        elif listed is not None and listed.links:
            return ReadDocument(Page(url, 1), listed.links, Verdict(target=False))
        elif detection.kind is Kind.HTML:
            page = await reader.page(body, url, content_type, headers)
            reading = await reader.read_embedded(body, url, content_type)
            verdict = await judge.page(url, page.text, reading, body, counts=True)
            own = [*page.links, *(catalogue_places(body, url) if options.catalogues else ())]
            links = list(reader.with_data_links(own, reading, url))
            itself, varies = names_itself(reading.nquads, url), varies_by_type(vary)
            candidate = (varies or itself) and may_be_candidate(url, varies=varies)
            shows_rdf = any(relevancy_r(link)[0] is Label.R for link in own)
            if candidate and options.asks_as_rdf and not shows_rdf:
                links.append(other_form(url))
        elif (sitemap := read_sitemap([body], expected=is_sitemap_name(url))).form:
            host = netloc_of(url)
            entries = sitemap.entries
            links, _ = links_of(entries, url, lambda each: netloc_of(each) == host)
            return ReadDocument(Page(url, 1), links, Verdict(target=False))
        else:
            raise UsageError(
                f"{url} is neither a page nor RDF nor a list of links (it is {detection.kind})"
            )
        discard(reading)
    finally:
        reader.close()
        judge.close()
    rdf = detection.kind is Kind.RDF
    return ReadDocument(Page(url, rdf=rdf, relevance=verdict.relevance), links, verdict)


def _list_of(
    body: bytes, url: str, content_type: str, options: LeadOptions, reader: Reader
) -> DataList | None:
    """Read a catalogue or a linkset; ``None`` for anything else."""
    form = form_of(body, content_type)
    if not options.reads(form) or len(body) > options.most_bytes:
        return None
    extraction = reader.extraction
    return read_list(body, form, url, extraction.normalisation, extraction.max_links)


def _of_rdf(
    reading: Reading,
    url: str,
    headers: Sequence[str],
    options: LeadOptions,
    reader: Reader,
    listed: DataList | None,
) -> list[Link]:
    """Return the links of an RDF document: catalogue, then IRIs, then headers."""
    links = reader.rdf_links(reading)
    if options.catalogues:
        more = reader.catalogue_links(reading, url) + (listed.links if listed is not None else [])
        links = merge_links([*more, *links], reader.extraction.max_links) if more else links
    found = [link for value in headers for link in header_links(value, url)]
    return links + metadata_links(found, rdf=True)
