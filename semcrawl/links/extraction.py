"""Extracts links from HTML pages.

One pass over the parsed tree. Every text node belongs to exactly one block, so the time is
proportional to the size of the page, however deep or broken it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from semcrawl.links.headers import header_links, refresh_target
from semcrawl.links.kinds import page_kind, with_kinds
from semcrawl.links.model import FOLDER, MAX_TEXT, Link, cut_off, fold, fold_end, merge_links
from semcrawl.links.pagetexts import SILENT, PageText, page_text
from semcrawl.links.trees import parse_html
from semcrawl.settings.reader import setting
from semcrawl.web.bodies import media_type
from semcrawl.web.hosts import join_url
from semcrawl.web.urls import (
    DEFAULT_NORMALISATION,
    Normalisation,
    Resolver,
    dropped_index,
)
from semcrawl.web.vocabulary import RDF_MEDIA_TYPES, FoundBy

#: most tags of a path, counted from the element upwards
_MAX_PATH = 24
_NOT_IN_NAMES = re.compile(r"[^\w-]+")


class TagPaths:
    """The tag paths of one page; of a long path the last 24 tags."""

    def __init__(self) -> None:
        self._paths: dict[Any, tuple[str, ...]] = {}
        self._names: dict[tuple[str, str | None, str | None], str] = {}

    def path_of(self, element: Any) -> str:
        """Return the tag path of an element."""
        name = self._name(element)
        parent = element.getparent()
        return name if parent is None else "/".join((*self._path(parent), name))

    def _path(self, element: Any) -> tuple[str, ...]:
        """Return the last 23 names down to an element."""
        climbed = []
        path: tuple[str, ...] | None = ()
        while element is not None and not (path := self._paths.get(element, ())):
            climbed.append(element)
            element = element.getparent()
        path = path or ()
        for node in reversed(climbed):
            path = self._paths[node] = (*path[2 - _MAX_PATH :], self._name(node))
        return path

    def _name(self, element: Any) -> str:
        """Return :func:`_tag_name` of an element, cached."""
        attributes = element.attrib
        key = (element.tag, attributes.get("id"), attributes.get("class"))
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = _tag_name(*key)
        return name


def _tag_name(tag: str, identifier: str | None, classes: str | None) -> str:
    """Return a tag with its id and its first two classes, as in ``div#nav.menu``."""
    name = str(tag)
    if identifier:
        name += "#" + _NOT_IN_NAMES.sub("", identifier[:40])
    if classes:
        for one in classes[:200].split()[:2]:
            name += "." + _NOT_IN_NAMES.sub("", one[:40])
    return name


_REFERENCE = {
    "a": "href", "area": "href", "link": "href", "iframe": "src", "frame": "src",
    "object": "data", "embed": "src", "script": "src",
}  # fmt: skip
#: most links of a page that are told of but not taken
_MAX_BEYOND = 10_000
_LINK_TAGS = (*_REFERENCE, "meta")
#: elements that name what follows them, with their levels
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6, "caption": 7, "dt": 7}
#: most characters of a heading
_HEADING = 100
#: elements that hold a block of text
BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog div dl dt fieldset figcaption "
    "figure footer form h1 h2 h3 h4 h5 h6 head header hgroup html li main menu nav ol option p pre "
    "section summary table tbody td tfoot th thead tr ul".split()
)


@dataclass(frozen=True, slots=True)
class ExtractionOptions:
    """Limits of extraction, and how URLs are normalised."""

    #: most distinct URLs taken from a page
    max_links: int = setting("SEMCRAWL_MAX_LINKS_PER_PAGE")
    normalisation: Normalisation = DEFAULT_NORMALISATION
    #: elements such as ``img`` whose ``src`` counts as a link too
    shown: frozenset[str] = frozenset()
    #: characters of the page's text to read for the crawl's topic; 0 = none
    text: int = 0
    #: whether links have cues for their kind and that of their page
    kinds: bool = setting("SEMCRAWL_LINK_KINDS")


DEFAULT_EXTRACTION = ExtractionOptions()


@dataclass(frozen=True, slots=True)
class PageReading:
    """The result of one pass over a page."""

    links: list[Link]
    #: links after the most that are taken, up to a bound
    beyond: list[Link]
    #: empty unless :attr:`ExtractionOptions.text` asks for it
    text: PageText
    #: why the page was not read to its end; empty if it was
    fault: str = ""


