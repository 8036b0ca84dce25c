"""RDF documents in the formats of Scrapy's feeds.

Appends a part to a feed of a format that has a beginning and an end.
Two spiders or workers of a run write one feed, and ``-o`` extends the feed of an earlier run. Lines
and compressed lines can follow each other; arrays of JSON, XML documents and tables with a header
cannot. Each function appends ``part`` to ``whole``, both seekable and uncompressed, and raises
``StoreError`` if they do not fit together.

Feed exporters of Scrapy's text formats, JSON, JSON Lines, CSV and XML, that carry RDF.
Each writes every item as Scrapy does. An item of ours begins with its class (``item_class``), and
the field ``nquads`` of a document has its statements as N-Quads text, which is written in pieces
if the document is large. Left out are embedded data, as in ``quads.nq``, and what has files of its
own: kept files and images. ``item_export_kwargs`` change that: ``{"embedded": True}`` adds embedded
data, ``{"records": False}`` leaves out records of attempts.

Feed exporters of RDF documents: N-Quads, N-Triples, TriG, Turtle.
Each writes :class:`~semcrawl.items.RdfDocument` items only. Embedded data is left out, as in
``quads.nq``, unless the feed's ``item_export_kwargs`` are ``{"embedded": True}``.
"""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import json
import logging
import lzma
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from io import BytesIO, StringIO
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, Self, cast
from xml.sax.saxutils import escape

import pyoxigraph
from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exporters import (
    BaseItemExporter,
    CsvItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    XmlItemExporter,
)
from scrapy.extensions.postprocessing import PostProcessingManager

from semcrawl.config.extras import install_hint
from semcrawl.config.jobdir import writes_at_once
from semcrawl.errors import StoreError, UsageError
from semcrawl.items import FetchRecord, KeptElsewhere, RdfDocument, TopicPage
from semcrawl.rdf.sink import iri, is_all_in, whole_lines

#: appends the second file to the first
Append = Callable[[IO[bytes], IO[bytes]], None]

_MEGABYTE = 1 << 20
#: bytes at the end or the beginning of a file that hold what closes or opens it
_EDGE = 1 << 16


def append_array(whole: IO[bytes], part: IO[bytes]) -> None:
    """Append the items of one JSON array to another."""
    end, closing = _edge(whole)
    begin = part.read(_EDGE)
    items = begin.lstrip()[1:].lstrip()
    if not closing.endswith(b"]") or not begin.lstrip().startswith(b"["):
        raise StoreError("it is no JSON array in UTF-8")
    if items.startswith(b"]"):
        return
    before = closing[:-1].rstrip()
    whole.seek(end - len(closing) + len(before))
    whole.truncate()
    whole.write(b"\n" if before.endswith(b"[") else b",\n")
    whole.write(items)
    shutil.copyfileobj(part, whole, _MEGABYTE)


def append_elements(whole: IO[bytes], part: IO[bytes]) -> None:
    """Append the content of one XML document's root element to another's."""
    end, closing = _edge(whole)
    begin = part.read(_EDGE)
    at = closing.rfind(b"</")
    start = begin.find(b"<", begin.find(b"?>") + 1)
    opening = b"<" + closing[at + 2 : -1] + b">"
    whole.seek(0)
    if at < 0 or begin[: start + len(opening)] != whole.read(start + len(opening)):
        raise StoreError("it is no XML document with the same root element and encoding")
    whole.seek(end - len(closing) + at)
    whole.truncate()
    whole.write(begin[start + len(opening) :].lstrip(b"\n"))
    shutil.copyfileobj(part, whole, _MEGABYTE)


def append_rows(whole: IO[bytes], part: IO[bytes]) -> None:
    """Append the rows of one CSV file to another with the same header."""
    whole.seek(0)
    if (header := part.readline()) != whole.readline():
        raise StoreError("it has other columns")
    end = whole.seek(0, os.SEEK_END)
    whole.seek(max(0, end - 1))
    if header and not whole.read(1).endswith(b"\n"):
        whole.write(b"\r\n")
    shutil.copyfileobj(part, whole, _MEGABYTE)


