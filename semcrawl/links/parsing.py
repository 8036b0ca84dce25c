"""Bodies of HTML pages to trees, whatever their encoding, markup or depth."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from typing import Any

from lxml import etree
from w3lib.encoding import (
    html_body_declared_encoding,
    html_to_unicode,
    http_content_type_encoding,
    read_bom,
)

from semcrawl.charsets import is_text_encoding
from semcrawl.htmltree import with_rest

#: bytes whose zeros tell UTF-16 and UTF-32 without a byte-order mark
_HEAD = 64
#: share of zeros, at the places where a wide encoding has them, that gives it away
_MANY = 0.4
_WIDE = re.compile(r"utf[-_]?(?:16|32)|ucs", re.I)
#: bytes above which the tree is built by :class:`_BoundedTree`: libxml2's own takes time in
#: proportion to the square of an element's attributes
_LARGE = 65_536
#: depth of a :class:`_BoundedTree`
_MAX_DEPTH = 500
#: elements of it; what comes later is not looked at
_MAX_ELEMENTS = 1_000_000
#: the attributes that links are read from
_ATTRIBUTES = (
    "href", "src", "id", "class", "title", "type", "rel", "alt", "aria-label", "http-equiv",
    "content",
)  # fmt: skip
#: elements that keep their content to themselves wherever they stand
_KEPT = frozenset({"a", "area", "link", "iframe", "frame", "meta", "base", "script", "style"})


def parse_html(body: bytes, content_type: str | None) -> tuple[Any, str]:
    """Parse a page as browsers would decode it, and tell the encoding it was in.

    The root of the tree is ``None`` when there is no element in the page.
    """
    data, encoding = to_utf8(body, content_type)
    return _parse(data), encoding


def _parse(data: bytes) -> Any:
    """Parse a page in UTF-8."""
    if len(data) > _LARGE:
        return _parse_bounded(data)
    parser = etree.HTMLParser(encoding="utf-8", recover=True, huge_tree=True)
    try:
        root = with_rest(etree.fromstring(data, parser))
    except (etree.LxmlError, ValueError, AssertionError):
        root = None
    # libxml2 stops where elements are nested some 2,000 deep and keeps what stands before
    last = parser.error_log.last_error
    if last is not None and last.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        return _parse_bounded(data)
    return root


def to_utf8(body: bytes, content_type: str | None = None) -> tuple[bytes, str]:
    """Return a page in UTF-8, without NUL bytes, and the encoding it was in.

    A byte-order mark counts most, then the zero bytes of UTF-16 and UTF-32; a body that is valid
    UTF-8 is UTF-8 whatever is declared, and one that is not is in nothing that says so. Then come
    the declarations, in the header and in the page; without one it is Windows-1252, unless most of
    it is UTF-8.
    """
    if read_bom(body) == (None, None):
        wide = _wide_encoding(body[:_HEAD])
        if wide:
            text = body.decode(wide, "replace")
            return text.replace("\x00", "").encode("utf-8", "replace"), wide
        if b"\x1b" not in body and (body.isascii() or _is_utf8(body)):  # no ISO-2022-JP
            return body.replace(b"\x00", b""), "utf-8"
        declared = http_content_type_encoding(content_type)
        if declared == "utf-8":  # said of all its pages by a server, perhaps
            content_type = declared = None
        declared = declared or html_body_declared_encoding(body)
        if declared and (declared == "utf-8" or _WIDE.match(declared)):
            guess = _guess(body)
            return body.decode(guess, "replace").replace("\x00", "").encode(), guess
    encoding, text = _decode(body, content_type)
    return text.replace("\x00", "").encode("utf-8", "replace"), encoding


def _decode(body: bytes, content_type: str | None) -> tuple[str, str]:
    """Decode a page by its mark or its declarations, as far as these name encodings of texts.

    Returns the encoding and the text.
    """
    declared = http_content_type_encoding(content_type)
    if declared and not is_text_encoding(declared):
        content_type = declared = None
    if not declared and read_bom(body) == (None, None):
        declared = html_body_declared_encoding(body)
        if declared and not is_text_encoding(declared):
            guess = _guess(body)
            return guess, body.decode(guess, "replace")
    return html_to_unicode(content_type, body, auto_detect_fun=_guess)


def _wide_encoding(head: bytes) -> str:
    """Tell UTF-16 or UTF-32 by where the zero bytes of markup are; ``""`` if it is neither."""
    places = [head[start::4] for start in range(4)]
    if not places[3]:
        return ""
    one, two, three, four = (place.count(0) >= _MANY * len(place) for place in places)
    return {
        (False, True, True, True): "utf-32-le",
        (True, True, True, False): "utf-32-be",
        (False, True, False, True): "utf-16-le",
        (True, False, True, False): "utf-16-be",
    }.get((one, two, three, four), "")


def _is_utf8(body: bytes) -> bool:
    """Whether a body is UTF-8; a character cut off at the end is forgiven."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return False
    return True


def _guess(body: bytes) -> str:
    """Return the likelier encoding of a body that declares none."""
    text = body.decode("utf-8", "replace")
    odd = text.count("\ufffd")
    letters = len(text) - len(text.encode("ascii", "ignore")) - odd
    return "utf-8" if letters >= odd else "cp1252"


def _parse_bounded(data: bytes) -> Any:
    """Parse a page in time that is proportional to its size, however it is made."""
    parser = etree.HTMLParser(encoding="utf-8", recover=True, huge_tree=True, target=_BoundedTree())
    try:
        return etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None


class _BoundedTree:
    """Builds a tree of bounded depth, with the attributes of links, from the parser's events.

    Below the bound an element is ended where it begins, so that what is inside follows it.
    Elements that make links keep their texts. The root ends with the page: what stands behind
    ``</html>``, of which libxml2 makes a further root, is in it.
    """

    def __init__(self) -> None:
        self._builder = etree.TreeBuilder()
        self._depth = 0
        self._elements = 0
        #: tags of the open elements below the bound, and whether each is open in the tree too
        self._deep: list[tuple[str, bool]] = []
        self._kept = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if tag == "html" and self._depth:
            return
        self._elements += 1
        if self._elements > _MAX_ELEMENTS:
            self._deep.append((tag, False))
            return
        if attributes:
            attributes = {name: attributes[name] for name in _ATTRIBUTES if name in attributes}
        if self._depth < _MAX_DEPTH and not self._deep:
            self._depth += 1
            self._builder.start(tag, attributes)
            return
        kept = tag in _KEPT and not self._kept
        self._deep.append((tag, kept))
        self._kept += kept
        self._builder.start(tag, attributes)
        if not kept:
            self._builder.end(tag)

    def end(self, tag: str) -> None:
        """End an element."""
        if tag == "html":
            return
        if not self._deep:
            self._depth -= 1
            self._builder.end(tag)
            return
        name, kept = self._deep.pop()
        if kept:
            self._kept -= 1
            self._builder.end(name)

    def data(self, text: str) -> None:
        """Take in text."""
        self._builder.data(text)

    def comment(self, text: str) -> None:
        """Take in a comment: it parts words."""
        self._builder.comment("")

    def close(self) -> Any:
        """Return the root; ``None`` when there is no element."""
        if not self._elements:
            return None
        self._builder.end("html")
        return self._builder.close()
