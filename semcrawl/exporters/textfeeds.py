"""Feed exporters of Scrapy's text formats, JSON, JSON Lines, CSV and XML, that carry RDF.

Each writes every item as Scrapy does. An item of ours begins with its class (``item_class``), and
the field ``nquads`` of a document has its statements as N-Quads text, which is written in pieces
if the document is large. Left out are embedded data, as in ``quads.nq``, and what has files of its
own: kept files and images. ``item_export_kwargs`` change that: ``{"embedded": True}`` adds embedded
data, ``{"records": False}`` leaves out records of attempts.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from io import BytesIO, StringIO
from secrets import token_hex
from typing import IO, Any, Self, cast
from xml.sax.saxutils import escape

from itemadapter import ItemAdapter
from scrapy.crawler import Crawler
from scrapy.exporters import (
    BaseItemExporter,
    CsvItemExporter,
    JsonItemExporter,
    JsonLinesItemExporter,
    XmlItemExporter,
)

from semcrawl.config.jobdir import writes_at_once
from semcrawl.exporters.joining import append_array, append_elements, append_rows
from semcrawl.items import FetchRecord, KeptElsewhere, RdfDocument, TopicPage
from semcrawl.rdf.quadlines import whole_lines

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