def _edge(file: IO[bytes]) -> tuple[int, bytes]:
    """Return the end of a file's text, and some bytes before it, without white space after."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _EDGE))
    read = file.read(_EDGE)
    closing = read.rstrip()
    return end - len(read) + len(closing), closing


def join(append: Append, first: Path, second: Path, options: Mapping[str, Any]) -> None:
    """Append the file ``second`` to ``first``, both compressed as the feed's ``options`` say.

    Raises ``StoreError``; ``first`` is unusable then.
    """
    if first.stat().st_size == 0:
        shutil.copyfile(second, first)
        return
    plugins = options.get("postprocessing")
    if not plugins:
        with first.open("r+b") as whole, second.open("rb") as part:
            append(whole, part)
        return
    plain, added = (path.with_name(path.name + ".plain") for path in (first, second))
    try:
        for packed, unpacked in (first, plain), (second, added):
            with _opened(packed) as source, unpacked.open("wb") as target:
                shutil.copyfileobj(source, target, _MEGABYTE)
        with plain.open("r+b") as whole, added.open("rb") as part:
            append(whole, part)
        with plain.open("rb") as source, first.open("wb") as file:
            target_file: Any = PostProcessingManager(plugins, cast("Any", file), dict(options))
            shutil.copyfileobj(source, target_file, _MEGABYTE)
            target_file.close()
    finally:
        plain.unlink(missing_ok=True)
        added.unlink(missing_ok=True)


def _opened(path: Path) -> IO[bytes]:
    """Open a file, decompressed by what its first bytes say."""
    with path.open("rb") as file:
        begin = file.read(6)
    if begin.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(path))
    if begin.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.open(path))
    if begin.startswith((b"\xfd7zXZ\x00", b"\x5d\x00\x00")):
        return cast("IO[bytes]", lzma.open(path))
    if begin.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            import zstandard
        except ModuleNotFoundError:
            raise StoreError(f"Zstandard needs: {install_hint('compression')}") from None
        return cast("IO[bytes]", zstandard.open(path, "rb"))
    return path.open("rb")


#: our items that text formats hold
_OURS = (RdfDocument, FetchRecord, TopicPage)
#: long texts, which come last
_LAST = ("text", "nquads")
_ITEM_CLASS = "item_class"
#: CSV column of the fields of other items that have no column of their own, as a JSON object
_OTHER = "other"

#: characters that neither XML nor CSV readers accept; in N-Quads an escape can stand for each
_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def _columns() -> list[str]:
    """Return the CSV columns of our items, the same in every file."""
    names = dict.fromkeys(each.name for item in _OURS for each in fields(item))
    short = [name for name in names if name not in (*_LAST, "spool")]
    return [_ITEM_CLASS, *short, *_LAST, _OTHER]


class QuadsText:
    """The statements of a document as N-Quads text."""

    def __init__(self, document: RdfDocument) -> None:
        """Read them later, from memory or from the document's file."""
        self._document = document
        #: whether they are on disk
        self.is_large = document.spool is not None

    def pieces(self) -> Iterator[str]:
        """Yield pieces of whole lines."""
        for lines in whole_lines(self._document.chunks()):
            yield lines.decode("utf-8", "replace")

    def __str__(self) -> str:
        """Return all of it."""
        return "".join(self.pieces())


def plain_fields(item: RdfDocument | FetchRecord | TopicPage) -> dict[str, Any]:
    """Return an item's class and fields as plain data, a document's ``nquads`` as `QuadsText`."""
    found: dict[str, Any] = {_ITEM_CLASS: type(item).__name__}
    for each in fields(item):
        if each.name not in ("spool", *_LAST):
            serializer = each.metadata.get("serializer", _listed)
            found[each.name] = serializer(getattr(item, each.name))
    if isinstance(item, TopicPage):
        found["text"] = item.text
    if isinstance(item, RdfDocument):
        found["nquads"] = QuadsText(item)
    return found


def item_json(item: Any) -> str:
    """Return an item as a JSON object, for scrapy-redis's item pipeline.

    Of kept files and images it has what is known of them, and not their bytes.
    """
    if isinstance(item, KeptElsewhere):
        return json.dumps({_ITEM_CLASS: type(item).__name__} | _without_bytes(item))
    file = BytesIO()
    exporter = DocumentLinesExporter(file, embedded=True, records=True)
    exporter.export_item(item)
    return file.getvalue().decode().strip()


def _without_bytes(item: Any) -> dict[str, Any]:
    """Return the fields of an item that are numbers or texts, or items and lists of such."""
    found: dict[str, Any] = {}
    for name, value in ((each.name, getattr(item, each.name)) for each in fields(item)):
        if is_dataclass(value):
            found[name] = _without_bytes(value)
        elif isinstance(value, tuple):
            found[name] = [_without_bytes(one) if is_dataclass(one) else one for one in value]
        elif isinstance(value, str | int | float | None):
            found[name] = value
    return found


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _escaped(error: UnicodeError, form: str, wide: str) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    escapes = []
    for sign in map(ord, error.object[error.start : error.end]):
        if sign < 0x10000:
            escapes.append(form % sign)
        elif wide:
            escapes.append(wide % sign)
        else:
            high, low = divmod(sign - 0x10000, 0x400)
            escapes += [form % (0xD800 + high), form % (0xDC00 + low)]
    return "".join(escapes), error.end


