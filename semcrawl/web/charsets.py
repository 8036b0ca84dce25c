"""The encoding of a body, and its text: one way of decoding for links, data and texts.

Evidence for an encoding, in order:

1. a byte-order mark, then the zero bytes of UTF-16 and UTF-32;
2. declarations: the ``charset`` of the header, then the body's own, which is a page's ``meta``
   element, or an XML declaration. One of UTF-16 or UTF-32 without zero bytes is false;
3. without a declaration, UTF-8 if the bytes are, or mostly are; else Windows-1252.

The bytes may contradict a declaration (:func:`find_encoding` states when). Labels mean what they
mean to browsers (:mod:`semcrawl.web.charsets`): ``iso-8859-1`` is Windows-1252, ``gb2312`` is
GBK.

The encodings of the Web, decoded as browsers decode them (WHATWG Encoding Standard).
The labels are those of ``webencodings``, the codecs are Python's. Python's differ from the standard
in bytes that they do not know, in what they skip after an error, and in a few signs; the error
handlers and tables here make up for that. What remains different is listed in the tests.

Finds the encoding that a page's ``meta`` elements declare, before the page is parsed.
This is the prescan of the HTML Standard ("prescan a byte stream to determine its encoding"). It
looks at the first kilobyte, and as browsers do at the rest of the head.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache, partial
from typing import Protocol

import webencodings

from semcrawl.web.bodies import charset_of, media_type

#: codecs of Python that no document uses: its own notations, the platform's, those of host names,
#: of which ``punycode`` takes quadratic time, and UTF-7, which hides markup in plain text
_NOT_FOR_DOCUMENTS = frozenset(
    {
        "idna",
        "mbcs",
        "oem",
        "punycode",
        "raw-unicode-escape",
        "undefined",
        "unicode-escape",
        "utf-7",
    }
)
#: labels whose text browsers do not show, for fear of scripts, and which Python reads
_REFUSED_BY_BROWSERS = {
    "hz-gb-2312": "hz",
    "iso-2022-kr": "iso2022_kr",
    "csiso2022kr": "iso2022_kr",
}
#: encodings of the standard by the name of a codec that Python knows under further labels
_STANDARD_NAMES = {
    "ascii": "windows-1252",
    "iso8859-1": "windows-1252",
    "iso8859-9": "windows-1254",
    "iso8859-11": "windows-874",
    "tis-620": "windows-874",
    "gb2312": "gbk",
    "cp949": "euc-kr",
    "big5hkscs": "big5",
    "cp950": "big5",
    "cp932": "shift_jis",
    "shift_jis": "shift_jis",
    "euc_kr": "euc-kr",
    "euc_jp": "euc-jp",
    "mac-roman": "macintosh",
    "utf-8-sig": "utf-8",
}
#: codecs of Python that know more of an encoding than the one of its name
_WIDER_CODECS = {"gbk": "gb18030", "iso-2022-jp": "iso2022_jp_ext"}
#: Python would pass over further signs
_LABEL = re.compile(r"[a-z0-9_.:-]{1,60}")
_REPLACEMENT = "\ufffd"
_PADDING = b"\n\n\n\n"


class Decoder(Protocol):
    """Decodes a stream piece by piece."""

    def decode(self, data: bytes, final: bool = ...) -> str:
        """Return the characters that are complete."""


@dataclass(frozen=True, slots=True)
class Charset:
    """An encoding, by its name in the Encoding Standard, or else by its name in Python."""

    name: str
    _codec: codecs.CodecInfo = field(repr=False, compare=False)
    _errors: str = field(default="replace", repr=False, compare=False)
    #: signs of Python's codec, and those of the standard
    _signs: Mapping[int, str] = field(default_factory=dict, repr=False, compare=False)

    def decode(self, data: bytes) -> str:
        """Decode a whole text. Bytes that mean nothing become U+FFFD."""
        return self._signs_of_standard(self._codec.decode(data, self._errors)[0])

    def decoder(self) -> Decoder:
        """Return a new decoder for a stream."""
        factory = self._codec.incrementaldecoder
        assert factory is not None  # noqa: S101 - true of all codecs of texts
        padded = self.name in _NEVER_LEADS or self.name == "gb18030"
        return _StreamDecoder(factory(self._errors), self._signs_of_standard, padded=padded)

    def is_valid(self, data: bytes) -> bool:
        """Whether all bytes mean something. A character may be cut off at the end."""
        return _REPLACEMENT not in self.decoder().decode(data, False)

    def encode(self, text: str) -> bytes:
        """Encode a query of a URL; signs that the encoding lacks become numeric references."""
        for sign, standard in self._signs.items():
            text = text.replace(standard, chr(sign))
        return self._codec.encode(text, "xmlcharrefreplace")[0]

    def _signs_of_standard(self, text: str) -> str:
        return text.translate(self._signs) if self._signs else text


class _StreamDecoder:
    """Decodes with a codec of Python, then changes signs."""

    def __init__(
        self, decoder: codecs.IncrementalDecoder, finish: Callable[[str], str], *, padded: bool
    ) -> None:
        self._decoder = decoder
        self._finish = finish
        self._padded = padded

    def decode(self, data: bytes, final: bool = False) -> str:
        if final and self._padded:
            # a character cut off at the end: Python's decoder drops what it should read again
            text = self._decoder.decode(data + _PADDING, False)
            return self._finish(text[: -len(_PADDING)])
        return self._finish(self._decoder.decode(data, final))


@lru_cache(maxsize=512)
def charset_named(label: str) -> Charset | None:
    """Return the encoding that a label names; ``None`` for one that no document is in.

    Labels that browsers do not know may be Python's (``cp437``, ``utf-32``).

    >>> charset_named("latin1").name, charset_named("x-sjis").name, charset_named("punycode")
    ('windows-1252', 'shift_jis', None)
    """
    label = label.strip(" \t\r\n\f'\"").lower()
    if not _LABEL.fullmatch(label):
        return None
    if refused := _REFUSED_BY_BROWSERS.get(label):
        return Charset(refused, codecs.lookup(refused))
    found = webencodings.lookup(label)
    if found is None:
        try:
            codec = codecs.lookup(label)
        except (LookupError, ValueError):
            return None
        if not codec._is_text_encoding or codec.name.replace("_", "-") in _NOT_FOR_DOCUMENTS:
            return None
        found = webencodings.lookup(_STANDARD_NAMES.get(codec.name, codec.name))
        if found is None:
            return Charset(codec.name, codec)
    wider = _WIDER_CODECS.get(found.name)
    codec = codecs.lookup(wider) if wider else found.codec_info
    usual = "replace" if found.name.startswith("utf") else "semcrawl.single"
    errors = _ERRORS.get(found.name, usual)
    return Charset(found.name, codec, errors, _SIGNS.get(found.name, {}))


# -- signs
#: of two characters that Python's codec reads as one, one stays wrong: the slashes of Big5, and the
#: wide tilde of JIS X 0212
_SIGNS: dict[str, dict[int, str]] = {
    name: {ord(sign): standard for sign, standard in zip(*signs, strict=True)}
    for name, signs in {
        "big5": ("•､‾∼♁☉¥¢£", "‧﹑¯～⊕⊙￥￠￡"),
        "euc-jp": ("〜‖−¢£¬", "～∥－￠￡￢"),
        "koi8-u": ("╝╬", "ўЎ"),
        "shift_jis": ("\uf8f0\uf8f1\uf8f2\uf8f3", _REPLACEMENT * 4),
    }.items()
}
_SIGNS["iso-2022-jp"] = _SIGNS["euc-jp"]
_SIGNS["gbk"] = _SIGNS["gb18030"] = {
    # private characters, which Unicode has got since
    **{ord(sign): standard for sign, standard in zip(
        "\ue5e5\ue78d\ue78e\ue78f\ue790\ue791\ue792\ue793\ue794\ue795\ue796\ue7c7"
        "\ue81e\ue826\ue82b\ue82c\ue832\ue843\ue854\ue864",
        "\u3000\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16\ufe17\ufe18\ufe19\u1e3f"
        "\u9fb4\u9fb5\u9fb6\u9fb7\u9fb8\u9fb9\u9fba\u9fbb", strict=True,
    )},
}  # fmt: skip

# -- errors
#: characters of Big5 that Python's codec lacks: runs that begin at a code
_BIG5_RUNS = (
    "877a㡵𡵓𣚞𦀡㻬 87a1𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇"
    "垳䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋 8e69箸 8e6f簆 8e7e糎 8eab緒 8eb4縝 "
    "8ecd者 8ed0耨 8f57菁 8f69蒨 8f6e萏 8fcb覦覩 8ffe起 906d都 907a銹 90dc靜 90f1響 91bf鼖 9244蔃 "
    "92af兙兛兝兞 92c8鍮 92d1瑹 9447浧 94ca禛 95d9邗 9644靝 96ed瀞 96fc嬨 9b76爁 9b78矗 9b7b纇 "
    "9bc6駖 9bde釔 9bec惞 9bf6澶 9c42輶 9c53侻 9c62營 9c68鄄 9c6b鷰 9c77菏 9cbc尐秣 9cd0婧 9d57輋 "
    "9d5a筑 9dc4拐 9ea9恢 9eef痹 9efd汊 9f60鬮 9f66鼗 9fcb僭 9fd8弌 a063蠏 a077拎 a0d5瑨 a0df煢 "
    "a0e4牐 a3c0␀␁␂␃␄␅␆␇␈␉␊␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟␡€ "
    "c6cf廴 c6d3无 c6d5癶 c6d7隶 c6de〃仝 fa5f倩 fa66偽 fabd包 fac5卄 fad5卿 fb48嘅 fbb8婷 fbf3幵 "
    "fbf9廐 fc4f彘 fc6c悤 fcb9撐 fce2晴 fcf1杞 fdb7沜渝 fdbb港 fdf1煮 fe52猪 fe6f瑜 feaa瓩 fedd砉"
)  # fmt: skip
_BIG5 = {
    (int(run[:4], 16) + place).to_bytes(2): sign
    for run in _BIG5_RUNS.split()
    for place, sign in enumerate(run[4:])
}
#: the bytes that no character begins with, nor an error of several bytes
_NEVER_LEADS = {
    "gbk": b"\x80\xff",
    "big5": b"\x80\xff",
    "euc-kr": b"\x80\xff",
    "shift_jis": b"\x80\xa0" + bytes(range(0xA1, 0xE0)) + b"\xfd\xfe\xff",
    "euc-jp": bytes({*range(0x80, 0xA1), 0xFF} - {0x8E, 0x8F}),
}


def _single_byte(error: UnicodeError) -> tuple[str, int]:
    """Decode a byte that Python's codec does not know: control characters stay."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - called by decoders only
    byte = error.object[error.start]
    return chr(byte) if 0x80 <= byte < 0xA0 else _REPLACEMENT, error.start + 1