def extract_links(
    body: bytes,
    url: str,
    content_type: str | None = None,
    options: ExtractionOptions = DEFAULT_EXTRACTION,
    link_headers: Iterable[str] = (),
    known: Callable[[str], bool] | None = None,
) -> list[Link]:
    """Return the links of an HTML page: those of its headers, then its own in document order.

    A URL that occurs several times gives one link, at its first place, with the evidence of all
    occurrences merged. Of broken markup or a wrong encoding, the readable part counts. Links to
    ``known`` URLs may be left out.
    """
    return read_page(body, url, content_type, options, link_headers, known).links


def read_page(
    body: bytes,
    url: str,
    content_type: str | None = None,
    options: ExtractionOptions = DEFAULT_EXTRACTION,
    link_headers: Iterable[str] = (),
    known: Callable[[str], bool] | None = None,
) -> PageReading:
    """Read a page as :func:`extract_links` does; return its text as well, if the options ask."""
    found = [
        link for header in link_headers for link in header_links(header, url, options.normalisation)
    ]
    page = parse_html(body, content_type)
    text = PageText()
    beyond: dict[str, Link] = {}
    if page.root is not None:
        resolver = Resolver(base_of(page.root, url), options.normalisation, page.encoding)
        found.extend(_tree_links(page.root, url, resolver, options, known, beyond))
    links = merge_links(found, options.max_links)
    if options.kinds and page.root is not None:
        links = with_kinds(links, url, page_kind(page.root, url, resolver))
    if options.text and page.root is not None:  # it changes the tree
        text = page_text(page.root, options.text)
    more = [*cut_off(found, links, options.max_links), *beyond.values()]
    return PageReading(links, more, text, page.fault)


def _tree_links(
    root: Any,
    url: str,
    resolver: Resolver,
    options: ExtractionOptions,
    known: Callable[[str], bool] | None,
    beyond: dict[str, Link],
) -> Iterator[Link]:
    """Yield the links of a parsed page, duplicates included; put further ones into ``beyond``.

    Those to the page itself that a ``link`` element names are no votes, but evidence about it.
    """
    blocks: dict[Any, _Block] = {}
    drawn: dict[Any, bool] = {}
    paths = TagPaths()
    position = 0
    seen: set[str] = set()
    cached = resolver.cached
    targets: dict[str, str | None] = {}
    headings = _Headings()
    for element in root.iter(*_LINK_TAGS, *_HEADINGS, *options.shown):
        tag: str = element.tag
        if tag in _HEADINGS:
            headings.note(element)
            continue
        # fast path: most links are anchors
        reference = element.get("href") if tag == "a" else _reference(element, tag)
        if reference is None and tag == "a":
            reference = _of_drawing(element, drawn)
        if reference is None:
            continue
        target = cached.get(reference)
        if target is None:
            if reference not in targets:
                targets[reference] = resolver.resolve(reference)
            target = targets[reference]
            if target is None:
                continue
        if target not in seen:
            if len(seen) >= options.max_links:
                if len(beyond) >= _MAX_BEYOND:
                    return
                if known is None or not known(target):
                    beyond[target] = Link(target, tag, rel=fold(element.get("rel", "")).lower())
                continue
            seen.add(target)
        if known is not None and known(target) and (tag != "link" or target != url):
            position += 1
            continue
        anchor = before = after = ""
        attributes = element.attrib
        if tag == "a":
            anchor, before, after = _block_of(element, blocks).around(element)
        elif tag == "area":
            anchor = fold(attributes.get("alt", ""))
        path = paths.path_of(element)
        title = kind = rel = ""
        if len(attributes) > 1:
            title = fold(attributes.get("title", ""))
            kind = fold(attributes.get("type", "")).lower()
            rel = fold(attributes.get("rel", "")).lower()
        index = dropped_index(reference) if target[-1] == "/" else ""
        bare = tag == "a" and (not anchor or "://" in anchor)
        above = headings.text if bare else ""
        yield Link(
            target, tag, anchor, title, kind, rel, before, after, path, position, index=index,
            heading=above,
        )  # fmt: skip
        position += 1


def _of_drawing(anchor: Any, drawn: dict[Any, bool]) -> str | None:
    """Return the address of an anchor in an inline drawing (SVG 1.1), if it is one.

    ``drawn`` remembers which elements are in drawings.
    """
    reference: str | None = anchor.get("xlink:href")
    if reference is None:
        return None
    above = []
    element, inside = anchor.getparent(), False
    while element is not None:
        inside = element.tag == "svg"
        if inside or element in drawn:
            inside = inside or drawn[element]
            break
        above.append(element)
        element = element.getparent()
    drawn.update(dict.fromkeys(above, inside))
    return reference if inside else None