# JSON text is ASCII outside of strings, and N-Quads outside of literals and IRIs
codecs.register_error("semcrawl.json", lambda error: _escaped(error, "\\u%04x", ""))
codecs.register_error("semcrawl.nquads", lambda error: _escaped(error, "\\u%04X", "\\U%08X"))


def readable(nquads: str) -> str:
    """Escape the characters of N-Quads that readers of XML or CSV refuse."""
    return _UNREADABLE.sub(lambda found: f"\\u{ord(found[0]):04X}", nquads)


class _TextFeed(BaseItemExporter):
    """What the text formats have in common."""

    #: the option ``records`` unless the feed gives it
    _records_by_default = True

    def __init__(
        self,
        file: IO[bytes],
        *,
        embedded: bool = False,
        records: bool | None = None,
        **kwargs: Any,
    ) -> None:
        """Write to ``file``, with or without embedded data and ``FetchRecord`` items."""
        super().__init__(file, **kwargs)  # type: ignore[call-arg, arg-type]
        self._takes: dict[str, Any] = {"embedded": embedded, "records": records}

    @classmethod
    def takes(
        cls, item: Any, *, embedded: bool = False, records: bool | None = None, **_: Any
    ) -> bool:
        """Whether an item is not left out by a feed with these ``item_export_kwargs``."""
        if isinstance(item, RdfDocument):
            return embedded or not item.is_embedded
        if isinstance(item, FetchRecord):
            return cls._records_by_default if records is None else records
        return not isinstance(item, KeptElsewhere)

    def export_item(self, item: Any) -> None:
        """Write an item."""
        if self.takes(item, **self._takes):
            self.write(plain_fields(item) if isinstance(item, _OURS) else item)

    def write(self, item: Any) -> None:
        """Write an item of others, or the plain fields of one of ours."""
        super().export_item(item)  # type: ignore[safe-super]


class _Json(_TextFeed):
    """Encodes items as JSON, large documents in pieces."""

    file: BytesIO
    encoder: Any

    def _write_object(self, item: Any, before: bytes = b"", after: bytes = b"") -> None:
        """Write an item between ``before`` and ``after``, which are left out if it fails."""
        found = dict(self.get_serialized_fields(item))
        marks = {}
        for name, value in found.items():
            if isinstance(value, QuadsText):
                found[name] = str(value)
                if value.is_large:
                    found[name] = mark = token_hex(16)
                    marks[mark] = value
        rest = self.encoder.encode(found)
        self.file.write(before)
        for mark, large in marks.items():
            first, _, rest = rest.partition(mark)
            self.file.write(self._encoded(first))
            for piece in large.pieces():
                self.file.write(self._encoded(self.encoder.encode(piece)[1:-1]))
        self.file.write(self._encoded(rest) + after)

    def _encoded(self, text: str) -> bytes:
        return text.encode(self.encoding or "utf-8", "semcrawl.json")


class JsonExporter(_Json, JsonItemExporter):
    """Writes an array of all items (format ``json``)."""

    append = staticmethod(append_array)

    def write(self, item: Any) -> None:
        """Write an item of others, or the plain fields of one of ours."""
        comma = b"" if self.first_item else b"," + (b"\n" if self.indent is not None else b"")
        self._write_object(item, comma)
        self.first_item = False


class JsonLinesExporter(_Json, JsonLinesItemExporter):
    """Writes an object per item and line (formats ``jsonlines`` and ``jl``)."""

    def write(self, item: Any) -> None:
        """Write an item of others, or the plain fields of one of ours."""
        self._write_object(item, after=b"\n")


class DocumentLinesExporter(JsonLinesExporter):
    """Writes an object per document and line, and other spiders' items (format ``jsonl``).

    Records of attempts are left out unless ``item_export_kwargs`` are ``{"records": True}``.
    """

    _records_by_default = False

    def __init__(self, file: IO[bytes], **kwargs: Any) -> None:
        """Write to ``file``; letters that are not ASCII stay as they are."""
        super().__init__(file, **{"ensure_ascii": False, **kwargs})


class XmlExporter(_TextFeed, XmlItemExporter):
    """Writes an element per item (format ``xml``)."""

    append = staticmethod(append_elements)

    def write(self, item: Any) -> None:
        """Write an item of others, or the plain fields of one of ours, without empty ones."""
        if isinstance(item, dict):
            item = {name: value for name, value in item.items() if value is not None}
        super().write(item)

    def _export_xml_field(self, name: str, serialized_value: Any, depth: int) -> None:
        if isinstance(serialized_value, QuadsText):
            self._beautify_indent(depth=depth)
            self.xg.startElement(name, cast("Any", {}))
            for piece in serialized_value.pieces():
                self.xg.characters(readable(piece))
            self.xg.endElement(name)
            self._beautify_newline()
        elif isinstance(serialized_value, str):
            self._beautify_indent(depth=depth)
            self.xg.startElement(name, cast("Any", {}))
            text = _UNREADABLE.sub("\ufffd", serialized_value)
            # not ``characters``, after which a reader takes carriage returns for line ends
            self.xg.ignorableWhitespace(escape(text, {"\r": "&#13;"}))
            self.xg.endElement(name)
            self._beautify_newline()
        else:
            super()._export_xml_field(name, serialized_value, depth)