def _hebrew(error: UnicodeError) -> tuple[str, int]:
    """Decode a byte of Windows-1255 that Python's codec does not know."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - called by decoders only
    if error.object[error.start] == 0xCA:
        return "\u05ba", error.start + 1
    return _single_byte(error)


def _several_bytes(
    name: str, character: Callable[[bytes], str], error: UnicodeError
) -> tuple[str, int]:
    """Decode bytes that Python's codec does not know.

    ``character`` finds what the codec lacks. After an error an ASCII byte counts again, for it may
    be markup; a byte above does not.
    """
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - called by decoders only
    data, at = error.object, error.start
    lead = data[at : at + 1]
    if lead in _NEVER_LEADS[name]:
        return character(lead) or _REPLACEMENT, at + 1
    pair = data[at : at + 2]
    if sign := character(pair):
        return sign, at + 2
    if lead == b"\x8f" and name == "euc-jp" and b"\xa1" <= pair[1:] < b"\xff":
        pair = data[at : at + 3]
    return _REPLACEMENT, at + (len(pair) if pair[-1] >= 0x80 else len(pair) - 1)


def _of_big5(code: bytes) -> str:
    return _BIG5.get(code, "")


def _of_gb18030(code: bytes) -> str:
    return "€" if code == b"\x80" else ""


def _of_shift_jis(code: bytes) -> str:
    return "\x80" if code == b"\x80" else ""


def _of_euc_jp(code: bytes) -> str:
    """Return a character that NEC and IBM added to JIS X 0208, by way of Windows' Shift_JIS."""
    if len(code) < 2 or not (0xA1 <= code[0] < 0xFF and 0xA1 <= code[1] < 0xFF):
        return ""
    row, cell = divmod((code[0] - 0xA1) * 94 + code[1] - 0xA1, 188)
    lead = row + (0x81 if row < 31 else 0xC1)
    trail = cell + (0x40 if cell < 63 else 0x41)
    try:
        return bytes((lead, trail)).decode("cp932")
    except UnicodeDecodeError:
        return ""


