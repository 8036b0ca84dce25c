"""Reads RDF/XML in pieces of whole nodes: with pyoxigraph where it is right, else with our reader.

Both ways give the same statements. The memory is bounded by the size of a piece.

Recognises RDF/XML that pyoxigraph reads right, and makes more of it so.
pyoxigraph is five times as fast as the true reader. But it splits texts at comments and CDATA
sections, does not normalise attributes, and says nothing of attributes where they have no meaning.
numpy finds the tags and attributes of many nodes at once. Wherever a shape leaves a doubt, the
true reader takes over, and so it does after any error.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from xml.sax.saxutils import quoteattr

import numpy as np
import numpy.typing as npt
import pyoxigraph

from semcrawl.rdf.limits import ErrorLog
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.sink import HeldLines, QuadSink, TooMuch
from semcrawl.rdf.streams import Readable
from semcrawl.rdf.syntaxes._rdfxmlreader import ITS, RdfXmlReader
from semcrawl.rdf.terms import RDF

_Places = npt.NDArray[np.intp]
_Flags = npt.NDArray[np.bool_]

_OPAQUE = re.compile(rb"<!--.*?-->|<!\[CDATA\[(.*?)\]\]>|<\?.*?\?>", re.DOTALL)
_TAG = re.compile(rb"<(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')*+>")
_LESS, _SLASH, _QUOTE, _APOSTROPHE, _EQUALS, _AMPERSAND = b"</\"'=&"
_TAB, _LINE_END, _SPACE = b"\t\n "
_NAMESPACE_DOUBTS = re.compile(
    rb"xmlns:rdf\b|xmlns[^\"<>]*+\"(?:[^\"<>]*+&|[^\"]*+/22-rdf-syntax-ns#\"|[^\"]*+/2005/11/its\")"
)


@dataclass(frozen=True, slots=True)
class Tags:
    """The tags of a text, in order."""

    octets: npt.NDArray[np.uint8]
    #: positions of ``<`` and ``>``
    starts: _Places
    ends: _Places
    is_end: _Flags
    is_empty: _Flags
    #: number of open elements after each tag
    depths: _Places

    def first(self, count: int) -> Tags:
        """Return the first ``count`` tags, and the text up to them."""
        end = int(self.ends[count - 1]) + 1
        return Tags(
            self.octets[:end], self.starts[:count], self.ends[:count], self.is_end[:count],
            self.is_empty[:count], self.depths[:count],
        )  # fmt: skip


def _tags(text: bytes) -> Tags | None:
    """Find the tags of a text without comments and the like; None if a ``<`` is no tag's."""
    octets = np.frombuffer(text, np.uint8)
    marks = np.flatnonzero((octets & np.uint8(0xFD)) == _LESS)  # < and >
    less = np.flatnonzero(octets[marks] == _LESS)
    if not len(less):
        return None
    starts = marks[less]
    counts = np.diff(less, append=len(marks))
    if counts[-1] == 1:  # the last tag is not complete
        starts, less, counts = starts[:-1], less[:-1], counts[:-1]
    if not len(less) or (counts == 1).any():
        return None
    ends = marks[less + 1]
    for index in np.flatnonzero(counts > 2):  # one > at least is text, or in a value
        tag = _TAG.match(text, int(starts[index]))
        if tag is None:
            return None
        ends[index] = tag.end() - 1
    following = octets[starts + 1]
    folded = following | np.uint8(0x20)
    is_end = following == _SLASH
    named = (folded - ord("a") < 26) | (following >= 0x80) | (following == ord("_"))
    if not (named | is_end).all():
        return None
    is_empty = (octets[ends - 1] == _SLASH) & ~is_end
    steps = np.ones(len(starts), np.intp)
    steps[is_end] = -1
    steps[is_empty] = 0
    return Tags(octets, starts, ends, is_end, is_empty, steps.cumsum())


def find_nodes(text: bytes) -> tuple[int, Tags | None]:
    """Return where the last whole node of a piece of ``rdf:RDF`` ends, and the tags up to there.

    0 if no node is whole; no tags if there are comments and the like.
    """
    tags = _tags(text)
    is_bare = tags is not None
    if tags is None and (b"<!" in text or b"<?" in text):
        text = _OPAQUE.sub(lambda match: b" " * len(match[0]), text)
        open_ones = [at for at in (text.find(b"<!"), text.find(b"<?")) if at >= 0]
        tags = _tags(text[: min(open_ones)] if open_ones else text)
    if tags is None:
        return 0, None
    depths = tags.depths
    over = np.flatnonzero(depths < 0)
    whole = np.flatnonzero(depths[: over[0] if len(over) else None] == 0)
    if not len(whole):
        return 0, None
    count = int(whole[-1]) + 1
    return int(tags.ends[count - 1]) + 1, tags.first(count) if is_bare else None


