"""Title (by the rule of S), main text and language of a page, for the store of topic pages.

trafilatura finds the main text where it is installed. Otherwise it is the blocks from the first
paragraph on that are not mostly links.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from semcrawl.links.pagetext import PILCROWS, SILENT, language_of
from semcrawl.links.parsing import parse_html
from semcrawl.links.texts import MAX_TEXT, fold
from semcrawl.web.charsets import Form, to_utf8

#: most characters kept of the main text
MAX_CHARS = 100_000
#: characters that make a block a paragraph; the body begins with the first paragraph
_PARAGRAPH = 80
#: a block of which more than this share is links is navigation
_MOSTLY_LINKS = 0.5
#: longest title, characters
_LONGEST_TITLE = 300
_BLOCKS = frozenset(
    "address article aside blockquote body br center dd details dialog div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre "
    "section summary table tbody td tfoot th thead tr ul".split()
)
#: how much an element makes its text look like a title
_LOOKS = {
    **{"h1": 6.0, "h2": 4.5, "h3": 3.0, "h4": 2.0, "h5": 1.5, "h6": 1.5},
    **{"b": 1.0, "strong": 1.0, "big": 1.0, "center": 1.0, "caption": 1.0},
}
_NAMED = re.compile(r"(?:^|[\W_])(?:title|headline|heading)", re.I)
_LARGE = re.compile(r"font-size:\s*(?:x{1,3}-large|larger|(?:1[89]|[2-9]\d)px|[2-9](?:\.\d+)?r?em)")
_CENTRED = re.compile(r"text-align:\s*center")
_COLOURED = re.compile(r"(?<![-\w])color:")


@dataclass(frozen=True, slots=True)
class PageContent:
    """The content of a page, in plain text."""

    title: str = ""
    #: the main text: no navigation, no scripts
    text: str = ""
    #: language tag in lower case; empty if the page does not say
    language: str = ""


@dataclass(slots=True)
class _Block:
    """Text between two block boundaries."""

    pieces: list[str] = field(default_factory=list)
    #: number of characters by look
    looks: dict[float, int] = field(default_factory=dict)
    linked: int = 0
    size: int = 0

    def add(self, text: str, look: float, *, linked: bool) -> None:
        self.pieces.append(text)
        length = len(text.strip())
        self.size += length
        self.linked += length * linked
        self.looks[look] = self.looks.get(look, 0) + length

    @property
    def text(self) -> str:
        return " ".join("".join(self.pieces).split())

    @property
    def look(self) -> float:
        """The look of most of its characters."""
        return max(self.looks, key=lambda look: self.looks[look])


def page_content(body: bytes, content_type: str | None = None) -> PageContent:
    """Return title, main text and language of a page; a part that is not found is empty.

    No content of a page makes it raise.
    """
    page = parse_html(body, content_type)
    if page.root is None:
        return PageContent()
    blocks = list(_blocks(page.root))
    title_element = next((fold(e.text or "") for e in page.root.iter("title")), "")
    title_element = title_element or _social_title(page.root)
    start = _body_start(blocks)
    return PageContent(
        title=_agreed(_title(blocks[: start + 1], title_element), title_element),
        text=(_extracted(body, content_type) or _main_text(blocks[start:]))[:MAX_CHARS],
        language=language_of(page.root),
    )


def _social_title(root: Any) -> str:
    """Return the title that a page gives to social networks (Open Graph); empty if none."""
    titles = (each for each in root.iter("meta") if each.get("property") == "og:title")
    return next((fold(each.get("content") or "") for each in titles), "")


def _agreed(looked_for: str, given: str) -> str:
    """Return the title found by its look if the given one has it, or if there is no given one.

    **Reading**: S has no such condition; on today's pages a menu's heading often looks best.
    """
    looked_for, given = looked_for.rstrip(PILCROWS), given.strip()
    is_part = looked_for.lower() in given.lower() or given.lower() in looked_for.lower()
    return looked_for if looked_for and is_part else given


def _body_start(blocks: list[_Block]) -> int:
    """Return the index of the first paragraph; 0 when there is none."""
    for number, block in enumerate(blocks):
        if block.size >= _PARAGRAPH and block.linked <= _MOSTLY_LINKS * block.size:
            return number
    return 0


def _title(before: list[_Block], title_element: str) -> str:
    """Choose the block that looks most like a title, backwards from the first paragraph.

    The rule is sources.md S, title extraction. The nearest of equals wins. A block whose text
    matches the ``title`` element gains. Neighbours of the same look join it, for titles of several
    lines. Without such a block the ``title`` element is the title.
    """
    best, best_look = -1, 0.0
    for number in range(len(before) - 1, -1, -1):
        block = before[number]
        text = block.text
        if not 2 <= len(text) <= _LONGEST_TITLE or block.linked == block.size:
            continue
        look = block.look
        if (
            look
            and title_element
            and (text.lower() in title_element.lower() or title_element.lower() in text.lower())
        ):
            look += 2
        if look > best_look:
            best, best_look = number, look
    if best < 0:
        return title_element
    first = last = best
    look = before[best].look
    while first and look >= 2 and before[first - 1].look == look:
        first -= 1
    while last + 1 < len(before) and look >= 2 and before[last + 1].look == look:
        last += 1
    title = " ".join(block.text for block in before[first : last + 1])
    return fold(title if len(title) <= MAX_TEXT else before[best].text)


def _main_text(blocks: list[_Block]) -> str:
    """Return the text of the blocks that are not mostly links, one per line."""
    return "\n".join(block.text for block in blocks if block.linked <= _MOSTLY_LINKS * block.size)


def _extracted(body: bytes, content_type: str | None) -> str:
    """Return the main text that trafilatura finds; empty without trafilatura or a find."""
    try:
        import trafilatura  # takes a tenth of a second, and few crawls keep pages
    except ImportError:
        return ""
    try:
        text = to_utf8(body, content_type, Form.PAGE).data.decode(errors="replace")
        return trafilatura.extract(text, include_comments=False, include_tables=True) or ""
    except Exception:  # pages may make it raise anything; the caller has a fallback
        return ""


def _blocks(root: Any) -> Iterator[_Block]:
    """Yield the blocks of a page that have text, in document order."""
    block = _Block()
    #: (element or text, look, whether in a link); ``None`` as the element ends a block
    stack: list[tuple[Any, float, bool]] = [(root, 0.0, False)]
    while stack:
        node, look, linked = stack.pop()
        if node is None:
            if block.size:
                yield block
            block = _Block()
        elif isinstance(node, str):
            block.add(node, look, linked=linked)
        else:
            tag = node.tag
            if node.tail and node is not root:
                stack.append((node.tail, look, linked))
            if not isinstance(tag, str) or tag in SILENT or tag == "title":
                continue
            ends = tag in _BLOCKS
            if ends:
                stack.append((None, 0.0, False))
            inner = look + _look_of(node)
            inside = linked or tag == "a"
            stack.extend((child, inner, inside) for child in reversed(list(node)))
            if node.text:
                stack.append((node.text, inner, inside))
            if ends:
                stack.append((None, 0.0, False))
    if block.size:
        yield block


def _look_of(element: Any) -> float:
    """Return what an element adds to the look of its text, by size, centring, colour and name."""
    look = _LOOKS.get(element.tag, 0.0)
    if not element.attrib:
        return look
    style = (element.get("style") or "").lower()
    if style:
        look += 3.0 * bool(_LARGE.search(style))
        look += bool(_CENTRED.search(style)) + 0.5 * bool(_COLOURED.search(style))
    if element.tag == "font":
        look += 3.0 * (element.get("size", "") in ("+1", "+2", "+3", "+4", "5", "6", "7"))
        look += 0.5 * bool(element.get("color"))
    if (element.get("align") or "").lower() == "center":
        look += 1.0
    if element.tag != "body" and _NAMED.search(
        f"{element.get('id') or ''} {element.get('class') or ''}"
    ):
        look += 2.0
    return look
