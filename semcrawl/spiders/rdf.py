"""The RDF crawler (sources.md T.6)."""

from __future__ import annotations

from semcrawl.links import Page
from semcrawl.spiders.focused import FocusedSpider


class RdfSpider(FocusedSpider):
    """Fetches RDF documents only, and follows the links inside them.

    The links of an HTML page that it meets go to the spider ``html``.
    """

    name = "rdf"
    queue = "rdf"
    other = "html"

    def follows(self, page: Page) -> bool:
        """Follow links inside RDF only."""
        return page.rdf
