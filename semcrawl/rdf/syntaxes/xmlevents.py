"""Reads XML as events, and goes on after a spot that is not well-formed.

expat parses. Where it stops, the spot is mended if only one reading is possible (a bare ``&``, an
entity of HTML, a missing space between attributes …). Otherwise the handler is told that what the
spot touches is not certain. A new parser, inside the same open elements, goes on behind the spot.
Nothing external is ever loaded.

Writes the canonical text of an XML literal.
RDF 1.1 XML Syntax, section 7.2.17, asks for Exclusive XML Canonicalization 1.0 with comments:
a namespace is declared where an element or an attribute first uses it.
"""

from __future__ import annotations

from html.entities import html5
from typing import NamedTuple, Protocol
from xml.parsers import expat

from semcrawl.rdf.limits import ErrorLog, LimitReached
from semcrawl.rdf.options import ReadOptions
from semcrawl.rdf.patterns import re
from semcrawl.rdf.terms import Scoped

#: most attributes of a tag; hardly any has a hundred
MOST_ATTRIBUTES = 1000
#: bytes after a spot that are there before it is judged, so that no piece's end decides
_LOOKAHEAD = 1 << 16
#: bytes of the longest token, a tag or a comment
LONGEST_TOKEN = 16 * 2**20
_PIECE, _SLICE = 1 << 20, 1 << 12
#: most recoveries at one spot
_MOST_TRIES = 64
_JUNK = expat.errors.codes[expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT]
_AMPLIFIED = expat.errors.codes[
    "limit on input amplification factor (from DTD and entities) breached"
]

_SPACE = b" \t\n\r"
_NAME = rb"[A-Za-z_:\x80-\xff][^\s/>=<\"'&]*+"
_TAG_NAME = re.compile(rb"<(" + _NAME + rb")")
#: a whole token of markup
_TOKEN = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|"
    rb"</?" + _NAME + rb"(?:\s++[^\s=<>\"'/]++\s*+=\s*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+\s*+/?>",
    re.DOTALL,
)
#: the same, well-formed or not; groups: end tag, name, empty
_ANY_TAG = re.compile(
    rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|"
    rb"<(/?)(" + _NAME + rb")(?:[^<>\"'/]++|\"[^\"]*+\"|'[^']*+'|/(?!>))*+(/?)>",
    re.DOTALL,
)
#: what begins markup; another ``<`` is text
_MARKUP = re.compile(rb"<[A-Za-z_:\x80-\xff/!?]")
#: a reference without an end, or a ``<`` that begins no markup
_UNFINISHED = re.compile(rb"<|&[^;]*+\Z")
_OPAQUE = ((b"<!--", b"-->"), (b"<![CDATA[", b"]]>"), (b"<?", b"?>"), (b"<!", b">"))
_END_TAG = re.compile(rb"</\s*+(" + _NAME + rb")[^<>]*+>?")
_AFTER_END_TAG = re.compile(rb">|(?=<)|\Z")
_ATTRIBUTE = re.compile(
    rb"\s*+([^\s=<>\"'/]++)(?:\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>]++(?<!/)))|(?=[\s/>]))"
)
_TAG_END = re.compile(rb"\s*+(/?)\s*+>")
_ANGLE = re.compile(rb"[<>]")
_REFERENCE = re.compile(rb"&(?:#(?:x([0-9A-Fa-f]++)|([0-9]++));|([^\s&<>;#\"'=]++);|([A-Za-z]*+))")
_BAD = re.compile(rb"&|<|\]\]>|[\x00-\x08\x0b\x0c\x0e-\x1f]|[\x80-\xff]++")
_CONTROL = re.compile(rb"[\x01-\x08\x0b\x0c\x0e-\x1f]")
_QNAME = re.compile(r"[^\W\d][\w.\-\xb7]*(?::[^\W\d][\w.\-\xb7]*)?\Z")
_PREDEFINED = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
#: entities that HTML reads without a semicolon, too
_LEGACY = frozenset(name.encode() for name in html5 if not name.endswith(";"))
_ENTITY_USE = re.compile(r"&([^\s;&#]+);")