def plain(nodes: bytes, tags: Tags | None, deepest: int) -> bytes | None:
    """Return whole nodes of ``rdf:RDF`` as the parser reads them right; None in any doubt.

    ``tags`` are those of ``nodes`` if nothing hides any. The prefix ``rdf`` must be that of RDF,
    and the only one. Elements may be nested up to ``deepest`` levels.
    """
    if tags is None:
        nodes = _OPAQUE.sub(_as_text, nodes)
        tags = _tags(nodes)
    if tags is None or tags.depths[-1] or tags.depths.min() < 0 or tags.depths.max() > deepest:
        return None
    if b"xmlns" in nodes and _NAMESPACE_DOUBTS.search(nodes):
        return None
    return _checked(nodes, tags)


def _as_text(match: re.Match[bytes]) -> bytes:
    """Return what a comment, an instruction or a CDATA section is as text."""
    inner = match[1] or b""
    return inner.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


def _checked(text: bytes, tags: Tags) -> bytes | None:
    """Return ``text`` with normalised attributes, or None in any doubt."""
    octets = tags.octets
    quotes, holders = _inside_tags(np.flatnonzero(octets == _QUOTE), tags)
    in_tag = np.bincount(holders, minlength=len(tags.starts))
    if (in_tag & 1).any():
        return None
    opening, closing, holders = quotes[::2], quotes[1::2], holders[::2]
    if not (octets[opening - 1] == _EQUALS).all():
        return None
    if b"'" in text or b"&" in text:
        strange = (octets == _APOSTROPHE) | (octets == _AMPERSAND)
        places, _ = _inside_tags(np.flatnonzero(strange), tags)
        if not _in_values(places, quotes).all():
            return None
    controls = np.flatnonzero(octets < _SPACE)
    kinds = octets[controls]
    if not ((kinds == _TAB) | (kinds == _LINE_END)).all():
        return None
    if not _attributes_fit(text, tags, opening, closing, holders, in_tag):
        return None
    places, _ = _inside_tags(controls, tags)
    places = places[_in_values(places, quotes)]
    if len(places):
        changed = octets.copy()
        changed[places] = _SPACE
        return changed.tobytes()
    return text


def _inside_tags(places: _Places, tags: Tags) -> tuple[_Places, _Places]:
    """Return which places are in tags, and the indices of these tags."""
    holders = np.searchsorted(tags.starts, places) - 1
    inside = (holders >= 0) & (places < tags.ends[holders])
    return places[inside], holders[inside]


def _in_values(places: _Places, quotes: _Places) -> _Flags:
    """Return which places inside of tags are inside of quotes."""
    inside: _Flags = (np.searchsorted(quotes, places) & 1).astype(np.bool_)
    return inside


def _code(name: bytes) -> np.uint64:
    return np.uint64(int.from_bytes(name, "little"))


_ABOUT, _RESOURCE, _DATATYPE, _PARSE_TYPE, _TYPE, _LANGUAGE = (
    _code(name)
    for name in (b"df:about", b"resource", b"datatype", b"arseType", b"rdf:type", b"xml:lang")
)
#: attributes that the parser reads otherwise, or not at all
_DOUBTFUL = tuple(_code(name) for name in (b":version", b"notation", b"onNodeID", b"df:bagID"))
_OF_LANGUAGE = _code(b"ngString")
_OF_RESOURCE, _OF_COLLECTION = _code(b"Resource"), _code(b"Collecti")


