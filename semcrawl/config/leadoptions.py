"""Options of ways to data besides links: catalogues, SPARQL endpoints, sitemaps and others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from semcrawl.errors import UsageError
from semcrawl.settings.reader import part, setting
from semcrawl.sources import SitemapLimits
from semcrawl.sources.endpointsteps import endpoint_of_seed
from semcrawl.sources.forms import FormTable


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
    seconds: float = setting("SEMCRAWL_ENDPOINT_TIME")
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


@dataclass(frozen=True, slots=True)
class SitemapRules:
    """Whether sitemaps are used, and how much of them is read."""

    #: ``auto`` (besides the links of pages), ``never`` or ``only`` (instead of them)
    use: str = setting("SEMCRAWL_SITEMAPS")
    limits: SitemapLimits = field(default_factory=SitemapLimits)
    #: most sitemaps of a host
    most: int = 1000