class Handler(Protocol):
    """Receives the events of a document."""

    def start(self, name: str, attributes: list[str | None]) -> None:
        """Begin an element; names and values alternate, ``None`` is a value that is not certain."""

    def end(self) -> None:
        """End the innermost element."""

    def unclosed(self, *, at_end: bool) -> int | None:
        """End the innermost element, whose end tag is missing.

        May return the offset of a tag inside to go on from, outside of the element.
        """

    def text(self, text: str, /) -> None:
        """Take a piece of text."""

    def comment(self, text: str) -> None:
        """Take a comment."""

    def instruction(self, target: str, data: str) -> None:
        """Take a processing instruction."""

    def pause(self) -> None:
        """Bound what is held; called between pieces of the document."""

    def spoil(self) -> None:
        """Take note that something in the innermost element cannot be read."""


class DocumentType:
    """The entities and default attributes that the internal subset declares."""

    def __init__(self, limit: int) -> None:
        """Take entities of up to ``limit`` bytes each."""
        self._limit = limit
        #: values of internal entities by name, as declared
        self.entities: dict[str, str] = {}
        self._sizes: dict[str, int] = {}
        self._defaults: dict[tuple[str, str], str] = {}

    def __bool__(self) -> bool:
        """Whether anything is declared."""
        return bool(self.entities or self._defaults)

    @property
    def has_defaults(self) -> bool:
        """Whether elements have attributes that are not in their tags."""
        return bool(self._defaults)

    def entity(self, name: str, is_parameter: bool, value: str | None, *_: object) -> None:
        """Note a declaration. Raises :class:`LimitReached` if the entity grows too large."""
        if is_parameter or value is None or name in self.entities:
            return
        self.entities[name] = value
        self._sizes[name] = size = len(value.encode()) + sum(
            self._sizes.get(used, 0) for used in _ENTITY_USE.findall(value)
        )
        if size > self._limit:
            raise LimitReached(f"entity {name} grows too large")

    def attribute(
        self, element: str, name: str, kind: str, default: str | None, required: bool
    ) -> None:
        """Note a default attribute."""
        if default is not None:
            value = default.replace("&", "&#38;").replace("<", "&#60;").replace('"', "&#34;")
            self._defaults.setdefault((element, name), f'{name} {kind} "{value}"')

    def growth(self, text: bytes) -> int:
        """Return how many bytes the references in ``text`` expand to."""
        if b"&" not in text:
            return 0
        return sum(
            size * text.count(b"&" + name.encode() + b";") for name, size in self._sizes.items()
        )

    def declaration(self) -> bytes:
        """Return a document type declaration with all this and nothing else."""
        if not self:
            return b""
        entities = "".join(
            f'<!ENTITY {name} "{_declared(value)}">' for name, value in self.entities.items()
        )
        defaults = "".join(
            f"<!ATTLIST {element} {text}>" for (element, _), text in self._defaults.items()
        )
        return f"<!DOCTYPE x [{entities}{defaults}]>".encode()


def _declared(value: str) -> str:
    """Return the literal that declares an entity with this replacement text."""
    value = value.replace("&#", "&#38;#").replace("%", "&#37;")
    return value.replace('"', "&#34;").replace("\r", "&#13;")


class _Declared(Exception):  # noqa: N818 - ends the parse
    """The document type declaration is over."""


def _raise_declared() -> None:
    raise _Declared