def _reference(element: Any, tag: str) -> str | None:
    """Return the address that an element points to, if any."""
    if tag == "meta":
        if element.get("http-equiv", "").lower() != "refresh":
            return None
        return refresh_target(element.get("content", ""))
    if tag == "script" and media_type(element.get("type", "")) not in RDF_MEDIA_TYPES:
        return None
    value: str | None = element.get(_REFERENCE.get(tag, "src"))
    return value


def base_of(root: Any, url: str) -> str:
    """Return the base URL of a page: its first ``<base href>``, else its own URL."""
    for element in root.iter("base"):
        reference = element.get("href")
        if reference is not None:
            return _resolve_base(url, reference) or url
    return url


def _resolve_base(url: str, reference: str) -> str | None:
    """Resolve the ``href`` of a ``<base>``; ``None`` when it is no http(s) address."""
    try:
        base = join_url(url, reference)
    except ValueError:
        return None
    return base if base.lower().startswith(("http://", "https://")) else None


class _Headings:
    """The headings above the present place of a page."""

    def __init__(self) -> None:
        self._above: list[Any] = []
        self._text: str | None = ""

    def note(self, element: Any) -> None:
        """Note a heading, which ends those of its level and below."""
        level = _HEADINGS[element.tag]
        self._above = [one for one in self._above if _HEADINGS[one.tag] < level]
        self._above.append(element)
        self._text = None

    @property
    def text(self) -> str:
        """The last two headings above."""
        if self._text is None:
            found = (fold(_Block(one).text)[:_HEADING] for one in self._above[-2:])
            self._text = " ".join(found)
        return self._text


class _Block:
    """The text of one block element, and the span of each anchor in it."""

    __slots__ = ("spans", "text")

    def __init__(self, element: Any) -> None:
        pieces: list[str] = []
        self.spans: dict[Any, tuple[int, int]] = {}
        text = element.text
        length = 0
        if text:
            pieces.append(text)
            length = len(text)
        # an explicit stack: (node, -1) enters a node, (node, start) leaves it
        stack = [(child, -1) for child in reversed(element)]
        while stack:
            node, start = stack.pop()
            tag = node.tag
            if start < 0:
                start = length
                if tag in BLOCKS or tag in SILENT or not isinstance(tag, str):
                    pieces.append(" ")
                    length += 1
                else:
                    if tag == "img" and (text := node.get("alt")):
                        pieces.append(text)
                        length += len(text)
                    if text := node.text:
                        pieces.append(text)
                        length += len(text)
                    if len(node):
                        stack.append((node, start))
                        stack.extend([(child, -1) for child in reversed(node)])
                        continue
            if tag == "a":
                self.spans[node] = (start, length)
            if text := node.tail:
                pieces.append(text)
                length += len(text)
        self.text = "".join(pieces)

    def around(self, element: Any) -> tuple[str, str, str]:
        """Return the anchor text, the text before and the text after, each bounded."""
        start, end = self.spans.get(element, (0, 0))
        text = self.text
        anchor = fold(text[start : min(end, start + 2 * MAX_TEXT)])
        before = fold_end(text[max(0, start - 2 * MAX_TEXT) : start])
        after = fold(text[end : end + 2 * MAX_TEXT])
        return anchor or fold(element.get("aria-label", "")), before, after


def _block_of(element: Any, blocks: dict[Any, _Block]) -> _Block:
    """Return the nearest block around an element, and cache it for the elements passed."""
    climbed = []
    node = element.getparent()
    if node is None:
        node = element
    known = blocks.get(node)
    while known is None:
        climbed.append(node)
        parent = None if node.tag in BLOCKS else node.getparent()
        if parent is None:
            known = _Block(node)
        else:
            node = parent
            known = blocks.get(node)
    for node in climbed:
        blocks[node] = known
    return known


def folders_above(url: str) -> list[Link]:
    """Return links to the folders that a page is in, the nearest first.

    >>> [link.url for link in folders_above("http://example.org/a/b/c.html")]
    ['http://example.org/a/b/', 'http://example.org/a/', 'http://example.org/']
    """
    parts = urlsplit(url)
    names = parts.path.split("/")[:-1]
    root = f"{parts.scheme}://{parts.netloc}"
    return [
        Link(
            f"{root}{'/'.join(names[:depth])}/",
            element=FOLDER,
            tag_path=FOLDER,
            found_by=FoundBy.FOLDER,
        )
        for depth in range(len(names), 0, -1)
    ]
