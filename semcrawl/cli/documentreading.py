"""One document read for an explanation: its links and the topic's judgement, as in a crawl."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scrapy.settings import BaseSettings

from semcrawl.config.normalisation import url_normalisation
from semcrawl.errors import UsageError
from semcrawl.links import Link, Page
from semcrawl.sources import is_sitemap_name, links_of, read_sitemap
from semcrawl.spiders.judging import TopicJudge, Verdict
from semcrawl.spiders.reading import Reader, discard
from semcrawl.web.hosts import netloc_of
from semcrawl.web.vocabulary import Kind


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A page or RDF document whose links are to be ranked."""

    page: Page
    links: Sequence[Link]
    verdict: Verdict


async def read_for_explanation(
    settings: BaseSettings, body: bytes, url: str, content_type: str, headers: Sequence[str]
) -> ReadDocument:
    """Read a body as a crawl with these settings does.

    A sitemap is a page whose links are its entries. Raises ``UsageError`` for what is neither a
    page nor RDF, and for wrong settings.
    """
    judge = TopicJudge.from_settings(settings)
    reader = Reader.from_settings(settings, url_normalisation(settings), judge.text_chars)
    detection = reader.detect(body, content_type, url)
    try:
        if detection.kind is Kind.RDF:
            reading = await reader.read(body, url, content_type, detection)
            verdict = await judge.rdf(url, reading, counts=True)
            links: Sequence[Link] = reader.rdf_links(reading)
        elif detection.kind is Kind.HTML:
            page = await reader.page(body, url, content_type, headers)
            reading = await reader.read_embedded(body, url, content_type)
            verdict = await judge.page(url, page.text, reading, counts=True)
            links = reader.with_data_links(page.links, reading, url)
        elif (sitemap := read_sitemap([body], expected=is_sitemap_name(url))).form:
            own = netloc_of(url)
            entries = sitemap.entries
            links, _ = links_of(entries, url, lambda each: netloc_of(each) == own)
            return ReadDocument(Page(url, 1), links, Verdict(target=False))
        else:
            raise UsageError(f"{url} is neither a page nor RDF (it is {detection.kind})")
        discard(reading)
    finally:
        reader.close()
        judge.close()
    rdf = detection.kind is Kind.RDF
    return ReadDocument(Page(url, rdf=rdf, relevance=verdict.relevance), links, verdict)
