"""Parses HTML pages into trees, whatever their encoding, markup or depth."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree
from w3lib.encoding import (
    html_body_declared_encoding,
    html_to_unicode,
    http_content_type_encoding,
    read_bom,
)

from semcrawl.links.largetree import parse_large
from semcrawl.web.charsets import is_text_encoding, is_utf8, wide_encoding
from semcrawl.web.htmltree import is_empty, with_rest

_WIDE = re.compile(r"utf[-_]?(?:16|32)|ucs", re.I)
#: size in bytes above which :mod:`~semcrawl.links.largetree` builds the tree instead of libxml2
_LARGE = 65_536


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a page."""

    #: an element of lxml or of :mod:`semcrawl.links.largetree`; ``None`` when there is none
    root: Any
    encoding: str
    #: why the page was not read to its end; empty if it was
    fault: str = ""


def parse_html(body: bytes, content_type: str | None) -> Parsed:
    """Decode a page as browsers do, and parse it."""
    data, encoding = to_utf8(body, content_type)
    root, fault = _parse(data)
    return Parsed(root, encoding, fault)


def _parse(data: bytes) -> tuple[Any, str]:
    """Parse a page in UTF-8; return its root, and why it was not read to its end."""
    if len(data) > _LARGE:
        return parse_large(data)
    parser = etree.HTMLParser(encoding="utf-8", recover=True, huge_tree=True)
    try:
        root = with_rest(etree.fromstring(data, parser))
    except (etree.LxmlError, ValueError, AssertionError) as error:
        return (None, "") if is_empty(error) else parse_large(data)
    # libxml2 stops at some 2,000 levels of nesting, and keeps the part before
    last = parser.error_log.last_error
    if last is not None and last.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        return parse_large(data)
    return root, ""


def to_utf8(body: bytes, content_type: str | None = None) -> tuple[bytes, str]:
    """Return a page as UTF-8 without NUL characters, and its original encoding.

    A byte-order mark decides first, then the zero bytes of UTF-16 and UTF-32. A body that is valid
    UTF-8 is UTF-8 whatever is declared; one that is not ignores declarations of UTF-8, UTF-16 and
    UTF-32. Other declarations follow, the header's before the page's. Without one it is
    Windows-1252, unless most of its letters are valid UTF-8.
    """
    if read_bom(body) == (None, None):
        wide = wide_encoding(body)
        if wide:
            text = body.decode(wide, "replace")
            return text.replace("\x00", "").encode("utf-8", "replace"), wide
        if b"\x1b" not in body and is_utf8(body):  # not ISO-2022-JP
            return body.replace(b"\x00", b""), "utf-8"
        declared = http_content_type_encoding(content_type)
        if declared == "utf-8":  # perhaps a server's default for all its pages
            content_type = declared = None
        declared = declared or html_body_declared_encoding(body)
        if declared and (declared == "utf-8" or _WIDE.match(declared)):
            guess = _guess(body)
            return body.decode(guess, "replace").replace("\x00", "").encode(), guess
    encoding, text = _decode(body, content_type)
    return text.replace("\x00", "").encode("utf-8", "replace"), encoding


def _decode(body: bytes, content_type: str | None) -> tuple[str, str]:
    """Decode a page by its byte-order mark or those declarations that name text encodings.

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


def _guess(body: bytes) -> str:
    """Return the likelier encoding of a body that declares none."""
    text = body.decode("utf-8", "replace")
    invalid = text.count("\ufffd")
    letters = len(text) - len(text.encode("ascii", "ignore")) - invalid
    return "utf-8" if letters >= invalid else "cp1252"
