"""Feed exporters of RDF documents: N-Quads, N-Triples, TriG, Turtle, JSON Lines.

Each writes :class:`~semcrawl.items.RdfDocument` items only, except JSON Lines, in which Scrapy
users expect other items too. Embedded data is left out, as in ``quads.nq``, unless the feed's
``item_export_kwargs`` are ``{"embedded": True}``.
"""

from __future__ import annotations

import json
import logging
from dataclasses import fields
from io import BytesIO
from typing import IO, Any, cast

import pyoxigraph
from scrapy.exporters import BaseItemExporter, JsonLinesItemExporter

from semcrawl.errors import UsageError
from semcrawl.images.imageitems import FetchedImage, ImagePage, RedirectedImage
from semcrawl.items import FetchedFile, FetchRecord, RdfDocument
from semcrawl.rdf.quadlines import iri, is_all_in, whole_lines

logger = logging.getLogger(__name__)

#: items with bodies or pixels, which have their own files
_KEPT_ELSEWHERE = (FetchedFile, FetchedImage, ImagePage, RedirectedImage)


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


class DocumentLinesExporter(JsonLinesItemExporter):
    """Writes one JSON object per document, its statements in ``nquads`` (format ``jsonl``).

    Leaves out records of attempts, unless the feed's ``item_export_kwargs`` are
    ``{"records": True}``, and always kept files and images. Writes other items as Scrapy does.
    """

    def __init__(
        self,
        file: IO[bytes],
        *,
        embedded: bool = False,
        records: bool = False,
        **kwargs: Any,
    ) -> None:
        """Write to ``file``, with or without embedded data and ``FetchRecord`` items."""
        super().__init__(cast("BytesIO", file), **kwargs)
        self._embedded = embedded
        self._records = records

    @staticmethod
    def takes(item: Any, *, embedded: bool = False, records: bool = False, **_: Any) -> bool:
        """Whether an item is not left out by a feed with these ``item_export_kwargs``."""
        if isinstance(item, RdfDocument):
            return embedded or not item.is_embedded
        return records if isinstance(item, FetchRecord) else not isinstance(item, _KEPT_ELSEWHERE)

    def export_item(self, item: Any) -> None:
        """Write an item."""
        if not self.takes(item, embedded=self._embedded, records=self._records):
            return
        if isinstance(item, RdfDocument):
            line = json.dumps(document_object(item), ensure_ascii=False)
            self.file.write(line.encode("utf-8", "replace") + b"\n")
        else:
            super().export_item(item)


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


def document_object(document: RdfDocument) -> dict[str, Any]:
    """Return a document as a JSON object."""
    found = {
        each.name: getattr(document, each.name)
        for each in fields(document)
        if each.name not in ("nquads", "spool", "errors", "rules", "redirects")
    }
    found["rules"] = list(document.rules)
    found["redirects"] = list(document.redirects)
    found["errors"] = [
        {"message": e.message, "line": e.line, "column": e.column} for e in document.errors
    ]
    found["nquads"] = b"".join(document.chunks()).decode("utf-8", "replace")
    return found


def _quads(lines: bytes) -> Any:
    return pyoxigraph.parse(lines, pyoxigraph.RdfFormat.N_QUADS, lenient=True)


def _serialize(
    document: RdfDocument, statements: Any, file: IO[bytes], syntax: pyoxigraph.RdfFormat
) -> None:
    try:
        pyoxigraph.serialize(statements, file, syntax)
    except (SyntaxError, ValueError) as error:
        logger.warning("%s cannot be written as %s: %s", document.url, syntax, error)