class XmlEvents:
    """Drives a handler with the events of a document, given in pieces."""

    def __init__(self, handler: Handler, errors: ErrorLog, options: ReadOptions) -> None:
        """Begin a document."""
        self._handler = handler
        self._errors = errors
        self._options = options
        self.document_type = DocumentType(options.max_entity_bytes)
        #: raw names of the open elements
        self.stack: list[str] = []
        #: offset of the current event
        self.at = 0
        #: the text from the current event on; its offset, line and column, from 0
        self._window = b""
        self._start = self._line = self._column = 0
        #: an offset, and its line and column
        self._counted = (0, 0, 0)
        #: bytes that the parser gets at once: few after a spot, as there may be more
        self._slice = _PIECE
        self._parser = expat.ParserCreate()
        #: whether the parser is outside of a root element
        self._is_outside = True
        #: offset of the next byte for the parser
        self._next = 0
        #: the parser's positions up to this one belong to the spot at an offset …
        self._patch_end = self._patch_at = 0
        #: … the others are off by this
        self._shift = 0
        #: offset at which the parser began
        self._resumed = 0
        self._aliases: dict[str, str] = {}
        self._spoiled: set[str] = set()
        self._unreadable = False
        self._stuck: tuple[int, int] | None = None
        #: the spot of the last recovery, and how often that did not get past it
        self._tried: tuple[int, int] | None = None
        self._tries = 0
        self._fed = self._grown = self._read_again = 0

    # --- the document's text

    def feed(self, data: bytes, *, final: bool = False) -> None:
        """Take the next piece. Raises :class:`LimitReached`."""
        for first in range(0, len(data) or 1, _PIECE):
            piece = data if len(data) <= _PIECE else data[first : first + _PIECE]
            self.count_entities(piece)
            self._trim()
            self._window += piece
            self._run(final and first + _PIECE >= len(data))
            self._handler.pause()
            self._errors.check_time()

    def jump(self, data: bytes, offset: int, line: int) -> None:
        """Go on with ``data``, which begins at ``offset`` and a line, inside the open elements."""
        self._window, self._start, self._line, self._column = data, offset, line, 0
        self._counted = (offset, line, 0)
        self._stuck = None
        self._resume(0)
        self._run(False, is_ample=True)

    @property
    def is_between(self) -> bool:
        """Whether all text so far is read, and the innermost element is the root."""
        read = self._next == self._start + len(self._window)
        return read and self._stuck is None and len(self.stack) == 1

    def count_entities(self, data: bytes) -> None:
        """Count what references in ``data`` grow to. Raises :class:`LimitReached`."""
        self._fed += len(data)
        if self.document_type.entities:
            self._grown += self.document_type.growth(data)
            if self._grown > max(self._options.max_entity_bytes, 4 * self._fed):
                limit = self._options.max_entity_bytes
                raise LimitReached(f"entities grow to more than {limit} bytes")

    def place(self, offset: int | None = None) -> tuple[int, int]:
        """Return line and column, from 1, of an offset: that of the current event by default."""
        return self._place((self.at if offset is None else offset) - self._start)

    def _place(self, to: int) -> tuple[int, int]:
        if to < 0:
            return 0, 0
        known, line, column = self._counted
        at = self._start + to
        if not self._start <= known <= at:
            known, line, column = self._start, self._line, self._column
        text = self._window[known - self._start : to]
        lines = text.count(b"\n")
        if lines:
            text, column = text[text.rfind(b"\n") + 1 :], 0
        line, column = line + lines, column + len(text.decode("utf-8", "replace"))
        self._counted = at, line, column
        return line + 1, column + 1

    def _trim(self) -> None:
        """Forget the text before the current event."""
        cut = self.at - self._start
        if cut >= _PIECE:
            line, column = self._place(cut)
            self._line, self._column = line - 1, column - 1
            self._window = self._window[cut:]
            self._start = self.at

    def _lost(self, message: str, at: int) -> None:
        self._errors.add(message, *self._place(at))

    def _mended(self, message: str, at: int) -> None:
        self._errors.add_mended(message, *self._place(at))

    # --- parsing

    def _run(self, final: bool, *, is_ample: bool = False) -> None:
        while True:
            if self._stuck is not None:
                code, at = self._stuck
                self._tries = self._tries + 1 if self._stuck == self._tried else 0
                self._tried = self._stuck
                if self._tries > _MOST_TRIES:
                    raise LimitReached("the rest after ill-formed XML is not read")
                ample = len(self._window) + self._start - at > _LOOKAHEAD
                if not (final or is_ample or ample) or not self._recover(
                    code, at, final or is_ample
                ):
                    if len(self._window) > LONGEST_TOKEN + _PIECE:
                        raise LimitReached(f"a token of more than {LONGEST_TOKEN} bytes")
                    return
                self._stuck = None
            if self._is_outside and not self._open(final):
                return
            parser = self._parser
            first = self._next - self._start
            data = self._window[first : first + self._slice]
            self._next += len(data)
            is_last = first + len(data) >= len(self._window)
            try:
                parser.Parse(data, final and is_last)
            except expat.ExpatError as error:
                self._stuck = error.code, self._offset(parser.ErrorByteIndex)
                self._slice = _SLICE
                self._errors.check_time()
                continue
            if is_last:
                return
            self._slice = min(2 * self._slice, _PIECE)

    def _offset(self, index: int) -> int:
        """Return the document's offset of a position of the parser."""
        return self._patch_at if index < self._patch_end else index - self._shift

    def _resume(self, at: int, patch: bytes = b"", spot: int | None = None) -> None:
        """Go on at ``at`` with a new parser.

        It first gets ``patch``, which stands for the text from ``spot`` on.
        """
        parser = expat.ParserCreate("utf-8")
        parser.ordered_attributes = True
        prefix = self.document_type.declaration() + "".join(
            f"<{self._alias(name)}>" for name in self.stack
        ).encode()  # fmt: skip
        parser.Parse(prefix, False)
        parser.StartElementHandler = self._on_start  # type: ignore[assignment]
        parser.EndElementHandler = self._on_end
        parser.CharacterDataHandler = self._handler.text
        parser.CommentHandler = self._on_comment
        parser.ProcessingInstructionHandler = self._on_instruction
        parser.StartCdataSectionHandler = self._on_section
        self._parser, self._is_outside = parser, False
        self._next = self._resumed = self.at = at + self._start
        self._patch_end = len(prefix) + len(patch)
        self._patch_at = self._next if spot is None else spot + self._start
        self._shift = self._patch_end - self._next
        if patch:
            try:
                parser.Parse(patch, False)
            except expat.ExpatError:  # not to be mended after all
                self._spoiled, self._unreadable = set(), False
                self._lost("ill-formed XML", self._patch_at - self._start)
                self._handler.spoil()
                self._resume(at)
            self.at = self._next

    def _alias(self, name: str) -> str:
        """Return a name that the parser takes, in place of one that it does not."""
        if _QNAME.match(name):
            return name
        alias = next((a for a, n in self._aliases.items() if n == name), "")
        if not alias:
            alias = f"semcrawl-{len(self._aliases)}"
            self._aliases[alias] = name
        return alias

    def _on_start(self, name: str, attributes: list[str | None]) -> None:
        self.at = self._offset(self._parser.CurrentByteIndex)
        if self._aliases:
            name = self._aliases.get(name, name)
            attributes[::2] = [self._aliases.get(n or "", n) for n in attributes[::2]]
        if self._spoiled:
            for index in range(0, len(attributes), 2):
                if attributes[index] in self._spoiled:
                    attributes[index + 1] = None
            self._spoiled = set()
        if self._unreadable:
            attributes += ["", None]
            self._unreadable = False
        self.stack.append(name)
        if len(self.stack) > self._options.max_depth:
            raise LimitReached(f"nested deeper than {self._options.max_depth} levels")
        if len(attributes) > 2 * MOST_ATTRIBUTES:
            raise LimitReached(f"a tag of more than {MOST_ATTRIBUTES} attributes")
        self._handler.start(name, attributes)

    def _on_end(self, name: str) -> None:
        self.at = self._offset(self._parser.CurrentByteIndex)
        self.stack.pop()
        self._handler.end()

    def _on_comment(self, text: str) -> None:
        self.at = self._offset(self._parser.CurrentByteIndex)
        if self.stack:
            self._handler.comment(text)

    def _on_instruction(self, target: str, data: str) -> None:
        self.at = self._offset(self._parser.CurrentByteIndex)
        if self.stack:
            self._handler.instruction(target, data)

    def _on_section(self) -> None:
        self.at = self._offset(self._parser.CurrentByteIndex)

    # --- outside of the root element

    def _open(self, final: bool) -> bool:
        """Go to the next root element; return False when its start is not there."""
        at = self._skip_misc(self._next - self._start, final)
        self._next = self.at = at + self._start
        if not _TAG_NAME.match(self._window, at):
            return False
        self._resume(at)
        return True

    def find_root(self, text: bytes) -> int | None:
        """Take the document's beginning; return where the root element starts, None if it does not.

        The text before it is read. :meth:`feed` or :meth:`jump` go on.
        """
        self.count_entities(text)
        self._window = text
        at = self._skip_misc(0, final=False)
        self._next = self.at = at
        return at if _TAG_NAME.match(text, at) else None

    def _skip_misc(self, at: int, final: bool) -> int:
        """Return where the next root element begins, or what is not complete."""
        text = self._window
        while True:
            while at < len(text) and text[at] in _SPACE:
                at += 1
            head = text[at : at + 9]
            if _TAG_NAME.match(text, at) or not (head if final else head[8:]):
                return at
            if head.startswith(b"<!--"):
                end = text.find(b"-->", at + 4) + 3
            elif head.startswith(b"<?"):
                end = text.find(b"?>", at + 2) + 2
            elif head.upper() == b"<!DOCTYPE":
                end = self._read_doctype(at)
            else:
                found = _MARKUP.search(text, at + 1)
                end = found.start() if found else len(text)
                self._lost("text outside of the root element", at)
            if end <= at:  # no end
                if not final and len(text) - at <= LONGEST_TOKEN:
                    return at
                self._lost("markup without an end", at)
                found = _MARKUP.search(text, at + 1)
                end = found.start() if found else len(text)
            at = end

    def _read_doctype(self, at: int) -> int:
        """Read a document type declaration; return its end, or -1."""
        parser = expat.ParserCreate("utf-8")
        self.document_type = DocumentType(self._options.max_entity_bytes)
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_UNLESS_STANDALONE)
        parser.EntityDeclHandler = self.document_type.entity
        parser.AttlistDeclHandler = self.document_type.attribute
        parser.EndDoctypeDeclHandler = _raise_declared
        text = self._window
        try:
            parser.Parse(b"<!DOCTYPE" + text[at + 9 :], False)
        except _Declared:
            return text.find(b">", at + parser.CurrentByteIndex) + 1
        except expat.ExpatError as error:
            bad = at + max(parser.ErrorByteIndex, 0)
            self._lost(f"ill-formed document type: {expat.ErrorString(error.code)}", bad)
            closing = text.find(b"]", bad)
            root = _TAG_NAME.search(text, bad)
            if closing >= 0 and (root is None or closing < root.start()):
                return text.find(b">", closing) + 1
            return root.start() if root else len(text)
        return -1

    # --- spots that are not well-formed

    def _recover(self, code: int, at: int, final: bool) -> bool:
        """Mend or leave the spot at ``at``; return False if its end is not there yet."""
        window = self._window
        if code == _AMPLIFIED:
            raise LimitReached("entities grow too large")
        if code == _JUNK or not self.stack:
            spot = max(self.at, self._resumed) - self._start
            read = _TOKEN.match(window, spot)
            is_start = _TAG_NAME.match(window, spot) is not None
            # a root that begins here, and was not reported, is the one with the fault
            is_unread = is_start and self.at == self._resumed
            if code == _JUNK or not is_start or (read and not is_unread):
                if read and not is_unread:
                    spot = read.end()
                self._is_outside, self._aliases = True, {}
                self._next = spot + self._start
                return True
        token = self._token_start(at - self._start)
        if token >= len(window):
            self._cut(token)
            return True
        markup = window[token : token + 9]
        if not final and len(markup) < 9:
            return False
        if not _MARKUP.match(markup):
            return self._recover_text(token, final)
        if markup.startswith(b"</"):
            return self._recover_end(token, final)
        if markup.startswith((b"<!", b"<?")):
            return self._recover_opaque(token, final)
        return self._recover_start(token, final)

    def _token_start(self, bad: int) -> int:
        """Return where the token with the spot ``bad`` begins, both in the window."""
        window = self._window
        at = max(self.at, self._resumed) - self._start
        while at < bad:
            if _MARKUP.match(window, at):
                token = _TOKEN.match(window, at)
                if token is None or token.end() > bad:
                    return at
                at = token.end()
                continue
            found = _MARKUP.search(window, at, bad)
            end = found.start() if found else bad
            if not found and (spot := _UNFINISHED.search(window, at, bad)):
                return spot.start()
            at = end
        return at

    def _recover_text(self, at: int, final: bool) -> bool:
        """Mend the text from ``at`` to the next markup."""
        window = self._window
        found = _MARKUP.search(window, at)
        end = found.start() if found else len(window)
        if not found and not final:  # a reference, or a character, may be cut
            tail = window.rfind(b"&", max(at, end - 64), end)
            end = tail if tail >= 0 else end - 3
            if end <= at:
                return False
        if control := _CONTROL.match(window, at):
            self._mended("a control character, which XML forbids", at)
            self._handler.text(control[0].decode())
            self._resume(at + 1)
            return True
        if control := _CONTROL.search(window, at, end):
            end = control.start()
        patch, certain = self._mend(at, end)
        if not certain:
            self._handler.spoil()
        self._resume(end, patch, at)
        return True

    def _recover_end(self, token: int, final: bool) -> bool:
        """Decide what an end tag closes that is not that of the innermost element."""
        window, stack = self._window, self.stack
        tag = _END_TAG.match(window, token)
        if tag is None:
            self._lost("an end tag that cannot be read", token)
            self._handler.spoil()
            found = _AFTER_END_TAG.search(window, token + 1)
            self._resume(found.end() if found else len(window))
            return True
        if not tag[0].endswith(b">") and tag.end() == len(window) and not final:
            return False
        name = tag[1].decode("utf-8", "replace")
        if name not in stack:
            following = self._next_end(tag.end())
            if following is None and not final and len(window) - tag.end() < _LOOKAHEAD:
                return False
            self._lost(f"the end tag of {name} closes no element", token)
            self._handler.spoil()
            if following == stack[-1] or len(stack) == 1:
                self._resume(tag.end())
            else:
                self._resume(tag.end(), self._closing(), token)
            return True
        while stack[-1] != name:
            stack.pop()
            back = self._handler.unclosed(at_end=False)
            if back is not None and self.can_return(back):
                self._read_again += token + self._start - back
                self._resume(back - self._start)
                return True
        if not _TOKEN.match(window, token) and self._alias(name) == name:
            self._mended(f"an end tag of {name} that is ill-formed", token)
        self._resume(tag.end(), self._closing(), token)
        return True

    def can_return(self, offset: int) -> bool:
        """Whether the text from an offset on may be read again: it is there, and not too much."""
        again = self.at - offset
        return self._start <= offset and self._read_again + again <= self._fed + _PIECE

    def _closing(self) -> bytes:
        return f"</{self._alias(self.stack[-1])}>".encode()

    def _next_end(self, at: int) -> str | None:
        """Return the name in the first end tag from ``at`` on that closes no element begun there.

        None if there is none in the next pieces of text.
        """
        depth = 0
        for markup in _ANY_TAG.finditer(self._window, at, at + _LOOKAHEAD):
            if markup[1]:
                if not depth:
                    return markup[2].decode("utf-8", "replace")
                depth -= 1
            elif markup[2] and not markup[3]:
                depth += 1
        return None

    def _recover_start(self, token: int, final: bool) -> bool:
        """Read a start tag that is not well-formed, attribute by attribute."""
        window = self._window
        tag = _read_tag(window, token)
        after = tag.end
        empty = tag.empty
        if not tag.readable:  # a quotation mark may be missing, so they do not count
            stop = _ANGLE.search(window, token + 1)
            if stop is None:
                if not final:
                    return False
                self._cut(token)
                return True
            is_clean = not window[tag.end : stop.start()].strip()
            if stop[0] == b"<" and is_clean and self._next_end(stop.start()) == tag.name:
                self._mended(f"a tag of {tag.name} without a >", token)
                tag = tag._replace(readable=True)
                after = stop.start()
            elif stop[0] == b"<":
                self._lost("a < in text that may begin a tag", token)
                self._handler.spoil()
                self._resume(token + 1, b"&lt;", token)
                return True
            else:
                self._lost(f"a tag of {tag.name} that cannot be read", token)
                empty = window[stop.start() - 1 : stop.start()] == b"/"
                after = stop.end()
                tag = tag.before(after)
        for certain, message, place in tag.notes:
            (self._mended if certain else self._lost)(message, place)
        pieces = [f"<{self._mended_name(tag.name, token)}".encode()]
        for name, (begin, end) in tag.attributes.items():
            patch, certain = self._mend(begin, end, in_value=True)
            if not certain or name in tag.spoiled:
                self._spoiled.add(name)
            quote, escape = (b"'", b"&#39;") if b'"' in patch else (b'"', b"&#34;")
            pieces += [f" {self._mended_name(name, begin)}=".encode(), quote,
                       patch.replace(quote, escape), quote]  # fmt: skip
        pieces.append(b"/>" if empty else b">")
        self._unreadable = not tag.readable
        self._resume(after, b"".join(pieces), token)
        return True

    def _mended_name(self, name: str, at: int) -> str:
        alias = self._alias(name)
        if alias != name:
            self._mended(f"{name} is no name in XML", at)
        return alias

    def _recover_opaque(self, token: int, final: bool) -> bool:
        """Pass a comment, an instruction, a CDATA section or a declaration."""
        window = self._window
        opening, closing = next(pair for pair in _OPAQUE if window.startswith(pair[0], token))
        begin = token + len(opening)
        end = window.find(closing, begin)
        if end < 0 and not final and len(window) - token <= LONGEST_TOKEN:
            return False
        if end < 0:
            self._lost(f"{opening.decode()} without an end", token)
            self._handler.spoil()
            self._resume(begin)
            return True
        after, inner = end + len(closing), window[begin:end]
        if opening == b"<!--":
            self._mended("-- in a comment", token)
            self._handler.comment(inner.decode("utf-8", "replace"))
        elif opening == b"<![CDATA[":
            try:
                self._handler.text(inner.decode())
                self._mended("a control character, which XML forbids", token)
            except UnicodeDecodeError:
                self._lost("bytes that are not UTF-8", token)
                self._handler.spoil()
        elif opening == b"<?" and inner[:3].lower() == b"xml":
            self._mended("an XML declaration inside of the document", token)
        else:
            self._lost(f"{opening.decode()}{_text(inner[:20])} is no markup here", token)
            self._handler.spoil()
            if b"[" in inner and (close := window.find(b"]>", begin)) >= 0:
                after = close + 2
        self._resume(after)
        return True

    def _cut(self, token: int) -> None:
        """End a document whose root element is not closed."""
        self._lost("the document ends before its root element is closed", token)
        while self.stack:
            self.stack.pop()
            self._handler.unclosed(at_end=True)
        self._is_outside, self._next = True, len(self._window) + self._start

    def _mend(self, at: int, end: int, *, in_value: bool = False) -> tuple[bytes, bool]:
        """Return text in which what is no markup is escaped, and whether that is certain."""
        pieces: list[bytes] = []
        certain = True
        for match in _BAD.finditer(self._window, at, end):
            pieces.append(self._window[at : match.start()])
            text, sure = self._mended_spot(match, end, in_value)
            pieces.append(text)
            certain = certain and sure
            at = match.end()
        pieces.append(self._window[at:end])
        return b"".join(pieces), certain

    def _mended_spot(self, match: re.Match[bytes], end: int, in_value: bool) -> tuple[bytes, bool]:
        """Return what to write for one byte that may be no text, and whether it is certain."""
        found, at = match[0], match.start()
        if found == b"<":
            self._mended("a bare < in text", at)
            return b"&lt;", True
        if found == b"]]>":
            if not in_value:
                self._mended("]]> in text", at)
            return b"]]&gt;", True
        if found != b"&":
            if found[0] >= 0x80 and _is_utf8(found):
                return found, True
            self._lost("a character that XML forbids, or bytes that are not UTF-8", at)
            return "\ufffd".encode(), False
        reference = _REFERENCE.match(self._window, at, end) or match
        text = _text(reference[0])
        if digits := reference[1] or reference[2]:
            number = int(digits.lstrip(b"0")[:8] or b"0", 16 if reference[1] else 10)
            if _is_character(number):
                return found, True
            problem = f"{text} is no character"
        elif reference[3]:
            name = _text(reference[3])
            if reference[3] in _PREDEFINED or name in self.document_type.entities:
                return found, True
            if (value := html5.get(f"{name};")) is not None:
                self._mended(f"the entity {name} of HTML is not declared", at)
                self.document_type.entities[name] = "".join(
                    f"&#{ord(c)};" if c in "<&" else c for c in value
                )
                return found, True
            problem = f"the entity {name} is not declared"
        elif reference[4] in _LEGACY and self._window[reference.end() :][:1] != b"=":
            problem = f"{text} without a semicolon"
        else:
            self._mended("a bare & in text", at)
            return b"&amp;", True
        self._lost(problem, at)
        return b"&amp;", False


