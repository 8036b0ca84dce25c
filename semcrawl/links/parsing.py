"""Parses HTML pages into trees, whatever their encoding, markup or depth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lxml import etree

from semcrawl.links.largetree import parse_large
from semcrawl.web.charsets import Form, to_utf8
from semcrawl.web.htmltree import is_empty, with_rest

#: size in bytes above which :mod:`~semcrawl.links.largetree` builds the tree instead of libxml2
_LARGE = 65_536


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a page."""

    #: an element of lxml or of :mod:`semcrawl.links.largetree`; ``None`` when there is none
    root: Any
    #: the name of its encoding
    encoding: str
    #: why the page was not read to its end; empty if it was
    fault: str = ""


def parse_html(body: bytes, content_type: str | None) -> Parsed:
    """Decode a page as browsers do, and parse it."""
    text = to_utf8(body, content_type, Form.PAGE)
    root, fault = _parse(text.data.replace(b"\x00", b""))
    return Parsed(root, text.encoding.name, fault)


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
