"""Options of reading and leads, filled from settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from semcrawl.config.extras import install_hint
from semcrawl.config.scope import UrlPattern, url_normalisation
from semcrawl.config.targets import Targets
from semcrawl.errors import UsageError
from semcrawl.links import ExtractionOptions
from semcrawl.rdf import ReadOptions
from semcrawl.rdf.options import STANDARDS
from semcrawl.reading.answer import AnswerOptions, AnswerReader
from semcrawl.reading.pool import ReadingProcesses
from semcrawl.reading.reader import Reader
from semcrawl.settings.reader import fill, part, setting
from semcrawl.sources import SitemapLimits
from semcrawl.sources.endpoints import ENDPOINT_PROPERTIES, endpoint_of_seed
from semcrawl.sources.forms import FormTable
from semcrawl.web.robots import RobotsTags


def _well_known(names: Iterable[str]) -> tuple[str, ...]:
    """Return names below ``/.well-known/`` without slashes; raise ``UsageError`` for wrong ones."""
    found = tuple(stripped for name in names if (stripped := name.strip("/")))
    for name in found:
        if not all(c.isalnum() or c in "-_.~/" for c in name):
            raise UsageError(f"SEMCRAWL_WELL_KNOWN: invalid name below /.well-known/: {name!r}")
    return found


@dataclass(frozen=True, slots=True)
class LeadOptions:
    """Options of catalogues, signposts, negotiation and well-known addresses."""

    catalogues: bool = setting("SEMCRAWL_CATALOGUES")
    #: most pages of one catalogue
    most_pages: int = setting("SEMCRAWL_MAX_CATALOGUE_PAGES")
    #: most bytes of one list that is not RDF
    most_bytes: int = 16 * 2**20
    #: ``Link:`` headers, and linksets
    signposts: bool = setting("SEMCRAWL_SIGNPOSTING")
    #: ``auto`` or ``never``
    negotiation: str = setting("SEMCRAWL_NEGOTIATION")
    #: pages of one shape that are requested again before one of them gives what was asked for
    tries: int = 2
    #: names below ``/.well-known/``
    well_known: tuple[str, ...] = setting("SEMCRAWL_WELL_KNOWN", _well_known)
    #: what search forms are filled with
    forms: FormTable = part(FormTable)

    @property
    def asks_as_rdf(self) -> bool:
        """Whether pages are requested again as RDF."""
        return self.negotiation != "never" and self.tries > 0

    def reads(self, form: str) -> bool:
        """Whether lists of a form are read; ``form`` comes from ``form_of``, empty for no list."""
        wanted = self.signposts if form.startswith("linkset") else self.catalogues
        return bool(form) and wanted


@dataclass(frozen=True, slots=True)
class EndpointOptions:
    """Options of reading endpoints."""

    #: endpoints to read: ``never``, ``seeds`` or ``found``
    allowed: str = setting("SEMCRAWL_ENDPOINTS")
    #: triples of a page; smaller pages are requested if it gives fewer or takes too long
    page: int = setting("SEMCRAWL_ENDPOINT_PAGE")
    #: most triples of an endpoint, by its own counts (0: any number)
    most: int = setting("SEMCRAWL_ENDPOINT_TRIPLES")
    #: seconds to wait for the answer to a query
    timeout: float = 60.0
    #: seconds for all queries to an endpoint in one run (0: no limit)
    seconds: float = 12 * 3600.0
    #: patterns of names of graphs that are left out: the system graphs of servers
    skipped: tuple[str, ...] = (
        "http://www.openlinksw.com/schemas/virtrdf#*",
        "http://localuriqaserver/*",
        "http://www.w3.org/ns/ldp#",
        "urn:virtuoso:*",
    )

    def check(self, seeds: Iterable[str]) -> None:
        """Raise ``UsageError`` if seeds name an endpoint but none may be read."""
        named = next(filter(None, map(endpoint_of_seed, seeds)), "")
        if named and self.allowed == "never":
            raise UsageError(
                f"SEMCRAWL_ENDPOINTS is never: the SPARQL endpoint {named} is not read"
            )


def _patterns(texts: Iterable[str]) -> tuple[UrlPattern, ...]:
    """Return hosts and patterns of addresses; raise ``UsageError`` for wrong ones."""
    bare = (text if any(sign in text for sign in ":/") else f"host:{text}" for text in texts)
    found = tuple(map(UrlPattern.parse, bare))
    for pattern in found:
        if pattern.is_type or pattern.fault:
            why = pattern.fault or "it is no pattern of addresses"
            raise UsageError(f"SEMCRAWL_BROWSER_HOSTS: {pattern.text!r}: {why}")
    return found


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    """Which pages are read after their scripts have run."""

    #: ``never``, ``hosts`` or ``auto``
    use: str = setting("SEMCRAWL_BROWSER")
    hosts: tuple[UrlPattern, ...] = setting("SEMCRAWL_BROWSER_HOSTS", _patterns)
    #: seconds for one page
    seconds: float = setting("SEMCRAWL_BROWSER_TIMEOUT")

    def check(self) -> None:
        """Raise ``UsageError`` if there are no pages or no browser for it."""
        if self.use == "hosts" and not self.hosts:
            raise UsageError("SEMCRAWL_BROWSER is hosts: SEMCRAWL_BROWSER_HOSTS must name some")
        if self.use != "never" and find_spec("playwright") is None:
            raise UsageError(f"SEMCRAWL_BROWSER is {self.use}: {install_hint('browser')}")


@dataclass(frozen=True, slots=True)
class SitemapRules:
    """Whether sitemaps are used, and how much of them is read."""

    #: ``auto`` (besides the links of pages), ``never`` or ``only`` (instead of them)
    use: str = setting("SEMCRAWL_SITEMAPS")
    limits: SitemapLimits = field(default_factory=SitemapLimits)
    #: most sitemaps of a host
    most: int = 1000


@dataclass(frozen=True, slots=True)
class ReaderOptions:
    """Where documents are read, and what is taken from them."""

    targets: Targets = setting("SEMCRAWL_TARGETS", Targets.parse)
    #: most processes per spider, and bytes of memory of each
    processes: int = setting("SEMCRAWL_READ_PROCESSES")
    memory: int = setting("SEMCRAWL_READ_MEMORY")
    least_rate: float = setting("SEMCRAWL_LEAST_READ_RATE")
    robots_tags: tuple[str, ...] = setting("SEMCRAWL_ROBOTS_TAGS")


def answer_reader(
    settings: Mapping[str, Any], text: int = 0, spool_dir: Path | None = None
) -> AnswerReader:
    """Make the reader of answers; raise ``UsageError`` for wrong settings.

    ``text``: characters to read of a page's text. Quads of large documents go to ``spool_dir``.
    """
    return AnswerReader(document_reader(settings, text, spool_dir), answer_options(settings))


def answer_options(settings: Mapping[str, Any]) -> AnswerOptions:
    """Read which ways to data are read; raise ``UsageError`` for wrong settings."""
    leads, sitemaps = fill(LeadOptions, settings), fill(SitemapRules, settings)
    return AnswerOptions(
        catalogues=leads.catalogues,
        signposts=leads.signposts,
        list_bytes=leads.most_bytes,
        forms=leads.forms,
        sitemaps=sitemaps.use != "never",
        sitemap_limits=sitemaps.limits,
        robots=robots_tags(settings),
    )


def robots_tags(settings: Mapping[str, Any]) -> RobotsTags:
    """Read which directives to robots are obeyed; raise ``UsageError`` for unknown ones."""
    agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT") or ""
    return RobotsTags.parse(fill(ReaderOptions, settings).robots_tags, str(agent))


def document_reader(
    settings: Mapping[str, Any], text: int = 0, spool_dir: Path | None = None
) -> Reader:
    """Make the reader of pages and RDF, with its processes, as :func:`answer_reader` does."""
    wanted, reading = fill(ReaderOptions, settings), read_options(settings, spool_dir)
    processes = None
    if wanted.processes > 0:
        processes = ReadingProcesses(
            wanted.processes, reading.max_seconds, reading.spool_dir, wanted.memory
        )
    return Reader(
        fill(
            ExtractionOptions,
            settings,
            normalisation=url_normalisation(settings),
            shown=wanted.targets.elements,
            text=text,
        ),
        reading,
        processes=processes,
        least_rate=wanted.least_rate,
    )


def read_options(settings: Mapping[str, Any], spool_dir: Path | None = None) -> ReadOptions:
    """Read the settings; raise ``UsageError`` for wrong ones.

    The properties whose values are links include those of endpoints if these are read.
    """
    found = fill(ReadOptions, settings, spool_dir=spool_dir)
    if found.embedded - STANDARDS and find_spec("extruct") is None:
        kinds = ", ".join(sorted(found.embedded - STANDARDS))
        raise UsageError(f"{kinds} in pages: {install_hint('microformats')}")
    if found.link_properties and fill(EndpointOptions, settings).allowed == "found":
        return replace(found, link_properties=found.link_properties | ENDPOINT_PROPERTIES)
    return found
