"""Trees of pages that libxml2's own tree would be too dear for, or would break off in.

libxml2 takes time in proportion to the square of an element's attributes, and stops where elements
are nested some 2,000 deep. Its parser does neither when somebody else builds the tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lxml import etree

from semcrawl.web.htmltree import is_empty

#: depth of a tree
_MAX_DEPTH = 500
#: elements of a page; later ones are not read (one takes some 400 bytes)
_MAX_ELEMENTS = 250_000
#: attributes from which scripts load an image later
LAZY = (
    "data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src", "data-full",
    "data-large", "data-image", "data-url",
)  # fmt: skip
#: the attributes that links and images are read from
_ATTRIBUTES = (
    "href", "src", "id", "class", "title", "type", "rel", "alt", "aria-label", "http-equiv",
    "content", "lang", "srcset", "data-srcset", "data-lazy-srcset", "width", "height", "property",
    "name", "poster", "data", "style", "background", "data-bg", "data-background-image",
    "aria-describedby", "aria-labelledby", "xlink:href", *LAZY,
)  # fmt: skip
#: elements that keep their content to themselves wherever they stand
_KEPT = frozenset({"a", "area", "link", "iframe", "frame", "meta", "base", "script", "style"})
_NO_ATTRIBUTES: Mapping[str, str] = {}


class Element:
    """An element or a comment (with ``None`` as its tag), its parts named as lxml names them.

    lxml's own elements take only names and texts that XML allows. Pages have others, too:
    ``<o:p>``, ``<http://example.org/>``, control characters.
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
        # (most have none, and there may be many)
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
        """Return the element that this one is in."""
        return self._parent

    def iter(self, *tags: str) -> Iterator[Element]:
        """Yield this element and all in it that have one of these tags, in document order."""
        wanted = frozenset(tags)
        stack = [self]
        while stack:
            element = stack.pop()
            if element.tag in wanted:
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
    """Parse a page (UTF-8) in time that is proportional to its size, however it is made.

    Returns the root, ``None`` when there is no element, and what kept the page from being read to
    its end, if anything did.
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
    """The tree has as many elements as it may have."""


def _feed(data: bytes, parser: etree.HTMLParser) -> None:
    etree.fromstring(data, parser)


class _Tree:
    """Builds a tree of bounded depth, with the attributes of links, from the parser's events.

    Below the bound an element is ended where it begins, so that what is inside follows it.
    Elements that make links keep their texts. The root ends with the page: what stands behind
    ``</html>``, of which libxml2 makes a further root, is in it.
    """

    def __init__(self) -> None:
        self.root: Element | None = None
        #: the open elements of the tree
        self._open: list[Element] = []
        #: the element before the next text; ``None`` at the beginning of an open one
        self._before: Element | None = None
        self._texts: list[str] = []
        self._elements = 0
        #: the open elements below the bound, and whether each is open in the tree too
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
        """Take in text."""
        self._texts.append(text)

    def comment(self, _text: str) -> None:
        """Take in a comment: it parts words."""
        if self._open:
            self._add(None, _NO_ATTRIBUTES)

    def pi(self, _target: str, _data: str | None = None) -> None:
        """Take in a processing instruction: it parts words, too."""
        self.comment("")

    def close(self) -> Any:
        """Return the root; ``None`` when there is no element."""
        self._take_text()
        return self.root

    def _add(self, tag: str | None, attributes: Mapping[str, str]) -> Element:
        self._take_text()
        element = Element(tag, attributes, self._open[-1] if self._open else None)
        if self.root is None:
            self.root = element
        self._before = element
        return element

    def _leave(self) -> None:
        self._take_text()
        self._before = self._open.pop()

    def _take_text(self) -> None:
        """Put the text since the last element began or ended where it stands."""
        if not self._texts:
            return
        text = "".join(self._texts)
        self._texts.clear()
        if self._before is not None and self._before is not self.root:
            self._before.tail = text
        elif self._open:
            self._open[-1].text = text
