"""Corrects the trees that libxml2 builds of HTML pages, and parses untrusted XML safely."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5
from typing import Any

from lxml import etree

from semcrawl.web.charsets import Form, to_utf8

#: a comment, a declaration or an instruction; a tag: the slash of an end tag, name, attributes
_TOKEN = re.compile(
    rb"<!--(?:-?>|.*?(?:--!?>|\Z))|<!\[CDATA\[.*?(?:\]\]>|\Z)|<[!?/](?![A-Za-z]|--)[^>]*+>?|<(/?)([A-Za-z][^\s/>]*+)"
    rb"((?:[^>=]++|=\s*+(?:\"[^\"]*+\"?|'[^']*+'?|[^\s>\"'][^\s>]*+)?+)*+)>?",
    re.DOTALL,
)
#: elements whose content has no tags (HTML, section 13.2.6.4)
_WITHOUT_TAGS = {
    name: re.compile(rb"</" + name + rb"(?=[\s/>])", re.IGNORECASE)
    for name in b"iframe noembed noframes script style textarea title xmp".split()
}
#: parts of XML in which nothing is a reference, and references by name
_REFERENCE = re.compile(
    rb"<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)|<\?.*?(?:\?>|\Z)|&([A-Za-z][A-Za-z0-9]*+);",
    re.DOTALL,
)
_ENTITY = re.compile(rb"<!ENTITY\s+([A-Za-z][A-Za-z0-9]*)\s")
_XML_NAMES = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
_ROOTS = re.compile(rb"<(html|body)[\s/]", re.IGNORECASE)


def tags(text: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the tags of a page: group 1 is ``/`` of an end tag, 2 the name, 3 the attributes.

    What looks like a tag in a comment or a script is none.
    """
    at = 0
    while (token := _TOKEN.search(text, at)) is not None:
        at = token.end()
        if token[2] is None:
            continue
        yield token
        ends = _WITHOUT_TAGS.get(token[2].lower()) if not token[1] else None
        if ends is not None and not token[3].endswith(b"/"):
            end = ends.search(text, at)
            at = end.start() if end else len(text)


def without_names(text: bytes) -> bytes:
    """Write references by HTML's names (``&nbsp;``) as numbers: XML knows five names only."""
    if b"&" not in text:
        return text
    declared = {*_XML_NAMES, *_ENTITY.findall(text)}

    def numbered(match: re.Match[bytes]) -> bytes:
        characters = html5.get((match[1] or b"").decode("ascii") + ";")
        if not characters or match[1] in declared:
            return match[0]
        return "".join(f"&#{ord(character)};" for character in characters).encode()

    return _REFERENCE.sub(numbered, text)


def with_lost_attributes(root: Any, text: bytes) -> Any:
    """Add the attributes of later ``html`` and ``body`` tags to these elements; return the root.

    A tag that comes late, behind something that began the element, adds its attributes all the same
    (HTML, section 13.2.6.4.7). libxml2 drops them.
    """
    elements = {b"html": root, b"body": root.find("body")}
    found = [name.lower() for name in _ROOTS.findall(text)]
    if all(found.count(name) <= bool(e is None or len(e.attrib)) for name, e in elements.items()):
        return root  # true of nearly all pages
    for tag in tags(text):
        element = elements.get(tag[2].lower()) if not tag[1] else None
        if element is None or not tag[3].strip():
            continue
        alone = etree.fromstring(b"<html" + tag[3] + b">", etree.HTMLParser(encoding="utf-8"))
        for name, value in alone.items():
            if name not in element.attrib:
                element.set(name, value)
    return root


def with_rest(root: Any) -> Any:
    """Move content behind ``</html>`` into the root of a page, and return the root.

    Browsers treat it as part of the page. libxml2 puts it into a second root, which a walk through
    the first does not reach. ``None``, for a page without an element, stays ``None``.
    """
    if root is not None:
        for later in list(root.itersiblings(etree.Element)):
            if len(root):
                root[-1].tail = (root[-1].tail or "") + (later.text or "")
            else:
                root.text = (root.text or "") + (later.text or "")
            root.extend(list(later))
    return root


def is_empty(error: Exception) -> bool:
    """Whether a parser's error only means that a page has no element."""
    return isinstance(error, etree.XMLSyntaxError) and error.code in (
        etree.ErrorTypes.ERR_DOCUMENT_EMPTY,
        None,
    )


def xml_tree(body: bytes, *, recover: bool = False) -> etree._Element:
    """Parse XML without resolving entities or reading DTDs.

    Raises ``ValueError`` for anything else, and for XML that declares a document type.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover,
        encoding="utf-8",
    )  # fmt: skip
    try:
        root = etree.fromstring(to_utf8(body, None, Form.XML).data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise ValueError(f"it is not XML: {str(error)[:200]}") from None
    if root is None:
        raise ValueError("it is not XML")
    if root.getroottree().docinfo.doctype:
        raise ValueError("it declares a document type (DOCTYPE) and is not read")
    return root
