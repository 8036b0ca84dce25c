"""Reads RDF/XML, and makes up for three faults of the parser.

It goes on after an error in a wrong state and invents statements. So a document with an error is
read again node by node, and only the bad nodes are lost. It does not report an early end, which is
checked afterwards, and does not limit entities, which are checked before.
"""

from __future__ import annotations

from contextlib import suppress
from io import BytesIO
from typing import IO, cast
from xml.parsers import expat

import pyoxigraph

from semcrawl.rdf.guards import guard_xml
from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.packed.streams import Readable
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.sniffing import RDF_NAMESPACE

_FORMAT = pyoxigraph.RdfFormat.RDF_XML
_TRIPLES = pyoxigraph.RdfFormat.N_TRIPLES
_DOCTYPE = re.compile(
    rb"\A(?:\s++|<\?.*?\?>|<!--.*?-->)*+(<!DOCTYPE\s[^\[>]*+(?:\[(.*?)\]\s*+)?>)", re.DOTALL
)
_ENTITY = re.compile(rb"""<!ENTITY\s+([\w.:-]+)\s+(?:"([^"]*)"|'([^']*)')\s*>""")
_REFERENCE = re.compile(rb"&([\w.:-]+);")
_TOKEN = re.compile(
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|"
    rb"<(/?)([A-Za-z_][^\s/>]*+)((?:[^>\"'/]++|\"[^\"]*+\"|'[^']*+'|/(?!>))*+)(/?)>",
    re.DOTALL,
)
#: nodes read at once in a document with an error
_BATCH = 256
_BARE_ATTRIBUTE = re.compile(rb"(\s)((?:about|ID|resource|parseType|type|bagID)\s*=\s*[\"'])")


def guard_entities(data: bytes, limit: int) -> bytes:
    """Return ``data`` without external and parameter entities: nothing is ever loaded.

    Raises :class:`LimitReached` when an entity would expand to more than ``limit`` bytes, or all
    references together to more than that and four times the document.
    """
    found = _DOCTYPE.match(data)
    if not found:
        return data
    subset = found[2] or b""
    values: dict[bytes, bytes] = {}
    sizes: dict[bytes, int] = {}
    for match in _ENTITY.finditer(subset):
        value = match[2] if match[2] is not None else match[3]
        if match[1] in values:
            continue
        values[match[1]] = value
        sizes[match[1]] = len(value) + sum(
            sizes.get(name, 0) * value.count(b"&" + name + b";")
            for name in set(_REFERENCE.findall(value))
        )
        if sizes[match[1]] > limit:
            raise LimitReached(f"entity {match[1].decode('utf-8', 'replace')} grows too large")
    body = data[found.end(1) :]
    used = sum(size * body.count(b"&" + name + b";") for name, size in sizes.items())
    if used > max(limit, 4 * len(data)):
        raise LimitReached(f"entities grow to more than {limit} bytes")
    declarations = b"".join(
        b'<!ENTITY %s "%s">' % (name, value.replace(b'"', b"&#34;"))
        for name, value in values.items()
    )
    clean = b"<!DOCTYPE x [" + declarations + b"]>" if declarations else b""
    lost = max(found[1].count(b"\n") - clean.count(b"\n"), 0)
    return data[: found.start(1)] + clean + b"\n" * lost + body


def guarded(data: bytes, options: ReadOptions) -> bytes:
    """Return XML with bounded entities and depth. Raises :class:`LimitReached`."""
    data = guard_entities(data, options.max_entity_bytes)
    guard_xml(data, options.max_depth)
    return data


def qualify_attributes(data: bytes) -> bytes:
    """Return ``data`` with unqualified ``about``, ``ID``, ``resource`` … in RDF's namespace.

    Documents from before 2004 have such attributes (RDF 1.1 XML Syntax, section 6.1.4).
    """
    root_seen = False

    def qualify(match: re.Match[bytes]) -> bytes:
        nonlocal root_seen
        if not match[2] or match[1]:
            return match[0]
        attributes = _BARE_ATTRIBUTE.sub(rb"\1semcrawl-rdf:\2", match[3])
        if not root_seen:
            root_seen = True
            attributes = b' xmlns:semcrawl-rdf="' + RDF_NAMESPACE + b'"' + attributes
        return b"<" + match[2] + attributes + match[4] + b">"

    return _TOKEN.sub(qualify, data) if _BARE_ATTRIBUTE.search(data) else data


def parse(data: bytes, base: str, sink: QuadSink, errors: ErrorLog) -> None:
    """Read RDF/XML, with entities and depth already bounded, into ``sink``."""
    mark = sink.mark()
    if not _parse_whole(data, base, sink):
        sink.rollback(mark)
        qualified = qualify_attributes(data)
        if qualified is data or not _parse_whole(qualified, base, sink):
            sink.rollback(mark)
            parse_nodes(qualified, base, sink, errors)
            return
    if place := find_early_end(data):
        errors.add("the document ends before its root element is closed", *place)


