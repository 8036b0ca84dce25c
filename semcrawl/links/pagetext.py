"""The text of a parsed page, for topics."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, cast

from lxml import etree

from semcrawl.links.texts import MAX_TEXT, fold

#: elements whose text is not visible
SILENT = ("script", "style", "template", "noscript")
_HEADINGS = ("h1", "h2", "h3")
#: white space other than the space
_OTHER_SPACES = [sign for sign in map(chr, range(0x3001)) if sign.isspace() and sign != " "]
#: most headings read
_MAX_HEADINGS = 50
#: elements that hold a block of text, and those that break a line
BLOCKS = (
    *("address", "article", "aside", "blockquote", "body", "br", "center", "dd", "details"),
    *("dialog", "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1"),
    *("h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "li", "main", "menu", "nav", "ol"),
    *("option", "p", "pre", "section", "summary", "table", "tbody", "td", "tfoot", "th", "thead"),
    *("tr", "ul"),
)
#: elements whose headers and footers are their own, not the site's
_CONTENT = ("main", "article", "section")
#: elements that are beside the content by their role (WAI-ARIA's landmarks)
_ROLES = frozenset({"navigation", "banner", "contentinfo", "complementary", "search"})
_WITH_ROLE = etree.XPath("//@role/..")
#: marks in texts, which no page may have (noncharacters)
_BLOCK, _LINK, _LINK_END, _BESIDE, _BESIDE_END = map(chr, range(0xFDD0, 0xFDD5))
_MARKS = re.compile("([\ufdd0-\ufdd4])")
#: what stands for a link to a heading, behind it
PILCROWS = " ¶#§\U0001f517"
_UNSEEN = (*SILENT, "title")
_TEXTS = etree.XPath("//text()", smart_strings=False)
_VISIBLE = etree.XPath(
    "//text()[not({})]".format(" or ".join(f"ancestor::{tag}" for tag in _UNSEEN)),
    smart_strings=False,
)


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page, with white space folded."""

    title: str = ""
    headings: str = ""
    #: the visible text, a line for each block; of a long one, its beginning. Navigation, sidebars
    #: and the headers and footers of sites do not count, unless there is nothing else
    text: str = ""
    #: numbers of the lines that are mostly links
    lists: frozenset[int] = frozenset()
    #: language tag in lower case (``en``, ``pt-br``); empty if the page does not say
    language: str = ""


def page_text(root: Any, max_chars: int) -> PageText:
    """Return the text of a page's tree; of its visible text at most ``max_chars`` characters.

    ``root`` is an element of lxml or of :mod:`semcrawl.links.largetree`. Its texts are changed.
    """
    besides = _besides(root)
    beside = _inside(besides)
    own = (each for each in root.iter(*_HEADINGS) if each not in beside)
    headings = [joined(texts_in(each), MAX_TEXT) for each in islice(own, _MAX_HEADINGS)]
    title = next((fold(element.text or "") for element in root.iter("title")), "")
    language = language_of(root)
    _mark(root, besides)
    text, lists = _lines(joined(_visible(root), 4 * max_chars), max_chars)
    headings = [each.rstrip(PILCROWS) for each in headings]
    return PageText(title, "\n".join(filter(None, headings)), text, lists, language)


def _besides(root: Any) -> list[Any]:
    """Return the elements beside a page's own content: navigation, sidebars, headers of sites."""
    content = _inside(root.iter(*_CONTENT), *_CONTENT, "header", "footer")
    found = [
        each
        for each in root.iter("nav", "aside", "header", "footer")
        if each.tag in ("nav", "aside") or each not in content
    ]
    is_lxml = isinstance(root, etree._Element)
    with_role = cast("list[Any]", _WITH_ROLE(root)) if is_lxml else root.iter()
    return [*found, *(each for each in with_role if each.get("role") in _ROLES)]


