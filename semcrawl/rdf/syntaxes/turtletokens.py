"""The tokens of Turtle, TriG, N3, N-Triples and N-Quads, and the terms that they write.

:data:`TOKEN` finds the next token by the terminals of the grammars. What no terminal matches is
found too, as one piece up to where a sound token may begin: a part of it is never taken for a term.
:class:`Terms` turns a token into a term of N-Triples, and mends IRIs and language tags where only
one reading is possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyoxigraph

from semcrawl.rdf.patterns import re
from semcrawl.rdf.streams import Readable
from semcrawl.rdf.terms import RDF, XSD, iri_of, language_tag

#: white space and comments before a token
_SPACE = rb"(?:[ \t\r\n]++|#[^\r\n]*+)*+"
#: white space of other alphabets, byte-order marks and control characters: in no token but
#: strings and IRIs
_ODD = (
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8b\xa8\xa9\xaf]"
    rb"|\xe2\x81\x9f|\xe3\x80\x80|\xef\xbb\xbf"
)
#: names, numbers, keywords: up to what ends every such token
_WORD = (
    rb"(?:[^\x00-\x20\"'<>()\[\]{},;#|~^=!\\\x7f\xc2\xe1\xe2\xe3\xef]++|\\[!-~]?"
    rb"|(?!" + _ODD + rb")[\xc2\xe1\xe2\xe3\xef])++"
)  # fmt: skip
_SHORT = (
    rb'"[^"\\\r\n]*+(?:\\[^\r\n][^"\\\r\n]*+)*+"|' rb"'[^'\\\r\n]*+(?:\\[^\r\n][^'\\\r\n]*+)*+'"
)
#: one or two quotation marks before those that close a long string belong to it
_LONG = (
    rb'"""[^"\\]*+(?:(?:\\.|"(?!"")|"(?="{3,4}(?!")))[^"\\]*+)*+"""|'
    rb"'''[^'\\]*+(?:(?:\\.|'(?!'')|'(?='{3,4}(?!')))[^'\\]*+)*+'''"
)


class Kind(IntEnum):
    """Kinds of tokens: groups of :data:`TOKEN`."""

    MARK = 1  #: punctuation
    IRI = 2  #: ``<…>``, ASCII without an escape
    WORD = 3  #: a name, number or keyword
    STRING = 4
    AT = 5  #: a language tag or directive
    ODD = 6  #: a space that the grammar does not have
    OTHER_IRI = 7  #: ``<…>`` with other characters, maybe invalid ones
    OPEN_IRI = 8  #: ``<…`` without an end
    OPEN_LONG = 9  #: ``\"""`` or ``'''`` that nothing closes
    OPEN_STRING = 10  #: a string that its line does not close
    JUNK = 11  #: a character that begins no token
    END = 12  #: the end of the text


def _token(arrows: bytes) -> re.Pattern[bytes]:
    return re.compile(
        _SPACE
        + rb"(?:(\.(?![0-9])|[;,\[\](]|\)(?:>>)?|\^\^?|\{\|?|\}|\|\}|<<\(?|>>|=>?|[!~]"
        + arrows + rb")"
        rb"|(<[!#$&-;=?-Z_a-z~]*+>)"
        rb"|((?!@)" + _WORD + rb")"
        rb"|(" + _LONG + rb"|(?!\"\"\"|''')(?:" + _SHORT + rb"))"
        rb"|(@" + _WORD + rb"|@)"
        rb"|(" + _ODD + rb")"
        rb"|(<[^<>\r\n]*+>)"
        rb"|(<[^\x00-\x20<>\"'(){}\[\],;]*+)"
        rb"|(\"\"\"|''')"
        rb"|([\"'][^\r\n]*+)"
        rb"|(.)"
        rb"|(\Z))",
        re.DOTALL,
    )  # fmt: skip


TOKEN = _token(rb"")
#: the same for N3, which has ``<=`` and ``<-`` where no IRI is
TOKEN_N3 = _token(rb"|<[=-](?![^\x00-\x20<>\"{}|^`\\]*+>)")


class Type(IntEnum):
    """Types of terms. The order matters: comparisons tell what may stand where."""

    IRI = 0
    BLANK = 1
    LITERAL = 2
    TRIPLE = 3
    TYPE = 4  #: the keyword ``a``
    INVERSE = 5  #: a predicate of N3 from object to subject
    BAD = 6  #: a sound token that is no term; the value is the reason
    BROKEN = 7  #: no token; the value is the reason


class Entry(NamedTuple):
    """A term: type, text in N-Triples (or the reason why it is none), and what was mended."""

    type: Type
    value: bytes
    mended: str = ""


def bad(reason: str) -> Entry:
    """Return the entry of a token that is no term."""
    return Entry(Type.BAD, reason.encode("utf-8", "replace"))


def broken(reason: str) -> Entry:
    """Return the entry of what is no token; what touches it may be a part of it."""
    return Entry(Type.BROKEN, reason.encode("utf-8", "replace"))


_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d"
    "\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_CHARS = _BASE + r"\-_0-9" + "\u00b7\u0300-\u036f\u203f\u2040"
_ESCAPED = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
#: a name with a prefix; the dots at its end are cut off before
_NAME = re.compile(
    rf"((?:[{_BASE}](?:[{_CHARS}.]*[{_CHARS}])?)?):"
    rf"((?:(?:[{_BASE}_:0-9]|{_ESCAPED})(?:[{_CHARS}.:]|{_ESCAPED})*+)?)\Z"
)
_LABEL = re.compile(rf"_:[{_BASE}_0-9][{_CHARS}.]*+\Z")
_VARIABLE = re.compile(rf"\?[{_BASE}_:0-9][{_CHARS}.:]*+\Z")
_LOCAL_ESCAPE = re.compile(r"\\(.)")
_NUMBERS = (
    (re.compile(rb"[+-]?[0-9]+\Z"), b"integer"),
    (re.compile(rb"[+-]?[0-9]*\.[0-9]+\Z"), b"decimal"),
    (re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]+\Z"), b"double"),
)
#: what stands before a dot that ends a statement, and the next one directly after it
_BEFORE_STATEMENT = re.compile(rb"([+-]?[0-9]+)\.(?=[^0-9.\s][^:\s]*:)")
_LANGUAGE = re.compile(rb"@([A-Za-z]+(?:[-_][A-Za-z0-9]+)*)(--(?:ltr|rtl))?(?:\Z|\.)")
_IRI_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_STRING_PARTS = re.compile(
    rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\U........|\\u....|\\.|[\"\n\r]", re.S
)
_ABSOLUTE = re.compile(rb"<[A-Za-z][A-Za-z0-9+.-]*:")
#: what stands between ``<`` and the next ``>`` where the one that closes the IRI is missing
_NOT_CLOSED = re.compile(r"[\"']|[ \t][.;,(){}\[\]#=!^]|=\Z")
_MOST_ENTRIES = 1 << 16
#: bytes of IRIs: ASCII, and those of U+00C0 to U+CFFF in UTF-8, all of which IRIs allow
_IRI_CHARS = rb"[A-Za-z0-9/_.~=&;,:+$!*'()?@\x80-\xbf\xc3-\xec-]*+"
_IRI_PATH = _IRI_CHARS + rb"(?:%[0-9A-Fa-f]{2}" + _IRI_CHARS + rb")*+"
#: most IRIs, all of them valid: scheme, host and port, path and query, fragment
PLAIN_IRI = (
    rb"(?:<https?://[A-Za-z0-9.-]++(?::[0-9]++)?+(?:[/?]" + _IRI_PATH + rb")?+(?:#" + _IRI_PATH
    + rb")?+>|<(?:urn|tag|mailto|tel|info|doi):[A-Za-z0-9]" + _IRI_PATH + rb">)"
)  # fmt: skip
_PLAIN_IRI = re.compile(PLAIN_IRI + rb"\Z")
_DATATYPES = {name: b"^^<" + XSD.encode() + name + b">" for _, name in _NUMBERS}
_BOOLEANS = (b"true", b"false")
#: datatypes that only a language tag gives
NEED_LANGUAGE = frozenset(f"<{RDF}{name}>".encode() for name in ("langString", "dirLangString"))


def decoded(token: bytes) -> str | None:
    """Return the text of a token; None if some of its bytes are of no known encoding.

    A token that has no character of UTF-8 beyond ASCII, but others, is in Windows-1252.
    """
    try:
        return token.decode()
    except UnicodeDecodeError:
        pass
    if any(not sign.isascii() for sign in token.decode("utf-8", "ignore")):
        return None
    try:
        return token.decode("cp1252")
    except UnicodeDecodeError:
        return None


@lru_cache(maxsize=1 << 14)
def resolved(reference: str, base: str) -> str | None:
    """Return an IRI reference resolved against ``base``; None if the parser finds it invalid."""
    try:
        quads = pyoxigraph.parse(
            f"<{reference}> <a:b> <a:b> .", pyoxigraph.RdfFormat.TURTLE, base_iri=base
        )
        subject = next(quads).subject
    except (SyntaxError, ValueError, StopIteration):
        return None
    return subject.value if isinstance(subject, pyoxigraph.NamedNode) else None


class Terms:
    """Makes terms of tokens, with the prefixes and the base declared so far."""

    def __init__(
        self,
        base: str | None,
        prefixes: dict[str, str | None],
        *,
        n3: bool = False,
        spaces: bool = True,
    ) -> None:
        """Resolve IRIs against ``base``. A base or prefix that is None could not be read.

        ``spaces``: whether an IRI with white space inside is mended.
        """
        self._spaces = spaces
        self._base = base
        self.prefixes = prefixes
        self._n3 = n3
        self._known: dict[bytes, Entry] = {}

    @property
    def base(self) -> str | None:
        """The base in force."""
        return self._base

    @base.setter
    def base(self, base: str | None) -> None:
        self._base = base
        self._known.clear()

    def set(self, base: str, prefixes: Mapping[str, str]) -> None:
        """Take over the declarations of another parser."""
        unread = {name: iri for name, iri in self.prefixes.items() if iri is None}
        if base != self._base or {**unread, **prefixes} != self.prefixes:
            self.prefixes = {**unread, **prefixes}
            self.base = base

    def declare(self, prefix: str, namespace: str | None) -> None:
        """Declare a prefix."""
        self.prefixes[prefix] = namespace
        self._known.clear()

    def iri(self, token: bytes) -> Entry:
        """Return the term of ``<…>``."""
        if (known := self._known.get(token)) is None:
            if len(self._known) >= _MOST_ENTRIES:
                self._known.clear()
            known = self._known[token] = self._iri(token)
        return known

    def _iri(self, token: bytes) -> Entry:
        text = decoded(token[1:-1])
        if text is None or "\ufffd" in text:
            return bad("an IRI with bytes of no known encoding")
        mended = ""
        if iri_of(text) != text:
            text = text.strip(" \t")
            if (" " in text or "\t" in text) and (not self._spaces or _NOT_CLOSED.search(text)):
                return bad("an IRI with white space")
            plain = _IRI_ESCAPE.sub(_character, text)
            iri = iri_of(plain)
            if iri != plain or len(text) < len(token) - 2:
                mended = f"an IRI with characters that it must not have, written as <{iri}>"
            text = iri
        value = b"<" + text.encode("utf-8", "replace") + b">"
        if _ABSOLUTE.match(value):
            return _absolute(value, mended)
        if self._base is None:
            return bad("a relative IRI whose base cannot be read")
        if value.startswith(b"<#"):
            iri = self._base.partition("#")[0] + text
        else:
            iri = resolved(text, self._base) or ""
        if not iri:
            return bad(f"{_short(value.decode())} is no valid IRI")
        return Entry(Type.IRI, b"<" + iri.encode() + b">", mended)

    def word(self, token: bytes) -> Entry:
        """Return the term of a name, number or keyword."""
        if (known := self._known.get(token)) is None:
            if len(self._known) >= _MOST_ENTRIES:
                self._known.clear()
            known = self._known[token] = self._word(token)
        return known

    def _word(self, token: bytes) -> Entry:
        if token == b"a":
            return Entry(Type.TYPE, b"<" + RDF.encode() + b"type>")
        if token in _BOOLEANS:
            return Entry(Type.LITERAL, b'"' + token + b'"^^<' + XSD.encode() + b"boolean>")
        for form, name in _NUMBERS:
            if form.match(token):
                return Entry(Type.LITERAL, b'"' + token + b'"' + _DATATYPES[name])
        text = decoded(token)
        if text is None:
            return bad("a name with bytes of no known encoding")
        if text.startswith("_:"):
            if _LABEL.match(text):
                return Entry(Type.BLANK, text.encode())
            return broken(f"{_short(text)} is no valid blank node label")
        if found := _NAME.match(text):
            if found[1] not in self.prefixes:
                return bad(f"the prefix {found[1]}: is not declared")
            namespace = self.prefixes[found[1]]
            if namespace is None:
                return bad(f"the declaration of the prefix {found[1]}: cannot be read")
            local = _LOCAL_ESCAPE.sub(r"\1", found[2])
            return _absolute(b"<" + iri_of(namespace + local).encode() + b">", "")
        if self._n3 and _VARIABLE.match(text):
            return bad(f"the variable {_short(text)} is beyond RDF")
        kind = "name" if ":" in text else "term"
        return broken(f"{_short(text)} is no valid {kind}")

    def namespace(self, token: bytes) -> str | None:
        """Return the IRI that a directive declares, as absolute; None if it cannot be read."""
        entry = self.iri(token)
        if entry.type is not Type.IRI:
            return None
        return resolved(entry.value[1:-1].decode(), self._base or "a:")


def _absolute(value: bytes, mended: str) -> Entry:
    if _PLAIN_IRI.match(value) is None and resolved(value[1:-1].decode(), "a:") is None:
        return bad(f"{_short(value.decode())} is no valid IRI")
    return Entry(Type.IRI, value, mended)


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:80] + "…"


def _character(match: re.Match[str]) -> str:
    code = int(match[1] or match[2], 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return match[0]
    return chr(code)


def word_end(token: bytes) -> int:
    """Return the number of bytes of ``token`` before the dots that end a statement."""
    if token.startswith(b"_:") and (colon := token.find(b":", 2)) > 2:
        return colon  # a label, and a name without a prefix directly after it
    core = token.rstrip(b".")
    if len(core) < len(token):
        backslashes = len(core) - len(core.rstrip(b"\\"))
        return len(core) + backslashes % 2
    if found := _BEFORE_STATEMENT.match(token):
        return found.end(1)
    return len(token)


def string_term(token: bytes) -> Entry:
    """Return the term of a quoted string, without language and datatype."""
    quote = token[:1]
    size = 3 if token[1:2] == quote and len(token) > 2 and token[2:3] == quote else 1
    content = token[size:-size]
    if not content.isascii():
        text = decoded(content)
        if text is None:
            return bad("a string with bytes of no known encoding")
        content = text.encode()
    mended = ""
    before = content[:-1]
    if size == 3 and content.endswith(quote) and not (len(before) - len(before.rstrip(b"\\"))) % 2:
        mended = "quotation marks before those that close a long string"
    if size == 3 or quote == b"'" or b"\\" in content:
        try:
            plain = _STRING_PARTS.sub(_string_part, content)
        except ValueError as error:
            return bad(str(error))
        if b"\\u" in content and _PAIR.search(content):
            mended = "a character written as a pair of surrogates"
        content = plain
    return Entry(Type.LITERAL, b'"' + content + b'"', mended)


_PAIR = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89abAB]..\\u[dD][c-fC-F]")
_RAW = {b'"': b'\\"', b"\n": b"\\n", b"\r": b"\\r", b"\\'": b"'"}
_ECHARS = frozenset(b"\\" + bytes([sign]) for sign in b'tbnrf"\\')
_HEX = re.compile(rb"\\(?:u([0-9A-Fa-f]{4})(?:\\u([0-9A-Fa-f]{4}))?|U([0-9A-Fa-f]{8}))\Z")


def _string_part(match: re.Match[bytes]) -> bytes:
    part = match[0]
    if part in _ECHARS:
        return part
    if part in _RAW:
        return _RAW[part]
    found = _HEX.match(part)
    if found is None:
        raise ValueError(f"{part[:2].decode('utf-8', 'replace')} begins no valid escape")
    if found[2]:
        code = 0x10000 + ((int(found[1], 16) & 0x3FF) << 10) + (int(found[2], 16) & 0x3FF)
        return chr(code).encode()
    code = int(found[1] or found[3], 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise ValueError(f"{part.decode()} is no character")
    return part


def language_of(token: bytes) -> tuple[bytes, int, bool] | None:
    """Return the suffix that a language tag gives a string; None if it is invalid.

    Also returns its length in the text, and whether it was mended: ``en_GB`` is the name of a
    locale, whose language is ``en-gb``.
    """
    found = _LANGUAGE.match(token)
    if found is None:
        return None
    end = found.end(2) if found[2] else found.end(1)
    if token[end:].strip(b".") and b":" not in token[end:]:
        return None
    tag, mended = language_tag(found[1].decode())
    return (b"@" + tag.encode() + (found[2] or b""), end, mended) if tag else None


_READ = 1 << 20
_MOST_REMEMBERED = 1 << 12


class Window:
    """The text of a document, or the part of it that is in memory.

    Positions are bytes from the beginning of the document, :attr:`start` an index of :attr:`data`.
    """

    def __init__(self, text: bytes, file: Readable | None = None) -> None:
        """See ``text``, and what ``file`` gives after it."""
        self.data = text
        #: position of the first byte of :attr:`data`
        self.base = 0
        #: index of the first byte that is not yet read
        self.start = 0
        #: whether :attr:`data` reaches to the end of the document
        self.ended = file is None
        self._file = file
        #: number of the first line of :attr:`data`, and characters of that line before it
        self._line, self._columns = 1, 0
        self._line_starts: npt.NDArray[np.intp] | None = None
        self._last = (-1, 0, 0)
        self._remembered: dict[int, tuple[int, int]] = {}

    def more(self, kept: int) -> None:
        """Read on, at least as much as there is, and forget what is before the index ``kept``."""
        if self._file is None:
            return
        pieces: list[bytes] = []
        wanted = max(_READ, len(self.data) - kept)
        while wanted > 0:
            piece = self._file.read(wanted)
            if not piece:
                self.ended, self._file = True, None
                break
            pieces.append(piece)
            wanted -= len(piece)
        if kept:
            line, column = self.position(self.base + kept)
            self._line, self._columns = line, column - 1
            self.base += kept
        self.data = b"".join([self.data[kept:], *pieces])
        self.start = max(self.start - kept, 0)
        self._line_starts = None
        self._last = (-1, 0, 0)

    def remember(self, place: int) -> None:
        """Keep the line and column of a position for when its text is forgotten."""
        if not self.ended:
            if len(self._remembered) >= _MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[place] = self.position(place)

    def position(self, place: int) -> tuple[int, int]:
        """Return line and column, both from 1, of a position, or of the nearest one in memory."""
        at = place - self.base
        if at < 0:
            if place in self._remembered:
                return self._remembered[place]
            at = 0
        if self._line_starts is None:
            octets = np.frombuffer(self.data, np.uint8)
            returns = octets == ord("\r")
            returns[:-1] &= octets[1:] != ord("\n")
            self._line_starts = np.flatnonzero((octets == ord("\n")) | returns) + 1
        number = int(np.searchsorted(self._line_starts, at, side="right"))
        begin = int(self._line_starts[number - 1]) if number else 0
        columns = 0 if number else self._columns
        if self._last[0] == number and self._last[1] <= at:
            begin, columns = self._last[1:]
        columns += len(self.data[begin:at].decode("utf-8", "replace"))
        self._last = (number, at, columns)
        return self._line + number, columns + 1
