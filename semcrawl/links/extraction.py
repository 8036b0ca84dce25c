"""Links out of HTML pages.

One pass over the parsed tree. Every text node belongs to exactly one block, so that a page costs
time in proportion to its size, however deep or broken it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from lxml import etree, html
from w3lib.encoding import html_to_unicode

from semcrawl.links.headers import header_links
from semcrawl.links.merging import merge_links
from semcrawl.links.model import Link
from semcrawl.links.texts import MAX_TEXT, fold, fold_end
from semcrawl.urls import DEFAULT_NORMALISATION, Normalisation, resolve

#: tags of a tag path that are kept, counted from the link upwards
_MAX_PATH = 24

_REFERENCE = {"a": "href", "area": "href", "link": "href", "iframe": "src", "frame": "src"}
_LINK_TAGS = (*_REFERENCE, "meta")
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 head header hgroup html li main menu nav ol option p pre "
    "section summary table tbody td tfoot th thead tr ul".split()
)
_SILENT = frozenset({"script", "style", "template", "noscript"})
_REFRESH = re.compile(r"\s*[\d.]*\s*[;,]?\s*url\s*=\s*[\"']?([^\"']+)", re.I)
_NAME = re.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """How many links of a page are taken, and how their URLs are normalised."""

    #: the first so many distinct URLs count
    max_links: int = 10_000
    normalisation: Normalisation = DEFAULT_NORMALISATION


DEFAULT_EXTRACTION = ExtractionOptions()


def extract_links(
    body: bytes,
    url: str,
    content_type: str | None = None,
    options: ExtractionOptions = DEFAULT_EXTRACTION,
    link_headers: Iterable[str] = (),
) -> list[Link]:
    """Return the links of an HTML page in document order, those of its headers first.

    A URL that occurs several times gives one link, at its first place, with the evidence of its
    occurrences put together. Broken markup and wrong encodings give what can be read.
    """
    found = [
        link for header in link_headers for link in header_links(header, url, options.normalisation)
    ]
    root = parse_html(body, content_type)
    if root is not None:
        found.extend(_tree_links(root, url, options))
    return merge_links(found, options.max_links)


def parse_html(body: bytes, content_type: str | None) -> Any:
    """Parse a page as browsers would decode it; ``None`` when there is no element in it."""
    _, text = html_to_unicode(content_type, body, default_encoding="utf-8")
    data = text.replace("\x00", "").encode("utf-8", "replace")
    parser = html.HTMLParser(encoding="utf-8", recover=True, huge_tree=True)
    try:
        return html.document_fromstring(data, parser=parser)
    except (etree.LxmlError, ValueError, AssertionError):
        return None


def _tree_links(root: Any, url: str, options: ExtractionOptions) -> Iterator[Link]:
    """Yield the links of a parsed page, duplicates included."""
    base = _base(root, url)
    blocks: dict[Any, _Block] = {}
    paths: dict[Any, str] = {}
    position = 0
    seen: set[str] = set()
    for element in root.iter(*_LINK_TAGS):
        tag: str = element.tag
        reference = _reference(element, tag)
        if reference is None:
            continue
        target = resolve(base, reference, options.normalisation)
        if target is None:
            continue
        if target not in seen:
            if len(seen) >= options.max_links:
                return
            seen.add(target)
        anchor = before = after = ""
        if tag == "a":
            block = _block_of(element, blocks)
            anchor, before, after = block.around(element)
        elif tag == "area":
            anchor = fold(element.get("alt", ""))
        yield Link(
            target,
            element=tag,
            anchor=anchor,
            title=fold(element.get("title", "")),
            type=fold(element.get("type", "")).lower(),
            rel=fold(element.get("rel", "")).lower(),
            before=before,
            after=after,
            tag_path=_tag_path(element, paths),
            position=position,
        )
        position += 1


def _reference(element: Any, tag: str) -> str | None:
    """Return the address that an element points to, if any."""
    if tag == "meta":
        if element.get("http-equiv", "").lower() != "refresh":
            return None
        match = _REFRESH.match(element.get("content", "")[:5000])
        return match[1] if match else None
    value: str | None = element.get(_REFERENCE[tag])
    return value


def _base(root: Any, url: str) -> str:
    """Return what relative references are resolved against."""
    element = root.find(".//base[@href]")
    if element is not None:
        base = _resolve_base(url, element.get("href"))
        if base:
            return base
    return url


def _resolve_base(url: str, reference: str) -> str | None:
    """Resolve the ``href`` of a ``<base>``; ``None`` when it is no http(s) address."""
    try:
        base = urljoin(url, reference.strip())
    except ValueError:
        return None
    return base if base.lower().startswith(("http://", "https://")) else None


class _Block:
    """The text of one block element, and where in it each anchor stands."""

    __slots__ = ("places", "text")

    def __init__(self, element: Any) -> None:
        pieces: list[str] = []
        self.places: dict[Any, tuple[int, int]] = {}
        length = 0
        # an explicit stack: (element, None) enters it, (element, start) leaves it
        stack: list[tuple[Any, int | None]] = [(element, None)]
        while stack:
            node, start = stack.pop()
            if start is not None:
                if node.tag == "a":
                    self.places[node] = (start, length)
                if node is not element and node.tail:
                    pieces.append(node.tail)
                    length += len(node.tail)
                continue
            inside = node is element or self._is_inside(node)
            stack.append((node, length))
            if inside:
                if node.tag == "img" and (alt := node.get("alt")):
                    pieces.append(alt)
                    length += len(alt)
                if node.text:
                    pieces.append(node.text)
                    length += len(node.text)
                stack.extend((child, None) for child in reversed(node))
            else:
                pieces.append(" ")
                length += 1
        self.text = "".join(pieces)

    @staticmethod
    def _is_inside(node: Any) -> bool:
        tag = node.tag
        return isinstance(tag, str) and tag not in _BLOCKS and tag not in _SILENT

    def around(self, element: Any) -> tuple[str, str, str]:
        """Return anchor text, text before and text after, each bounded."""
        start, end = self.places.get(element, (0, 0))
        text = self.text
        anchor = fold(text[start : min(end, start + 2 * MAX_TEXT)])
        before = fold_end(text[max(0, start - 2 * MAX_TEXT) : start])
        after = fold(text[end : end + 2 * MAX_TEXT])
        return anchor or fold(element.get("aria-label", "")), before, after


def _block_of(element: Any, blocks: dict[Any, _Block]) -> _Block:
    """Return the nearest block around an element."""
    node = element.getparent()
    while node is not None and node.tag not in _BLOCKS and node.getparent() is not None:
        node = node.getparent()
    if node is None:
        node = element
    block = blocks.get(node)
    if block is None:
        block = blocks[node] = _Block(node)
    return block


def _tag_path(element: Any, paths: dict[Any, str]) -> str:
    """Return the tags from the root (at most the last 24) down to the element."""
    parent = element.getparent()
    name = _tag_name(element)
    if parent is None:
        return name
    known = paths.get(parent)
    if known is None:
        chain: list[str] = []
        node = parent
        while node is not None and len(chain) < _MAX_PATH - 1:
            chain.append(_tag_name(node))
            node = node.getparent()
        known = paths[parent] = "/".join(reversed(chain))
    return f"{known}/{name}"


def _tag_name(element: Any) -> str:
    """Name an element with its id and its first two classes."""
    name = str(element.tag)
    if identifier := element.get("id"):
        name += "#" + _NAME.sub("", identifier[:40])
    if classes := element.get("class"):
        for one in classes[:200].split()[:2]:
            name += "." + _NAME.sub("", one[:40])
    return name
