"""The text of a parsed page, for topics."""

from __future__ import annotations

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
    #: the visible text; of a long one, its beginning
    text: str = ""
    #: language tag in lower case (``en``, ``pt-br``); empty if the page does not say
    language: str = ""


def page_text(root: Any, max_chars: int) -> PageText:
    """Return the text of a page's tree; of its visible text at most ``max_chars`` characters.

    ``root`` is an element of lxml or of :mod:`semcrawl.links.largetree`. Invisible texts may be
    removed from it.
    """
    headings = islice(root.iter(*_HEADINGS), _MAX_HEADINGS)
    return PageText(
        title=next((fold(element.text or "") for element in root.iter("title")), ""),
        headings=" ".join(joined(texts_in(element), MAX_TEXT) for element in headings),
        language=language_of(root),
        text=joined(_visible(root), max_chars),
    )


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
