"""Feed exporters of RDF documents: N-Quads, N-Triples, TriG, Turtle.

Each writes :class:`~semcrawl.items.RdfDocument` items only. Embedded data is left out, as in
``quads.nq``, unless the feed's ``item_export_kwargs`` are ``{"embedded": True}``.
"""

from __future__ import annotations

import logging
from typing import IO, Any

import pyoxigraph
from scrapy.exporters import BaseItemExporter

from semcrawl.errors import UsageError
from semcrawl.exporters.textfeeds import DocumentLinesExporter as DocumentLinesExporter
from semcrawl.items import RdfDocument
from semcrawl.rdf.quadlines import iri, is_all_in, whole_lines

logger = logging.getLogger(__name__)


class NQuadsExporter(BaseItemExporter):
    """Writes the documents' lines unchanged (format ``nq``)."""

    def __init__(self, file: IO[bytes], *, embedded: bool = False, **kwargs: Any) -> None:
        """Write to ``file``, with or without the data embedded in pages."""
        super().__init__(dont_fail=True, **kwargs)
        self.file = file
        self._embedded = embedded

    @staticmethod
    def takes(item: Any, *, embedded: bool = False, **_: Any) -> bool:
        """Whether an item is not left out by a feed with these ``item_export_kwargs``."""
        return isinstance(item, RdfDocument) and (embedded or not item.is_embedded)

    def export_item(self, item: Any) -> None:
        """Write a document."""
        if self.takes(item, embedded=self._embedded):
            self.write(item)

    def write(self, document: RdfDocument) -> None:
        """Write the document's statements."""
        for lines in whole_lines(document.chunks()):
            self.file.write(lines)


class NTriplesExporter(NQuadsExporter):
    """Writes the documents' statements without graph names (format ``nt``)."""

    def write(self, document: RdfDocument) -> None:
        """Write the document's statements."""
        graph = iri(document.url)
        ending = f" {graph} .\n".encode("utf-8", "replace")
        for lines in whole_lines(document.chunks()):
            if is_all_in(lines, graph):
                self.file.write(lines.replace(ending, b" .\n"))
            else:
                triples = (quad.triple for quad in _quads(lines))
                pyoxigraph.serialize(triples, self.file, pyoxigraph.RdfFormat.N_TRIPLES)


class TrigExporter(NQuadsExporter):
    """Writes a block per graph, grouped by subject (format ``trig``)."""

    def write(self, document: RdfDocument) -> None:
        """Write the document's statements."""
        for lines in whole_lines(document.chunks()):
            _serialize(document, _quads(lines), self.file, pyoxigraph.RdfFormat.TRIG)


class TurtleExporter(NQuadsExporter):
    """Writes statements without graph names, grouped by subject (format ``ttl``)."""

    def write(self, document: RdfDocument) -> None:
        """Write the document's statements."""
        for lines in whole_lines(document.chunks()):
            triples = (quad.triple for quad in _quads(lines))
            _serialize(document, triples, self.file, pyoxigraph.RdfFormat.TURTLE)


class CompressedExporter(BaseItemExporter):
    """Placeholder for the extensions ``gz`` and ``zst``, which name no format.

    ``semcrawl.exporters.feeds.FeedExporter`` uses the format before them instead, N-Quads in
    ``data.nq.gz``. This class is used only if Scrapy's own extension is installed.
    """

    def __init__(self, file: IO[bytes], **kwargs: Any) -> None:
        """Raise ``UsageError``."""
        raise UsageError(
            "compressed feeds need semcrawl.exporters.feeds.FeedExporter among the EXTENSIONS"
            " and a name such as data.nq.gz"
        )


def _quads(lines: bytes) -> Any:
    return pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS, lenient=True)


def _serialize(
    document: RdfDocument, statements: Any, file: IO[bytes], syntax: pyoxigraph.RdfFormat
) -> None:
    try:
        pyoxigraph.serialize(statements, file, syntax)
    except (SyntaxError, ValueError) as error:
        logger.warning("%s cannot be written as %s: %s", document.url, syntax, error)