def _attributes_fit(
    text: bytes,
    tags: Tags,
    opening: _Places,
    closing: _Places,
    holders: _Places,
    in_tag: _Places,
) -> bool:
    """Whether attributes stand where the parser gives them their meaning."""
    windows = np.ndarray((len(text) - 7,), "<u8", text, strides=(1,))
    # a name that matters, after the first tag's own, begins at the fourth byte
    names = windows[np.maximum(opening - 9, 0)]
    if any((names == name).any() for name in _DOUBTFUL):
        return False
    parsed = np.flatnonzero(names == _PARSE_TYPE)
    types, lengths = windows[opening[parsed] + 1], closing[parsed] - opening[parsed]
    resource = (types == _OF_RESOURCE) & (lengths == 9)
    collection = (types == _OF_COLLECTION) & (lengths == 11)
    if not (resource | collection).all() or (in_tag[holders[parsed]] != 2).any():
        return False
    is_node = _node_tags(tags, holders[parsed[resource]])
    of_property = (names == _RESOURCE) | (names == _DATATYPE) | (names == _PARSE_TYPE)
    if is_node[holders[of_property]].any():
        return False
    if not is_node[holders[(names == _ABOUT) | (names == _TYPE)]].all():
        return False
    if (windows[closing[names == _DATATYPE] - 8] == _OF_LANGUAGE).any():
        return False
    typed = holders[names == _DATATYPE]
    with_language = np.bincount(holders[names == _LANGUAGE], minlength=len(in_tag))
    if (in_tag[typed] - 2 * with_language[typed] != 2).any():
        return False
    # the last tag is an end tag, or empty
    return bool((tags.is_empty[typed] | np.append(tags.is_end, True)[typed + 1]).all())


def _node_tags(tags: Tags, resources: _Places) -> _Flags:
    """Return which start tags begin nodes; ``resources`` are those with ``parseType="Resource"``.

    Nodes and properties alternate from level to level, but inside of ``resources`` come properties.
    """
    levels = tags.depths - (~tags.is_end & ~tags.is_empty)
    resources = resources[~tags.is_empty[resources]]
    if len(resources):
        open_tags = np.flatnonzero(~tags.is_empty)
        # among the tags of a level, an end tag follows its start tag
        order = open_tags[np.argsort(levels[open_tags].astype(np.int16), kind="stable")]
        ranks = np.empty(len(levels), np.intp)
        ranks[order] = np.arange(len(order))
        shifts = np.zeros(len(levels) + 1, np.intp)
        np.add.at(shifts, resources + 1, 1)
        np.add.at(shifts, order[ranks[resources] + 1], -1)
        levels = levels + shifts.cumsum()[:-1]
    is_node: _Flags = (levels & 1) == 0
    return is_node


#: bytes of a document that our reader reads sooner than it takes to look at it
_SMALL = 1 << 12
#: bytes of nodes that are read at once, and of the longest node that is held
_PIECE = 1 << 20
_LONGEST_NODE = 1 << 24
#: times the size of their text that statements are held at once
_MOST_GROWTH = 16
_ROOT = re.compile(rb"<[^<>\"'/]++(?:\"[^\"<]*+\"[^<>\"'/]*+|'[^'<]*+'[^<>\"'/]*+)*+>")
_IDENTIFIER = re.compile(rb"rdf:ID\s*+=\s*+\"([^\"]*+)\"")
#: what an entity must not contain to mean the same to every parser
_NOT_SIMPLE = re.compile(r"[<>&\"'%\x00-\x20]")


def parse(data: bytes, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions) -> None:
    """Read a document in UTF-8. Raises :class:`LimitReached`."""
    parse_file(BytesIO(data), base, sink, errors, options)


def parse_file(
    file: Readable, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions
) -> None:
    """Read a document of any size, in UTF-8. Raises :class:`LimitReached`."""
    document = _Document(file, base, sink, errors, options)
    try:
        document.read()
    finally:
        document.reader.flush()


