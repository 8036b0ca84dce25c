"""The focused HTML crawler (sources.md T.5)."""

from __future__ import annotations

from semcrawl.links import Page
from semcrawl.spiders.focused import FocusedSpider


class HtmlSpider(FocusedSpider):
    """Fetches pages that lead to RDF, and the RDF that they lead to.

    Links inside RDF documents go to the spider ``rdf``, unless ``follow_rdf=1``.
    """

    name = "html"
    queue = "html"
    other = "rdf"

    def follows(self, page: Page) -> bool:
        """Follow the links of pages, and with ``follow_rdf`` those inside RDF."""
        return self.follow_rdf or not page.rdf
