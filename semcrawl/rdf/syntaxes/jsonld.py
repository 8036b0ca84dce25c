"""Reads JSON-LD: inlines contexts, repairs broken JSON, splits big documents.

The parser needs some forty times an object's size until the object is closed. Most big documents
are an array, or an object of a context and a ``@graph`` array. Their elements mean the same when
read in batches, and a broken batch costs no other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import numpy as np
import pyoxigraph

from semcrawl.rdf.guards import CLOSING, COMMA, OPENING, guard_json, json_structure
from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import QuadSink
from semcrawl.rdf.syntaxes._contextinlining import (
    ContextInliner,
    clean_bases,
    restore_bases,
    value_length,
)

_FORMAT = pyoxigraph.RdfFormat.JSON_LD
_QUADS = pyoxigraph.RdfFormat.N_QUADS
_TOKEN = re.compile(
    rb'("(?:[^"\\]|\\.)*+")|(/\*.*?\*/|//[^\n\r]*+|<!--|-->|<!\[CDATA\[|\]\]>)|([{}\[\]])|([:,])|(\s+)|'
    rb"(-?\d[\d.eE+-]*|true|false|null)|(.)",
    re.DOTALL,
)
#: pyoxigraph holds a value twice in a buffer of 16 MiB
_FULL_BUFFER = "buffer maximal size"
_TOO_LONG = "JSON-LD with a value that is too long (above 8 to 16 MiB)"
_NO_LOADER = "No LoadDocumentCallback"
_DIRECTION = re.compile(rb'((?<!\\)"@[A-Za-z0-9-]+?)--(?:ltr|rtl)(?= )')
_RAW_CONTROL = re.compile(rb"[\x00-\x1f]")
#: An escape. Group 1 is empty unless it is one of JSON's: \" \\ \/ \b \f \n \r \t \uXXXX
_BAD_ESCAPE = re.compile(rb'\\(\\|["/bfnrt]|u[0-9A-Fa-f]{4})|\\')


def parse_jsonld(
    data: bytes,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    options: ReadOptions,
    contexts: Mapping[str, bytes] | None = None,
    first_line: int = 1,
) -> tuple[str, ...]:
    """Read a JSON-LD document into ``sink``; return the URLs of missing contexts.

    A missing context is an error of the document. Common mistakes (comments, extra commas, raw line
    ends in strings, an early end) are recorded as errors and repaired. Raises
    :class:`LimitReached`.
    """
    guard_json(data, options.max_depth)
    if len(data) > WHOLE and (pieces := _split(data)) is not None:
        needed: dict[str, None] = {}
        for line, piece in pieces:
            missing = _parse(piece, base, sink, errors, options, contexts, first_line + line - 1)
            needed.update(dict.fromkeys(missing))
            errors.check_time()
        return tuple(needed)
    if len(data) > options.max_in_memory:
        raise LimitReached(f"JSON-LD in one piece of more than {options.max_in_memory} bytes")
    return _parse(data, base, sink, errors, options, contexts, first_line)


def _parse(
    data: bytes,
    base: str,
    sink: QuadSink,
    errors: ErrorLog,
    options: ReadOptions,
    contexts: Mapping[str, bytes] | None,
    first_line: int,
) -> tuple[str, ...]:
    data, changed = clean_bases(data)
    inliner = ContextInliner(base, contexts or {}, options.max_context_bytes)
    sink.flush()
    sink.has_graphs = False
    sink.names.all_labelled = False
    source = inliner.inline(data)
    # without rdfDirection the RDF has no base direction (JSON-LD API, section 8.6)
    directed = b"@direction" in source or b"\\u" in source
    if directed or changed:
        sink.rewrite = lambda lines: _finished(lines, directed, changed)
    mark = sink.mark()
    refused: list[str] = []
    try:
        if not _serialize_plain(source, base, sink):
            sink.rollback(mark)
            sink.has_graphs = True
            fault = _serialize(source, base, sink, errors, first_line, refused)
            if fault is not None:
                errors.add_syntax(fault, first_line)
                mended = mend(data)
                if mended is not None:
                    guard_json(mended, options.max_depth)
                    sink.rollback(mark)
                    source = inliner.inline(mended)
                    _serialize(source, base, sink, errors, first_line, refused)
    except MemoryError as error:
        if _FULL_BUFFER not in str(error):
            raise
        sink.rollback(mark)
        errors.add(_TOO_LONG, first_line)
    sink.flush()
    sink.rewrite = None
    if refused:
        faults = [f"the context {url} is not at hand" for url in inliner.needed]
        for text in [*faults, *inliner.faults] or refused:
            errors.add(text, first_line)
        return tuple(inliner.needed)
    return ()


def _finished(lines: bytes, directed: bool, changed: dict[bytes, bytes]) -> bytes:
    if directed and b"--" in lines:
        lines = _DIRECTION.sub(rb"\1", lines)
    return restore_bases(lines, changed)


def _serialize_plain(data: bytes, base: str, sink: QuadSink) -> bool:
    """Write a document as N-Triples; return False when it has errors or named graphs."""
    try:
        source = pyoxigraph.parse(data, _FORMAT, base_iri=base, without_named_graphs=True)
        pyoxigraph.serialize(source, sink.file, pyoxigraph.RdfFormat.N_TRIPLES)
    except SyntaxError:
        return False
    return True


def _serialize(
    data: bytes, base: str, sink: QuadSink, errors: ErrorLog, first_line: int, refused: list[str]
) -> SyntaxError | None:
    """Write the quads of ``data``; return the error if it is not JSON.

    Errors about objects with a missing context go to ``refused``.
    """
    source = pyoxigraph.parse(data, _FORMAT, base_iri=base)
    while True:
        try:
            pyoxigraph.serialize(source, sink.file, _QUADS)
        except SyntaxError as error:
            if error.lineno is not None and str(error.msg).startswith("Parser error"):
                return error
            if str(error.msg).startswith(_NO_LOADER):
                refused.append(str(error.msg))
            else:
                errors.add_syntax(error, first_line)
            errors.check_time()
            continue
        return None


def mend(data: bytes) -> bytes | None:
    """Return ``data`` as valid JSON, or None if it cannot be repaired.

    Containers that an early end leaves open are closed after their last whole value.
    """
    out: list[bytes] = []
    stack: list[bytes] = []
    #: for each open container, the index in ``out`` after its last whole member
    ends: list[int] = []
    for match in _TOKEN.finditer(data):
        string, comment, bracket, punctuation, space, scalar, other = match.groups()
        if comment or space:
            if space:
                out.append(b"\n" * space.count(b"\n") or b" ")
            continue
        if other:
            if other == b";" and not stack:
                continue
            if other == b'"':
                break  # an unterminated string
            continue
        if bracket in (b"}", b"]"):
            if not stack:
                continue
            _drop_comma(out)
            out.append(b"}" if stack.pop() == b"{" else b"]")
            ends.pop()
            if not stack:
                break
            ends[-1] = len(out)
            continue
        if bracket:
            stack.append(bracket)
            out.append(bracket)
            ends.append(len(out))
            continue
        out.append(_clean_string(string) if string else (punctuation or scalar or b""))
        if string or scalar:
            before = _token_before_last(out)
            if stack and (stack[-1] == b"[" or before == b":"):
                ends[-1] = len(out)
    while stack:
        del out[ends.pop() :]
        out.append(b"}" if stack.pop() == b"{" else b"]")
        if ends:
            ends[-1] = len(out)
    text = b"".join(out)
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    return text


def _drop_comma(out: list[bytes]) -> None:
    for index in range(len(out) - 1, -1, -1):
        if out[index].strip():
            if out[index] == b",":
                out[index] = b""
            return


def _token_before_last(out: list[bytes]) -> bytes:
    """Return the token before the last one."""
    for index in range(len(out) - 2, -1, -1):
        if out[index].strip():
            return out[index]
    return b""


def _clean_string(string: bytes) -> bytes:
    string = _BAD_ESCAPE.sub(lambda m: m[0] if m[1] else b"\\\\", string)
    return _RAW_CONTROL.sub(lambda m: b"\\u%04x" % m[0][0], string)


#: bytes up to which a document is never split
WHOLE = 4 << 20
_BATCH = 1 << 20

_HEAD = re.compile(rb'\s*+\{\s*+"@context"\s*+:\s*+')
_GRAPH = re.compile(rb'\s*+,\s*+"@graph"\s*+:\s*+\[')
_ARRAY = re.compile(rb"\s*+\[")
_GRAPH_END = re.compile(rb"\s*+\}\s*+\Z")


def _split(data: bytes) -> Iterator[tuple[int, bytes]] | None:
    """Return batches, each with its first line; None if the document has another form."""
    head, tail = b"[", b"]"
    found = _ARRAY.match(data)
    if found is None:
        start = _HEAD.match(data)
        length = value_length(data, start.end()) if start else 0
        if not start or not length:
            return None
        found = _GRAPH.match(data, start.end() + length)
        if found is None or not _GRAPH_END.match(data, data.rfind(b"]") + 1):
            return None
        context = data[start.end() : start.end() + length]
        head, tail = b'{"@context":' + context.replace(b"\n", b" ") + b',"@graph":[', b"]}"
    return _pieces(data, found.end(), head, tail)


def _pieces(data: bytes, start: int, head: bytes, tail: bytes) -> Iterator[tuple[int, bytes]]:
    line = data.count(b"\n", 0, start) + 1
    end, closed = len(data), False
    depth = 0
    for positions, kinds in json_structure(data, start):
        depths = depth + np.cumsum((kinds == OPENING).astype(int) - (kinds == CLOSING))
        below = np.flatnonzero(depths < 0)
        if len(below):
            end, closed = int(positions[below[0]]), True
        cuts = positions[(kinds == COMMA) & (depths == 0)]
        while True:
            later = int(np.searchsorted(cuts, start + _BATCH))
            if later == len(cuts) or (cut := int(cuts[later])) > end:
                break
            yield line, head + data[start:cut] + tail
            line += data.count(b"\n", start, cut + 1)
            start = cut + 1
        if closed:
            break
        depth = int(depths[-1]) if len(depths) else depth
    # an unterminated array stays so
    yield line, head + data[start:end] + (tail if closed else b"")