def _iso_2022_jp(error: UnicodeError) -> tuple[str, int]:
    """Decode a pair of bytes that Python's codec of ISO-2022-JP does not know."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - called by decoders only
    code = error.object[error.start : error.start + 2]
    sign = _of_euc_jp(bytes(byte | 0x80 for byte in code)) if code.isascii() else ""
    return (sign, error.start + 2) if sign else (_REPLACEMENT, error.end)


def _gb18030(error: UnicodeError) -> tuple[str, int]:
    """Decode bytes that Python's codec of GB18030 does not know; a code has up to four."""
    assert isinstance(error, UnicodeDecodeError)  # noqa: S101 - called by decoders only
    data, at = error.object, error.start
    code = data[at : at + 4]
    if len(code) > 1 and 0x81 <= code[0] < 0xFF and 0x30 <= code[1] < 0x3A:
        whole = (not code[2:] or 0x81 <= code[2] < 0xFF) and (
            not code[3:] or 0x30 <= code[3] < 0x3A
        )
        return _REPLACEMENT, at + (len(code) if whole else 1)
    return _several_bytes("gbk", _of_gb18030, error)


def _none(_code: bytes) -> str:
    return ""


_ERRORS = {
    "gbk": "semcrawl.gb18030",
    "gb18030": "semcrawl.gb18030",
    "iso-2022-jp": "semcrawl.iso-2022-jp",
    "windows-1255": "semcrawl.hebrew",
}
codecs.register_error("semcrawl.single", _single_byte)
codecs.register_error("semcrawl.hebrew", _hebrew)
codecs.register_error("semcrawl.iso-2022-jp", _iso_2022_jp)
codecs.register_error("semcrawl.gb18030", _gb18030)
for _name, _character in (
    ("big5", _of_big5),
    ("euc-kr", _none),
    ("euc-jp", _of_euc_jp),
    ("shift_jis", _of_shift_jis),
):
    _ERRORS[_name] = f"semcrawl.{_name}"
    codecs.register_error(_ERRORS[_name], partial(_several_bytes, _name, _character))

