"""The encodings of the Web, decoded as browsers decode them (WHATWG Encoding Standard).

The labels are those of ``webencodings``, the codecs are Python's. Python's differ from the standard
in bytes that they do not know, in what they skip after an error, and in a few signs; the error
handlers and tables here make up for that. What remains different is listed in the tests.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Protocol

import webencodings

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