def _inside(elements: Iterable[Any], *tags: str) -> set[Any]:
    """Return the elements with one of the tags (none: any) in others, and these themselves.

    Each is visited once or twice, however deep they stand in each other, if ``tags`` has theirs.
    """
    found: set[Any] = set()
    for element in elements:
        if element not in found:
            found.update(element.iter(*tags))
    return found


def _mark(root: Any, besides: list[Any]) -> None:
    """Write marks into the texts of a tree: where blocks, links and what is beside them end."""
    for elements, begin, end in (
        (root.iter("a"), _LINK, _LINK_END),
        (besides, _BESIDE, _BESIDE_END),
        (root.iter(*BLOCKS), _BLOCK, _BLOCK),
    ):
        for element in elements:
            element.text = begin + (element.text or "")
            if element is not root:
                element.tail = end + (element.tail or "")


def _lines(marked: str, max_chars: int) -> tuple[str, frozenset[int]]:
    """Return the own blocks of a marked text as lines, and the numbers of those mostly links.

    Where all is beside the content, nothing is.
    """
    #: text, whether it is mostly links, whether it is beside the content
    blocks: list[tuple[str, bool, bool]] = []
    words: list[str] = []
    size = linked = beside = in_link = 0
    for number, piece in enumerate(_MARKS.split(marked)):
        if number % 2 == 0:
            if piece := piece.strip():
                words.append(piece)
                size += len(piece)
                linked += len(piece) if in_link else 0
            continue
        if piece in (_LINK, _LINK_END):
            in_link = piece == _LINK
            continue
        if words:
            blocks.append((" ".join(words), 2 * linked > size, beside > 0))
            words, size, linked = [], 0, 0
        beside += (piece == _BESIDE) - (piece == _BESIDE_END)
    if words:
        blocks.append((" ".join(words), 2 * linked > size, beside > 0))
    own = [block for block in blocks if not block[2]] or blocks
    text = "\n".join(block[0] for block in own)
    return text[:max_chars], frozenset(n for n, block in enumerate(own) if block[1])


def _visible(root: Any) -> Iterable[str]:
    if not isinstance(root, etree._Element):
        return texts_in(root)
    unseen = list(root.iter(*_UNSEEN))
    if any(len(element) for element in unseen):
        return cast("list[str]", _VISIBLE(root))
    for element in unseen:  # an XPath that leaves them out takes six times as long
        element.text = None
    return cast("list[str]", _TEXTS(root))


def language_of(root: Any) -> str:
    """Return the language tag that a page declares, in lower case; empty if none."""
    for element in root.iter("html", "body"):
        tag = element.get("lang") or element.get("{http://www.w3.org/XML/1998/namespace}lang")
        if tag:
            return str(tag).strip().lower()[:35]
    for element in root.iter("meta"):
        if (element.get("http-equiv") or "").lower() == "content-language":
            return (element.get("content") or "").partition(",")[0].strip().lower()[:35]
    return ""


def texts_in(element: Any) -> Iterator[str]:
    """Yield the visible texts inside an element, in document order."""
    stack: list[Any] = [element]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
            continue
        if node.tail and node is not element:
            stack.append(node.tail)
        if isinstance(node.tag, str) and node.tag not in SILENT and node.tag != "title":
            stack.extend(reversed(list(node)))
            if node.text:
                stack.append(node.text)


def joined(pieces: Iterable[str], max_chars: int) -> str:
    """Join texts and fold their white space, up to ``max_chars`` characters."""
    if isinstance(pieces, list) and sum(map(len, pieces)) + len(pieces) <= max_chars:
        text = " ".join(filter(None, map(str.strip, pieces)))
        is_folded = "  " not in text and not any(map(text.__contains__, _OTHER_SPACES))
        return text if is_folded else " ".join(text.split())
    found: list[str] = []
    room = max_chars
    for piece in pieces:
        words = " ".join(piece[: 4 * room].split())
        if not words:
            continue
        found.append(words[:room])
        room -= len(words) + 1
        if room <= 0:
            break
    return " ".join(found)
