"""The encoding of a body, and its text: one way of decoding for links, data and texts.

Evidence for an encoding, in order:

1. a byte-order mark, then the zero bytes of UTF-16 and UTF-32;
2. declarations: the ``charset`` of the header, then the body's own, which is a page's ``meta``
   element, or an XML declaration. One of UTF-16 or UTF-32 without zero bytes is false;
3. without a declaration, UTF-8 if the bytes are, or mostly are; else Windows-1252.

The bytes may contradict a declaration (:func:`find_encoding` states when). Labels mean what they
mean to browsers (:mod:`semcrawl.web.legacycodecs`): ``iso-8859-1`` is Windows-1252, ``gb2312`` is
GBK.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from semcrawl.web._metaprescan import declared_charsets
from semcrawl.web.legacycodecs import Charset, charset_named
from semcrawl.web.mediatypes import charset_of, media_type

#: bytes to examine for zeros, which reveal UTF-16 and UTF-32 without a byte-order mark
_HEAD = 64
#: byte-order marks, the longer ones first
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKS = tuple(mark for mark, _ in _BYTE_ORDER_MARKS)
#: least share of zeros where a wide encoding has them, and greatest share where it has none
_MANY = 0.4
_FEW = 0.1
_XML_DECLARATION = re.compile(
    rb"""\A\s*<\?xml\b[^>]{0,200}?(\sencoding\s*=\s*["']([A-Za-z][\w.:-]*)["'])"""
)
_WIDE = ("utf-16", "utf-32")
#: encodings whose bytes may all be ASCII
_WITHOUT_HIGH_BYTES = frozenset({"iso-2022-jp", "hz", "iso2022_kr"})
#: encodings of Latin letters, in which a letter with an accent hardly ever precedes a sign
_LATIN = frozenset(
    {
        "windows-1250", "windows-1252", "windows-1254", "windows-1257", "windows-1258",
        "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-10", "iso-8859-13", "iso-8859-14",
        "iso-8859-15", "iso-8859-16", "macintosh",
    }
)  # fmt: skip
_SEVERAL_BYTES = frozenset(
    {"gbk", "gb18030", "big5", "euc-jp", "euc-kr", "shift_jis", "iso-2022-jp"}
)
#: continuation bytes of UTF-8 beside which a declaration of another encoding is false: for Latin
#: letters, other encodings of one byte, and those of several
_PROOF_LATIN, _PROOF_SINGLE, _PROOF_SEVERAL = 2, 6, 16


#: evidence of a body that has been looked at: all of it is UTF-8, but that it may be cut off
_ASCII, _VALID = "plain ASCII", "valid UTF-8"
#: bytes that are decoded at once to see whether they are UTF-8
_DECODED = 1 << 16
#: the evidence for Windows-1252 where nothing is declared
NOT_UTF8 = "not UTF-8"


class Form(Enum):
    """What kind of text a body is, which says where it may declare its encoding."""

    PAGE = "page"  #: HTML: in ``meta`` elements, or an XML declaration
    XML = "XML"  #: in an XML declaration
    TEXT = "text"  #: nowhere: Turtle, JSON and the like are UTF-8 by definition


@dataclass(frozen=True, slots=True)
class Encoding:
    """The encoding of a body: what it is, length of its byte-order mark, evidence."""

    charset: Charset
    bom: int
    evidence: str

    @property
    def name(self) -> str:
        """The name of the encoding."""
        return self.charset.name

    @property
    def is_utf8(self) -> bool:
        """Whether the body is in UTF-8."""
        return self.charset.name == "utf-8"


@dataclass(frozen=True, slots=True)
class Utf8Text:
    """A body in UTF-8, without a byte-order mark."""

    data: bytes
    encoding: Encoding
    #: places where bytes that mean nothing became U+FFFD
    replaced: int = 0


def _charset(name: str) -> Charset:
    found = charset_named(name)
    assert found is not None, name  # noqa: S101 - Python has all that are named here
    return found


UTF8 = _charset("utf-8")
WINDOWS_1252 = _charset("windows-1252")


def is_utf8(data: bytes, *, whole: bool = False) -> bool:
    """Whether ``data`` is UTF-8. Unless it is ``whole``, its last character may be cut off."""
    return data.isascii() or _continuations(data, whole=whole) >= 0


def _continuations(data: bytes, *, whole: bool = False) -> int:
    """Count the continuation bytes of UTF-8; negative if ``data`` is not UTF-8."""
    found = start = 0
    view = memoryview(data)
    try:
        while start < len(data):  # pieces stay in the processor's cache
            end = start + _DECODED
            text, used = codecs.utf_8_decode(view[start:end], "strict", whole and end >= len(data))
            found += used - len(text)
            start += used
            if not used or end >= len(data):
                break
    except UnicodeDecodeError:
        return -1
    return found


def wide_encoding(body: bytes) -> str:
    """Detect UTF-16 or UTF-32 by the positions of zero bytes; ``""`` if a body is in neither.

    A position with some zeros, but not many, rules both out.
    """
    head = body[:_HEAD]
    if 0 not in head or len(head) < 4:
        return ""
    places = [head[start::4] for start in range(4)]
    shares = [place.count(0) / len(place) for place in places]
    if any(_FEW < share < _MANY for share in shares):
        return ""
    one, two, three, four = (share >= _MANY for share in shares)
    return {
        (False, True, True, True): "utf-32-le",
        (True, True, True, False): "utf-32-be",
        (False, True, False, True): "utf-16-le",
        (True, False, True, False): "utf-16-be",
    }.get((one, two, three, four), "")


def marked_encoding(body: bytes) -> Encoding | None:
    """Return the encoding of a body by its byte-order mark or its zero bytes, if it has any."""
    if body.startswith(_MARKS):
        mark, name = next(bom for bom in _BYTE_ORDER_MARKS if body.startswith(bom[0]))
        return Encoding(_charset(name), len(mark), "byte-order mark")
    if wide := wide_encoding(body):
        return Encoding(_charset(wide), 0, "zero bytes")
    return None


def find_encoding(body: bytes, content_type: str | None = None, form: Form = Form.TEXT) -> Encoding:
    """Return the encoding of ``body``. Its first kilobytes suffice; all of it is safer.

    The bytes contradict a declaration in these cases:

    - they are valid UTF-8, and another declaration says so, or the text is UTF-8 by definition;
    - they are valid UTF-8 with so many characters beyond ASCII that it is no accident, or the
      encoding declared does not have them;
    - UTF-8 is declared, most characters beyond ASCII are not valid UTF-8, and another declaration
      names another encoding.
    """
    if found := marked_encoding(body):
        return found
    # the marks of encodings whose bytes may all be ASCII; one byte is found in a tenth of the time
    shifts = b"\x1b" in body or (b"~" in body and b"~{" in body)
    if not shifts and body.isascii():
        return Encoding(UTF8, 0, _ASCII)
    proof = _continuations(body)
    if proof >= _PROOF_SEVERAL and not shifts:
        return Encoding(UTF8, 0, _VALID)
    declared = list(_declared(body, content_type, form))
    if shifts and declared and declared[0][0].name in _WITHOUT_HIGH_BYTES:
        return Encoding(declared[0][0], 0, declared[0][1])
    if body.isascii():
        return Encoding(UTF8, 0, _ASCII)
    if proof >= 0:
        return _of_valid_utf8(body, proof, declared, form)
    others = [(charset, source) for charset, source in declared if charset != UTF8]
    if others and (len(others) == len(declared) or not _is_mostly_utf8(body)):
        charset, source = others[0]
        return Encoding(charset, 0, source)
    if declared or _is_mostly_utf8(body):
        return Encoding(UTF8, 0, "mostly UTF-8" if not declared else declared[0][1])
    return Encoding(WINDOWS_1252, 0, NOT_UTF8)


def _of_valid_utf8(
    body: bytes, proof: int, declared: list[tuple[Charset, str]], form: Form
) -> Encoding:
    """Return the encoding of a body that is valid UTF-8."""
    by_definition = not declared or form is Form.TEXT
    if by_definition or any(charset == UTF8 for charset, _ in declared):
        return Encoding(UTF8, 0, _VALID)
    charset, source = declared[0]
    enough = (
        _PROOF_LATIN if charset.name in _LATIN
        else _PROOF_SEVERAL if charset.name in _SEVERAL_BYTES
        else _PROOF_SINGLE
    )  # fmt: skip
    if proof >= enough or not charset.is_valid(body):
        return Encoding(UTF8, 0, "valid UTF-8 against its declaration")
    return Encoding(charset, 0, source)


def _declared(body: bytes, content_type: str | None, form: Form) -> Iterator[tuple[Charset, str]]:
    """Yield the credible encodings that a header and a body declare, with the place of each."""
    named = charset_named(charset_of(content_type))
    if named and not named.name.startswith(_WIDE):
        yield named, "header"
    # an XML declaration counts in whatever is not known to be a page
    xml = _XML_DECLARATION.match(body)
    own = (charset_named(xml[2].decode("ascii")), "XML declaration") if xml else (None, "")
    first = form is Form.XML or "xml" in media_type(content_type)
    if own[0] and (first or form is Form.TEXT):
        yield _readable(own[0]), own[1]
    if form is Form.PAGE:
        found = next(filter(None, map(charset_named, declared_charsets(body))), None)
        if found:
            yield WINDOWS_1252 if found.name == "x-user-defined" else _readable(found), "meta"
        if own[0] and not first:
            yield _readable(own[0]), own[1]


def _readable(charset: Charset) -> Charset:
    """Return UTF-8 for a wide encoding: a declaration that reads byte by byte is in none."""
    return UTF8 if charset.name.startswith(_WIDE) else charset


def _is_mostly_utf8(body: bytes) -> bool:
    """Whether at least half of the characters beyond ASCII are valid UTF-8."""
    text = body.decode("utf-8", "replace")
    invalid = text.count("\ufffd")
    return len(text) - len(text.encode("ascii", "ignore")) - invalid >= invalid


def to_utf8(
    body: bytes, content_type: str | None = None, form: Form = Form.TEXT, *, whole: bool = True
) -> Utf8Text:
    """Return ``body`` in UTF-8 without a byte-order mark, and the encoding it had.

    Bytes that mean nothing become U+FFFD. The ``encoding`` of an XML declaration is removed, as it
    no longer holds. If the body is not ``whole``, its last character may be cut off.
    """
    encoding = find_encoding(body, content_type, form)
    data, replaced = body[encoding.bom :], 0
    if not encoding.is_utf8:
        text = encoding.charset.decoder().decode(data, whole)
        replaced = text.count("\ufffd")
        data = text.encode("utf-8", "replace").removeprefix(codecs.BOM_UTF8)
    elif not (encoding.evidence in (_ASCII, _VALID) and data[-1:].isascii()) and not is_utf8(
        data, whole=whole
    ):
        text = UTF8.decoder().decode(data, whole)
        replaced = text.count("\ufffd") - data.count("\ufffd".encode())
        data = text.encode()
    return Utf8Text(without_declaration(data), encoding, replaced)


def without_declaration(data: bytes) -> bytes:
    """Remove the encoding of an XML declaration from what has become UTF-8."""
    declared = _XML_DECLARATION.match(data)
    if declared and declared[2].lower() not in (b"utf-8", b"utf8"):
        return data[: declared.start(1)] + data[declared.end(1) :]
    return data


def text_of(data: bytes) -> str:
    r"""Decode a user's text file in UTF-8, UTF-16 or UTF-32, with or without a byte-order mark.

    >>> text_of("a\n".encode("utf-16"))
    'a\n'
    """
    encoding = marked_encoding(data)
    charset = encoding.charset if encoding else UTF8
    return charset.decode(data[encoding.bom if encoding else 0 :])