class _Tag(NamedTuple):
    """A start tag that may be ill-formed."""

    name: str
    #: begin and end of the values
    attributes: dict[str, tuple[int, int]]
    #: attributes whose values are not certain
    spoiled: set[str]
    #: what is wrong: whether it is mended, a message, a position
    notes: list[tuple[bool, str, int]]
    #: where the tag ends, or where it cannot be read
    end: int
    empty: bool
    readable: bool

    def before(self, end: int) -> _Tag:
        """Return the tag without what comes after a position."""
        attributes = {n: place for n, place in self.attributes.items() if place[1] < end}
        # its closing quotation mark may be the one that is missing
        self.spoiled.update([*self.attributes][-1:])
        notes = [note for note in self.notes if note[2] < end]
        return self._replace(attributes=attributes, notes=notes)


def _read_tag(text: bytes, at: int) -> _Tag:
    """Read the start tag at ``at``."""
    tag = _Tag("", {}, set(), [], at, empty=False, readable=False)
    named = _TAG_NAME.match(text, at)
    if named is None:
        return tag
    tag = tag._replace(name=_text(named[1]))
    at = named.end()
    while not (end := _TAG_END.match(text, at)):
        found = _ATTRIBUTE.match(text, at)
        if found is None:
            return tag._replace(end=at)
        name, place = _text(found[1]), found.start(1)
        value = next((found.span(g) for g in (2, 3, 4) if found[g] is not None), None)
        if value is None:
            tag.notes.append((False, f"the attribute {name} has no value", place))
        elif name in tag.attributes:
            first = slice(*tag.attributes[name])
            same = text[first] == text[slice(*value)]
            tag.notes.append((same, f"{name} stands twice in a tag", place))
            if not same:
                tag.spoiled.add(name)
        else:
            tag.attributes[name] = value
            if found[4] is not None:
                tag.notes.append((False, f"the value of {name} has no quotes", place))
                tag.spoiled.add(name)
            if not text[found.start() : found.start() + 1].isspace():
                tag.notes.append((True, "no space between attributes", place))
        at = found.end()
    return tag._replace(end=end.end(), empty=bool(end[1]), readable=True)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_utf8(data: bytes) -> bool:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return "\ufffe" not in text and "\uffff" not in text


