"""Trees of pages: parsed by lxml, within bounds, large ones piece by piece.

Builds trees of pages that are too large or too deep for libxml2's own tree.
libxml2's tree takes time quadratic in the number of an element's attributes, and stops at some
2,000 levels of nesting. Its parser has neither fault when it feeds another tree builder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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


#: most levels of a tree
_MAX_DEPTH = 500
#: most elements read of a page; each takes some 400 bytes
_MAX_ELEMENTS = 250_000
#: attributes that name an image which a script loads later
LAZY = (
    "data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src", "data-full",
    "data-large", "data-image", "data-url",
)  # fmt: skip
#: the attributes that links and images are read from
_ATTRIBUTES = (
    "href", "src", "id", "class", "title", "type", "rel", "alt", "aria-label", "http-equiv",
    "content", "lang", "srcset", "data-srcset", "data-lazy-srcset", "width", "height", "property",
    "name", "poster", "data", "style", "background", "data-bg", "data-background-image",
    "aria-describedby", "aria-labelledby", "role", "xlink:href", *LAZY,
)  # fmt: skip
#: elements that keep their content even below the greatest depth
_KEPT = frozenset(
    {"a", "area", "link", "iframe", "frame", "object", "embed", "meta", "base", "script", "style"}
)
_NO_ATTRIBUTES: Mapping[str, str] = {}


class Element:
    """An element, or a comment (tag ``None``), with the interface of lxml's elements.

    lxml's own elements accept only the names and texts of XML. Pages hold others, such as
    ``<o:p>``, ``<http://example.org/>`` and control characters.
    """

    __slots__ = ("_children", "_parent", "attrib", "tag", "tail", "text")

    def __init__(
        self, tag: str | None, attrib: Mapping[str, str], parent: Element | None = None
    ) -> None:
        """Put a new element at the end of its parent."""
        self.tag = tag
        self.attrib = attrib
        self.text: str | None = None
        self.tail: str | None = None
        self._parent = parent
        # no list per element: most have no children
        self._children: list[Element] | None = None
        if parent is None:
            return
        if parent._children is None:
            parent._children = [self]
        else:
            parent._children.append(self)

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return the value of an attribute."""
        return self.attrib.get(name, default)

    def getparent(self) -> Element | None:
        """Return the parent element."""
        return self._parent

    def iter(self, *tags: str) -> Iterator[Element]:
        """Yield this element and its descendants, if they have one of the tags (none: any)."""
        wanted = frozenset(tags)
        stack = [self]
        while stack:
            element = stack.pop()
            if not wanted or element.tag in wanted:
                yield element
            if element._children:
                stack.extend(reversed(element._children))

    def __len__(self) -> int:
        return len(self._children or ())

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, place: int) -> Element:
        return (self._children or ())[place]


def parse_large(data: bytes) -> tuple[Element | None, str]:
    """Parse a page (UTF-8) in time proportional to its size.

    Returns the root (``None`` when there is no element), and why the page was not read to its end
    (empty if it was).
    """
    tree = _Tree()
    parser = etree.HTMLParser(encoding="utf-8", recover=True, huge_tree=True, target=tree)
    try:
        _feed(data, parser)
    except _FullError as full:
        return tree.close(), str(full)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        if tree.root is None and is_empty(error):
            return None, ""
        return tree.close(), f"the page is not read to its end: {error}"
    return tree.root, ""


class _FullError(Exception):
    """The tree has reached its limit of elements."""


def _feed(data: bytes, parser: etree.HTMLParser) -> None:
    etree.fromstring(data, parser)


class _Tree:
    """Builds a tree of bounded depth from the parser's events, with the attributes of links.

    Below the greatest depth an element closes where it opens, so its content becomes its sibling;
    elements of links keep theirs. Content behind ``</html>``, which libxml2 puts into a second
    root, stays in the first.
    """

    def __init__(self) -> None:
        self.root: Element | None = None
        #: the open elements, outermost first
        self._open: list[Element] = []
        #: the element that the next text follows; ``None`` at the start of an open one
        self._before: Element | None = None
        self._texts: list[str] = []
        self._elements = 0
        #: for each open element below the greatest depth, whether it is open in the tree too
        self._deep: list[bool] = []
        self._kept = False

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Begin an element."""
        if tag == "html" and self._open:
            return
        self._elements += 1
        if self._elements > _MAX_ELEMENTS:
            raise _FullError(f"only the first {_MAX_ELEMENTS:,} elements of the page are read")
        if attributes:
            attributes = {name: attributes[name] for name in _ATTRIBUTES if name in attributes}
        element = self._add(tag, attributes or _NO_ATTRIBUTES)
        if self._deep or len(self._open) >= _MAX_DEPTH:
            kept = tag in _KEPT and not self._kept
            self._deep.append(kept)
            self._kept = self._kept or kept
            if not kept:
                return
        self._open.append(element)
        self._before = None

    def end(self, tag: str) -> None:
        """End an element."""
        if tag == "html":
            return
        if self._deep:
            if self._deep.pop():
                self._kept = False
                self._leave()
        elif len(self._open) > 1:
            self._leave()

    def data(self, text: str) -> None:
        """Add text."""
        self._texts.append(text)

    def comment(self, _text: str) -> None:
        """Add a comment, as it separates words."""
        if self._open:
            self._add(None, _NO_ATTRIBUTES)

    def pi(self, _target: str, _data: str | None = None) -> None:
        """Add a processing instruction as a comment, as it separates words too."""
        self.comment("")

    def close(self) -> Any:
        """Flush pending text and return the root; ``None`` when there is no element."""
        self._flush_text()
        return self.root

    def _add(self, tag: str | None, attributes: Mapping[str, str]) -> Element:
        self._flush_text()
        element = Element(tag, attributes, self._open[-1] if self._open else None)
        if self.root is None:
            self.root = element
        self._before = element
        return element

    def _leave(self) -> None:
        self._flush_text()
        self._before = self._open.pop()

    def _flush_text(self) -> None:
        """Attach the text since the last tag to its element."""
        if not self._texts:
            return
        text = "".join(self._texts)
        self._texts.clear()
        if self._before is not None and self._before is not self.root:
            self._before.tail = text
        elif self._open:
            self._open[-1].text = text


#: size in bytes above which :mod:`~semcrawl.links.trees` builds the tree instead of libxml2
_LARGE = 65_536


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a page."""

    #: an element of lxml or of :mod:`semcrawl.links.trees`; ``None`` when there is none
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