#: bytes in which a declaration counts wherever it is; beyond, in the head only
_SURELY_READ = 1024
#: most bytes read
_MOST_READ = 65_536
_SPACE = rb"\t\n\f\r "
_META = re.compile(rb"<meta[/" + _SPACE + rb"]", re.I)
_TAG = re.compile(rb"</?([a-z][^>/" + _SPACE + rb"]*)", re.I)
_ATTRIBUTE = re.compile(
    rb"[/" + _SPACE + rb"]*([^>/" + _SPACE + rb"][^=>/" + _SPACE + rb"]*)"
    rb"(?:[" + _SPACE + rb"]*=[" + _SPACE + rb"]*"
    rb"""(?:"([^"]*)"|'([^']*)'|([^>"'""" + _SPACE + rb"][^>" + _SPACE + rb"]*)?))?"
)  # fmt: skip
#: ``charset=`` in the ``content`` of a pragma
_CHARSET = re.compile(
    rb"charset[" + _SPACE + rb"]*=[" + _SPACE + rb"]*"
    rb"""(?:"([^"]*)"|'([^']*)'|([^;"'""" + _SPACE + rb"][^;" + _SPACE + rb"]*))",
    re.I,
)  # fmt: skip


def declared_charsets(page: bytes) -> Iterator[str]:
    """Yield the labels that the ``meta`` elements of a page declare, in order.

    The first one that names an encoding is the page's. Comments and the attributes of other
    elements declare nothing.

    >>> list(declared_charsets(b"<!-- <meta charset=a> --><meta content='x' charset=big5>"))
    ['big5']
    """
    if b"charset" not in (page := page[:_MOST_READ]).lower():
        return
    at = 0
    while (at := page.find(b"<", at)) >= 0:
        if page.startswith(b"<!--", at):
            # the marks may share their dashes: <!-->
            at = _after(page, b"-->", at + 2)
        elif _META.match(page, at):
            attributes, at = _attributes(page, at + 5)
            if label := _label_of(attributes):
                yield label
        elif tag := _TAG.match(page, at):
            name = tag[1].lower()
            if at > _SURELY_READ and (name == b"body" or page.startswith(b"</head", at)):
                return
            _, at = _attributes(page, tag.end())
        elif page[at + 1 : at + 2] in (b"!", b"/", b"?"):
            at = _after(page, b">", at)
        else:
            at += 1


def _after(page: bytes, mark: bytes, at: int) -> int:
    """Return the place behind a mark; the page's end if it does not come."""
    found = page.find(mark, at)
    return len(page) if found < 0 else found + len(mark)


def _attributes(page: bytes, at: int) -> tuple[dict[bytes, bytes], int]:
    """Return the attributes of a tag, the first of each name, and the place behind the tag."""
    attributes: dict[bytes, bytes] = {}
    while found := _ATTRIBUTE.match(page, at):
        at = found.end()
        attributes.setdefault(found[1].lower(), found[2] or found[3] or found[4] or b"")
    return attributes, _after(page, b">", at)


def _label_of(attributes: dict[bytes, bytes]) -> str:
    """Return the label that a ``meta`` element declares; ``""`` if none."""
    if (charset := attributes.get(b"charset")) is not None:
        return charset.decode("latin-1").strip()
    if attributes.get(b"http-equiv", b"").strip().lower() != b"content-type":
        return ""
    found = _CHARSET.search(attributes.get(b"content", b""))
    return (found[1] or found[2] or found[3] or b"").decode("latin-1").strip() if found else ""


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