def _is_character(number: int) -> bool:
    """Whether XML 1.0 allows the character."""
    return (
        number in (9, 10, 13)
        or 0x20 <= number <= 0xD7FF
        or 0xE000 <= number <= 0xFFFD
        or 0x10000 <= number <= 0x10FFFF
    )


_XML = "http://www.w3.org/XML/1998/namespace"
_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_VALUE = str.maketrans(
    {"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"}
)


class XmlLiteral:
    """Collects the content of a property element."""

    def __init__(self, namespaces: Scoped[str | None]) -> None:
        """Begin inside an element with these namespaces in scope, by prefix."""
        #: name, namespaces in scope, and namespaces written, of each open element
        self._open: list[tuple[str, Scoped[str | None], Scoped[str]]] = [
            ("", namespaces, Scoped({"": ""}))
        ]
        self._pieces: list[str] = []

    @property
    def size(self) -> int:
        """The number of characters so far."""
        self._pieces = ["".join(self._pieces)]
        return len(self._pieces[0])

    def forget(self) -> None:
        """Drop the text so far."""
        self._pieces.clear()

    @property
    def depth(self) -> int:
        """The number of open elements."""
        return len(self._open) - 1

    def text(self, text: str) -> None:
        """Add text."""
        self._pieces.append(text.translate(_TEXT))

    def comment(self, text: str) -> None:
        """Add a comment."""
        self._pieces.append(f"<!--{text}-->")

    def instruction(self, target: str, data: str) -> None:
        """Add a processing instruction."""
        self._pieces.append(f"<?{target} {data}?>" if data else f"<?{target}?>")

    def start(self, name: str, attributes: list[str | None]) -> str:
        """Begin an element; return what is wrong with it, or an empty string."""
        _, scope, written = self._open[-1]
        declared: dict[str, str | None] = {}
        plain: list[tuple[str, str, str, str]] = []
        fault = ""
        for key, value in zip(attributes[::2], attributes[1::2], strict=True):
            if not key or value is None:
                fault = "an attribute that cannot be read"
            elif key == "xmlns" or key.startswith("xmlns:"):
                declared[key[6:]] = value
            else:
                prefix, _, local = key.rpartition(":")
                plain.append((prefix, local, key, value))
        if declared:
            scope = scope.extended(declared)
        used = {name.partition(":")[0] if ":" in name else ""}
        used.update(prefix for prefix, *_ in plain if prefix)
        used.discard("xml")
        new: dict[str, str] = {}
        for prefix in sorted(used):
            iri = scope.get(prefix) or ""
            if prefix and not iri:
                fault = f"the prefix {prefix} is not declared"
            if written.get(prefix) != iri:
                new[prefix] = iri
        pieces = ["<", name]
        for prefix, iri in new.items():
            pieces.append(f' {"xmlns:" if prefix else "xmlns"}{prefix}="{iri.translate(_VALUE)}"')
        by_name = sorted(
            ((_XML if p == "xml" else scope.get(p) or "") if p else "", local, key, value)
            for p, local, key, value in plain
        )
        pieces += [f' {key}="{value.translate(_VALUE)}"' for _, _, key, value in by_name]
        pieces.append(">")
        self._pieces += pieces
        self._open.append((name, scope, written.extended(new) if new else written))
        return fault

    def end(self) -> None:
        """End the innermost element."""
        self._pieces.append(f"</{self._open.pop()[0]}>")

    def __str__(self) -> str:
        """Return the canonical text."""
        return "".join(self._pieces)