class _Document:
    """One document, read from its start to its end."""

    def __init__(
        self, file: Readable, base: str, sink: QuadSink, errors: ErrorLog, options: ReadOptions
    ) -> None:
        self._file = file
        self._sink = sink
        self._errors = errors
        self._deepest = options.max_depth - 1
        self.reader = RdfXmlReader(base, sink, errors, options)
        self._base = base
        #: text that is not yet read, and its offset and line, from 0
        self._text = b""
        self._offset = self._line = 0
        self._is_whole = False
        self._head: bytes | None = None

    def read(self) -> None:
        """Read the document."""
        self._fill(_PIECE)
        if len(self._text) > _SMALL and self._begin():
            while self._next_nodes():
                pass
        events = self.reader.events
        while True:
            text, self._text = self._text, b""
            events.feed(text, final=self._is_whole)
            if self._is_whole:
                return
            self._fill(_PIECE)

    def _fill(self, size: int) -> None:
        """Have ``size`` bytes of text, or all that is left."""
        pieces = [self._text]
        missing = size - len(self._text)
        while missing > 0 and not self._is_whole:
            data = self._file.read(missing)
            self._is_whole = not data
            pieces.append(data)
            missing -= len(data)
        text = b"".join(pieces) if len(pieces) > 1 else self._text
        if b"\r" in text:  # XML 1.0, section 2.11
            if text.endswith(b"\r") and not self._is_whole:
                text += self._file.read(1)
            text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        self._text = text

    def _advance(self, size: int) -> bytes:
        """Return the next ``size`` bytes of the text, which is shorter then."""
        piece, self._text = self._text[:size], self._text[size:]
        self._offset += size
        self._line += piece.count(b"\n")
        return piece

    def _begin(self) -> bool:
        """Read the start tag of ``rdf:RDF``; return False if the document has another form."""
        events = self.reader.events
        at = events.find_root(self._text)
        root = None if at is None else _ROOT.match(self._text, at)
        if at is None or root is None:
            self._text = b""
            return False
        self._advance(at)
        offset, line = self._offset, self._line
        events.jump(self._advance(len(root[0])), offset, line)
        if not events.is_between or self.reader.root_scope is None:
            return False
        self._head = self._plain_head()
        return True

    def _plain_head(self) -> bytes | None:
        """Return what nodes need before them for pyoxigraph; None if it would read them wrong."""
        scope = self.reader.root_scope
        declared = self.reader.events.document_type
        if scope is None or declared.has_defaults:
            return None
        namespaces, base, language, version = scope
        if base is None or language is None or version != "1.1":
            return None
        self._base = base
        values = [iri or "" for iri in namespaces.values()]
        if namespaces.get("rdf") != RDF or values.count(RDF) > 1 or ITS in values:
            return None
        entities = [e for e in declared.entities.items() if not _NOT_SIMPLE.search(e[1])]
        if len(entities) < len(declared.entities):
            return None
        head = [f'<!ENTITY {name} "{value}">' for name, value in entities]
        head = ["<!DOCTYPE x [", *head, "]>"] if head else []
        head.append("<rdf:RDF")
        for prefix, iri in namespaces.items():
            if prefix != "xml" and iri is not None:
                name = f"xmlns:{prefix}" if prefix else "xmlns"
                head.append(f" {name}={quoteattr(iri)}")
        if language:
            head.append(f" xml:lang={quoteattr(language)}")
        return "".join([*head, ">"]).encode()

    def _next_nodes(self) -> bool:
        """Read the next whole nodes; return False if there are none in sight."""
        self._errors.check_time()
        size = _PIECE
        self._fill(size)
        while not (found := find_nodes(self._text))[0]:
            if self._is_whole or size >= _LONGEST_NODE:
                self.reader.events.jump(b"", self._offset, self._line)
                return False
            size *= 2
            self._fill(size)
        events = self.reader.events
        offset, line = self._offset, self._line
        end, tags = found
        nodes = self._advance(end)
        events.count_entities(nodes)
        if self._read_plain(nodes, tags):
            return True
        self.reader.flush()
        events.jump(nodes, offset, line)
        return events.is_between

    def _read_plain(self, nodes: bytes, tags: Tags | None) -> bool:
        """Read nodes with pyoxigraph; return False, with nothing written, if that is not sure."""
        text = None if self._head is None else plain(nodes, tags, self._deepest)
        if text is None or self._head is None:
            return False
        identifiers = set()
        if b"rdf:ID" in text:
            found = _IDENTIFIER.findall(text)
            identifiers = {(self._base, name.decode("utf-8", "replace")) for name in found}
            known = self.reader.identifiers
            if b"xml:base" in text or not identifiers.isdisjoint(known):
                return False
        out = HeldLines(_MOST_GROWTH * len(nodes) + _PIECE)
        try:
            source = pyoxigraph.parse(
                b"".join([self._head, text, b"</rdf:RDF>"]),
                pyoxigraph.RdfFormat.RDF_XML,
                base_iri=self._base,
            )
            pyoxigraph.serialize(source, out.file, pyoxigraph.RdfFormat.N_TRIPLES)
        except (SyntaxError, ValueError, TooMuch):  # ValueError: no base
            return False
        self.reader.identifiers |= identifiers
        for lines in out.pieces:
            self._sink.write(lines)
        return True
