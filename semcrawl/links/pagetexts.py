"""Texts of pages: title, headings, what is the page's own and what is its site's.

Title (by the rule of S), main text and language of a page, for the store of topic pages.
trafilatura finds the main text where it is installed. Otherwise it is the blocks from the first
paragraph on that are not mostly links.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import Any, cast

from lxml import etree

from semcrawl.links.model import MAX_TEXT, fold
from semcrawl.links.trees import parse_html
from semcrawl.recent import Recent
from semcrawl.web.charsets import Form, to_utf8
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import path_of

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

    ``root`` is an element of lxml or of :mod:`semcrawl.links.trees`. Its texts are changed.
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


#: types of scripts that a browser runs
_SCRIPTS = frozenset({"", "module", "text/javascript", "application/javascript"})
#: characters of a page's own text, with which it is more than a frame for its scripts
_OWN_TEXT = 100
_JSON_LD = "ld+json"


def waits_for_scripts(body: bytes, content_type: str | None = None) -> bool:
    """Whether a page shows little before its scripts have run, or they add JSON-LD to it.

    External scripts are not read, so that only those in the page tell of JSON-LD.
    """
    if b"<script" not in body.lower():
        return False
    root = parse_html(body, content_type).root
    if root is None:
        return False
    kinds = [((each.get("type") or "").strip().lower(), each) for each in root.iter("script")]
    scripts = [each for kind, each in kinds if kind in _SCRIPTS]
    if not scripts:
        return False
    if not any(_JSON_LD in kind for kind, _ in kinds) and any(
        _JSON_LD in (each.text or "").lower() for each in scripts
    ):
        return True
    return len(joined(_visible(root), _OWN_TEXT)) < _OWN_TEXT


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


#: hosts and folders whose lines are remembered, those that gave a page last
_MOST_PLACES = 200
#: lines remembered of each, some 150 bytes a line; half of them are forgotten when there are more,
#: the rarest first
_MOST_LINES = 2_000
#: pages of a place from which on lines can be known to repeat
_FEWEST = 3
#: signs between the name of a page and that of its site or section, in titles
_PARTS = re.compile(r"\s+[-–—|·•»«:/]+\s+|:\s+")


@dataclass(slots=True)
class _Place:
    """How often each line was there, on how many pages of a host or folder."""

    pages: int = 0
    lines: Counter[int] = field(default_factory=Counter)

    def repeats(self, line: int) -> bool:
        return self.pages >= _FEWEST and 2 * self.lines[line] > self.pages

    def note(self, lines: Iterable[int]) -> None:
        self.pages += 1
        self.lines.update(lines)
        if len(self.lines) > _MOST_LINES:
            self.lines = Counter(dict(self.lines.most_common(_MOST_LINES // 2)))


class OwnTexts:
    """Remembers the lines of pages by host and folder, as hashes, for one process.

    A line that was on most pages of the host, or of the page's folder, is not the page's own: a
    menu, a contents sidebar, the name of the site in titles, "Navigation" above a list. Headings
    go by the host alone.
    """

    def __init__(self) -> None:
        """Begin without any page."""
        self._places: Recent[str, _Place] = Recent(_MOST_PLACES, _Place)

    def own(self, url: str, text: PageText) -> PageText:
        """Return what is a page's own; note its lines."""
        host = netloc_of(url)
        site = self._places[host]
        places = [site, self._places[host + path_of(url).rpartition("/")[0] + "/"]]

        def is_own(line: str) -> bool:
            key = hash(line)
            return not any(place.repeats(key) for place in places)

        lines, headings = text.text.split("\n"), text.headings.split("\n")
        parts = _PARTS.split(text.title)
        kept = [number for number, line in enumerate(lines) if is_own(line)]
        own = replace(
            text,
            title=" – ".join(filter(is_own, parts)) if len(parts) > 1 else text.title,
            # a heading that each page of a folder has names the section: the page is about it
            headings="\n".join(each for each in headings if not site.repeats(hash(each))),
            text="\n".join(lines[number] for number in kept),
            lists=frozenset(n for n, number in enumerate(kept) if number in text.lists),
        )
        seen = {hash(line) for line in chain(lines, headings, parts)}
        for place in places:
            place.note(seen)
        return own


def main_text(text: PageText) -> PageText:
    """Return a page's text without the lines that are mostly links, unless there are no others."""
    lines = text.text.split("\n")
    rest = [line for number, line in enumerate(lines) if number not in text.lists]
    return replace(text, text="\n".join(rest or lines), lists=frozenset()) if text.lists else text