def parse_file(file: Readable, base: str, sink: QuadSink, errors: ErrorLog) -> None:
    """Read a document of any size. Raises :class:`LimitReached` at its first error."""
    source = pyoxigraph.parse(cast(IO[bytes], file), _FORMAT, base_iri=base)
    try:
        pyoxigraph.serialize(source, sink.file, _TRIPLES)
    except SyntaxError as error:
        errors.add_syntax(error)
        raise LimitReached("the rest after the error is not read") from None


def _parse_whole(data: bytes, base: str, sink: QuadSink) -> bool:
    try:
        pyoxigraph.serialize(pyoxigraph.parse(data, _FORMAT, base_iri=base), sink.file, _TRIPLES)
    except SyntaxError:
        return False
    return True


def find_early_end(data: bytes) -> tuple[int, int] | None:
    """Return line and column of the end if the root element is not closed, else None."""
    root = next((m for m in _TOKEN.finditer(data) if m[2] and not m[1]), None)
    if root is None:
        return None
    closed = re.compile(rb"(?:</" + re.escape(root[2]) + rb"\s*>|/>)\s*\Z")
    tail = data[-4096:]
    if closed.search(tail) and b"<!--" not in tail and b"<![CDATA[" not in tail:
        return None
    parser = expat.ParserCreate()
    parser.UseForeignDTD(True)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        return error.lineno, error.offset + 1
    return None


def _split(data: bytes) -> tuple[bytes, bytes, list[tuple[int, int]]]:
    """Return the text before the nodes, the text after them, and the span of each node.

    Works on ill-formed XML: matches tags by name, skips stray end tags.
    """
    stack: list[bytes] = []
    nodes: list[tuple[int, int]] = []
    prolog_end = start = 0
    root = b""
    rdf_root = True
    for match in _TOKEN.finditer(data):
        name = match[2]
        if not name:
            continue
        if not root:
            root = name
            rdf_root = name.rpartition(b":")[2] == b"RDF"
            prolog_end = match.end()
            if not rdf_root:
                return b"", b"", [(match.start(), len(data))]
            continue
        if match[1]:
            if name not in stack:
                if name == root:
                    if stack:
                        nodes.append((start, match.start()))
                    return data[:prolog_end], b"</" + root + b">", nodes
                continue
            while stack.pop() != name:
                pass
            if not stack:
                nodes.append((start, match.end()))
            continue
        if not stack:
            start = match.start()
        if match[4]:
            if not stack:
                nodes.append((start, match.end()))
        else:
            stack.append(name)
    if stack:
        nodes.append((start, len(data)))
    return data[:prolog_end], b"</" + root + b">", nodes


class _TagByTag:
    """Returns one tag or line per read, to know where the parser stopped."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._ends = re.finditer(rb"[>\n]|\Z", data)
        self._end = 0
        self._next = 0
        self.start = 0

    def read(self, size: int = -1) -> bytes:
        if self._next == self._end:
            self.start = self._end
            self._end = next((m.end() for m in self._ends), self._end)
        # more bytes than requested would crash the process
        stop = self._end if size < 0 else min(self._end, self._next + size)
        piece = self._data[self._next : stop]
        self._next = stop
        return piece


def parse_nodes(data: bytes, base: str, sink: QuadSink, errors: ErrorLog) -> None:
    """Read a document with errors into ``sink`` node by node.

    A bad node keeps the statements before its error.
    """
    head, tail, nodes = _split(data)
    found_any = False

    def attempt(first: int, last: int) -> None:
        nonlocal found_any
        errors.check_time()
        text = head + data[nodes[first][0] : nodes[last - 1][1]] + tail
        out = BytesIO()
        try:
            pyoxigraph.serialize(pyoxigraph.parse(text, _FORMAT, base_iri=base), out, _TRIPLES)
        except SyntaxError as error:
            found_any = True
            if last - first > 1:
                middle, before = (first + last) // 2, errors.count
                attempt(first, middle)
                attempt(middle, last)
                if errors.count == before:  # two nodes conflict: the same rdf:ID
                    line = data.count(b"\n", 0, nodes[middle][0]) + 1
                    errors.add(str(error.msg or error), line)
                return
            sink.write(out.getbuffer())
            where = _error_offset(text, base, len(head), nodes[first][0])
            line = data.count(b"\n", 0, where) + 1
            errors.add(str(error.msg or error), line, where - data.rfind(b"\n", 0, where))
            return
        sink.write(out.getbuffer())

    for first in range(0, len(nodes), _BATCH):
        attempt(first, min(first + _BATCH, len(nodes)))
    if not found_any:
        parser = expat.ParserCreate()
        parser.UseForeignDTD(True)
        try:
            parser.Parse(data, True)
            errors.add("error outside of the nodes", 1, 1)
        except expat.ExpatError as error:
            errors.add(f"ill-formed XML: {expat.ErrorString(error.code)}", error.lineno,
                       error.offset + 1)  # fmt: skip


def _error_offset(text: bytes, base: str, head: int, start: int) -> int:
    """Return the offset in the document of the first error in one node's text."""
    source = _TagByTag(text)
    with suppress(SyntaxError):
        pyoxigraph.serialize(
            pyoxigraph.parse(cast(IO[bytes], source), _FORMAT, base_iri=base),
            BytesIO(),
            _TRIPLES,
        )
    return max(source.start - head, 0) + start