class CsvExporter(_TextFeed, CsvItemExporter):
    """Writes a row per item (format ``csv``).

    The columns are those that the feed or ``FEED_EXPORT_FIELDS`` names. Else all fields of our
    items have columns, and one column has the other fields of other items. A spider that is not
    ours, and whose first item is not, has the columns of its first item, as in Scrapy.
    """

    append = staticmethod(append_rows)
    _is_ours = False

    def __init__(self, file: IO[bytes], *, errors: str = "semcrawl.nquads", **kwargs: Any) -> None:
        """Write to ``file``; characters that its encoding lacks become escapes."""
        super().__init__(file, errors=errors, **kwargs)
        self._has_stable_columns = False

    @classmethod
    def from_crawler(cls, crawler: Crawler, file: IO[bytes], **kwargs: Any) -> Self:
        """Make the exporter of a crawler's feed."""
        exporter = cls(file, **kwargs)
        exporter._is_ours = writes_at_once(crawler)
        return exporter

    def start_exporting(self) -> None:
        """Write the header if the columns are known, for a file without items too."""
        super().start_exporting()
        if self._is_ours and self._headers_not_written:
            self._begin({})

    def write(self, item: Any) -> None:
        """Write an item of others, or the plain fields of one of ours."""
        if self._headers_not_written:
            self._begin(item)
        columns = self.fields_to_export or ()
        is_document = isinstance(item, dict) and isinstance(item.get("nquads"), QuadsText)
        if self._autodetected_fields and is_document and "nquads" not in columns:
            raise ValueError(
                "it has the columns of its first item; FEED_EXPORT_FIELDS can name nquads"
            )
        if self._has_stable_columns:
            row = dict(ItemAdapter(item))
            if more := {name: row.pop(name) for name in [*row] if name not in columns}:
                row[_OTHER] = more
            item = {name: _cell(value) for name, value in row.items()}
        found = self.get_serialized_fields(item, default_value="", include_empty=True)
        self._write_row([value for _, value in found])

    def _begin(self, item: Any) -> None:
        """Choose the columns and write the header."""
        if not self.fields_to_export and (self._is_ours or _ITEM_CLASS in item):
            self.fields_to_export = _columns()
            self._has_stable_columns = True
        if self.fields_to_export or item:
            self._headers_not_written = False
            self._write_headers_and_set_fields_to_export(item)

    def _write_row(self, row: list[Any]) -> None:
        large = next((v for v in row if isinstance(v, QuadsText) and v.is_large), None)
        quoting = self.csv_writer.dialect.quoting
        if large is None or quoting == csv.QUOTE_NONE:
            cells = [readable(str(v)) if isinstance(v, QuadsText) else v for v in row]
            self.csv_writer.writerow(list(self._build_row(cells)))
            return
        mark = f"{token_hex(16)}\n"  # the line end makes the writer quote it
        cells = [mark if value is large else value for value in row]
        before, _, after = self._row(list(self._build_row(cells))).partition(mark)
        self.stream.write(before)
        for piece in large.pieces():
            quoted = self._row([readable(piece)])
            self.stream.write(quoted.removesuffix(self.csv_writer.dialect.lineterminator)[1:-1])
        self.stream.write(after)

    def _row(self, cells: Sequence[Any]) -> str:
        """Return the text of a row."""
        text = StringIO(newline="")
        csv.writer(text, **self._kwargs).writerow(cells)
        return text.getvalue()


def _cell(value: Any) -> Any:
    """Return a value for a cell: objects, and lists of other things than texts, as JSON."""
    is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes | QuadsText)
    if not is_list or (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        return value
    return json.dumps(value, ensure_ascii=False, default=str) if value else ""


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

    ``semcrawl.pipelines.feeds.FeedExporter`` uses the format before them instead, N-Quads in
    ``data.nq.gz``. This class is used only if Scrapy's own extension is installed.
    """

    def __init__(self, file: IO[bytes], **kwargs: Any) -> None:
        """Raise ``UsageError``."""
        raise UsageError(
            "compressed feeds need semcrawl.pipelines.feeds.FeedExporter among the EXTENSIONS"
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
