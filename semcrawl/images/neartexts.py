"""Texts near an image, by what they are to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote

from semcrawl.images.outcomes import TextKind
from semcrawl.links.extraction import BLOCKS
from semcrawl.links.pagetexts import SILENT, joined, texts_in
from semcrawl.web.urls import path_of

#: most texts and elements that one search visits
_MAX_STEPS = 200
#: elements that end a run of text and contain none
_BREAKS = frozenset({"br", "hr", "wbr"})


class Found(NamedTuple):
    """A text and its position."""

    text: str
    #: tag of the element around it
    tag: str
    #: steps down to that element from where the search began
    depth: int


class _Barred(Exception):  # noqa: N818 - the end of a search
    """Another image comes first, and what follows is near that one."""


class TextSearch:
    """Searches for the text next to elements of one page."""

    def __init__(self, holders: Collection[Any], max_text: int) -> None:
        """Stop at ``holders``, images and elements around them; return ``max_text`` characters."""
        self._holders = holders
        self._max_text = max_text
        self._steps = 0
        #: elements to skip, as their texts have separate places
        self.taken: set[Any] = set()

    def after(self, node: Any, parent: Any, column: int | None = None) -> Found | None:
        """Return the nearest text after an element in its parent.

        If the element is a table row, ``column`` is the index of the image's cell.
        """
        return self._search(_following(node, parent), parent, column, forward=True)

    def before(self, node: Any, parent: Any, column: int | None = None) -> Found | None:
        """Return the nearest text before an element in its parent."""
        return self._search(_preceding(node, parent), parent, column, forward=False)

    def text_of(self, element: Any) -> str:
        """Return the visible text in an element, up to the limit."""
        return joined(texts_in(element), self._max_text)

    def _search(
        self, pieces: Iterator[Any], parent: Any, column: int | None, *, forward: bool
    ) -> Found | None:
        self._steps = _MAX_STEPS
        try:
            return self._nearest(pieces, parent.tag, 0, column, forward=forward)
        except _Barred:
            return None

    def _nearest(
        self, pieces: Iterator[Any], tag: str, depth: int, column: int | None, *, forward: bool
    ) -> Found | None:
        """Return the first run of text among texts and elements."""
        run: list[str] = []
        tags: list[str] = []
        for piece in pieces:
            self._steps -= 1
            if self._steps < 0:
                break
            if isinstance(piece, str):
                if piece.strip():
                    run.append(piece)
                    tags.append(tag)
                continue
            if not isinstance(piece.tag, str) or piece.tag in SILENT or piece in self.taken:
                continue
            if piece in self._holders:
                if run:
                    break
                raise _Barred
            if piece.tag in _BREAKS or piece.tag in BLOCKS:
                if run:
                    break
                inside = self._inside(piece, depth, column, forward=forward)
                if inside is not None:
                    return inside
            elif text := self.text_of(piece):
                run.append(text)
                tags.append(piece.tag)
        if not run:
            return None
        text = joined(run if forward else reversed(run), 8 * self._max_text)
        text = text[: self._max_text] if forward else text[-self._max_text :]
        inline = tag not in tags and len(tags) == 1
        return Found(text, tags[0] if inline else tag, depth + inline)

    def _inside(self, block: Any, depth: int, column: int | None, *, forward: bool) -> Found | None:
        """Return the nearest text in a block; in a table row, that of the image's column."""
        if column is not None and block.tag == "tr":
            cells = [cell for cell in block if cell.tag in ("td", "th")]
            if column < len(cells):
                block, depth = cells[column], depth + 1
        pieces = _contents(block, forward=forward)
        return self._nearest(pieces, block.tag, depth + 1, None, forward=forward)


def _following(node: Any, parent: Any) -> Iterator[Any]:
    """Yield the texts and elements after an element in its parent."""
    siblings = iter(parent)
    for sibling in siblings:
        if sibling is node:
            break
    yield node.tail or ""
    for sibling in siblings:
        yield sibling
        yield sibling.tail or ""


def _preceding(node: Any, parent: Any) -> Iterator[Any]:
    """Yield the texts and elements before an element in its parent, the nearest first."""
    before = []
    for sibling in parent:
        if sibling is node:
            break
        before.append(sibling)
    for sibling in reversed(before):
        yield sibling.tail or ""
        yield sibling
    yield parent.text or ""


def _contents(element: Any, *, forward: bool) -> Iterator[Any]:
    """Yield the texts and elements in an element, from its beginning or its end."""
    if forward:
        yield element.text or ""
        for child in element:
            yield child
            yield child.tail or ""
        return
    for child in reversed(list(element)):
        yield child.tail or ""
        yield child
    yield element.text or ""


#: elements above which no text belongs to an image
_TOP = frozenset({"body", "html"})
#: levels of ancestors that are searched for captions
_CAPTION_LEVELS = 4
#: most steps counted to a heading
_FARTHEST = 100
_CAPTION = re.compile(r"caption|legend|gallerytext", re.I)
#: words in a file name; capitals begin a word
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_CAMEL = re.compile(r"(?<=[a-zà-ÿ])(?=[A-Z])")
_HASH = re.compile(r"(?=.*\d)[0-9a-f]{8,}\Z", re.I)
_SIZE = re.compile(r"\d+[x×]\d+", re.I)
#: words of file names that do not describe an image
_DULL_WORDS = frozenset(
    "img image images dsc dscn pic pict picture photo foto bild thumb thumbs thumbnail small large "
    "medium full scaled copy final px jpg jpeg png gif webp original default untitled file "
    "screenshot".split()
)


@dataclass(frozen=True, slots=True)
class TextNear:
    """A text near an image."""

    text: str
    kind: TextKind
    #: its element, attribute or property
    tag: str = ""
    #: steps in the tree from the image to its element
    distance: int = 0
    #: steps up to the common ancestor; 0: the image itself
    level: int = 0

    @property
    def place(self) -> str:
        """Its kind of place, by :func:`place_key`."""
        return place_key(self.kind, self.tag, self.level)


def place_key(kind: str, tag: str, level: int) -> str:
    """Return the name of a kind of place, which recurs in the pages of a domain.

    Texts before and after an image are told apart by element and level, others only by kind.

    >>> place_key("after", "p", 2), place_key("alt", "alt", 0)
    ('after:p:2', 'alt')
    """
    if kind in (TextKind.BEFORE, TextKind.AFTER):
        return f"{kind}:{tag}:{level}"
    return str(kind)


@dataclass(slots=True)
class Surroundings:
    """Finds the texts near the images of one page."""

    #: the title of the page
    title: str
    #: images, and all elements around them
    holders: Collection[Any]
    #: levels of ancestors whose texts are read
    levels: int = 5
    #: most characters of one text
    max_text: int = 300
    #: elements by their ``id``
    by_id: Mapping[str, Any] = field(default_factory=dict)

    def texts(self, image: Any, url: str, heading: Any = None) -> list[TextNear]:
        """Return the texts near an image, its own first, without repetitions.

        ``heading`` is the last heading above the image.
        """
        search = TextSearch(self.holders, self.max_text)
        found = [*self._own(image, url), *self._captions(image, search)]
        if heading is not None:
            search.taken.add(heading)
        found += self._around(image, search)
        if heading is not None and (text := search.text_of(heading)):
            up, down = _steps_between(image, heading)
            found.append(TextNear(text, TextKind.HEADING, heading.tag, up + down, up))
        if self.title:
            found.append(TextNear(self.title, TextKind.PAGE_TITLE, "title"))
        return list({(text.place, text.text): text for text in found}.values())

    def _own(self, image: Any, url: str) -> Iterator[TextNear]:
        for name, kind in (
            ("alt", TextKind.ALT),
            ("aria-label", TextKind.ALT),
            ("title", TextKind.TITLE),
        ):
            if text := self._plain(image.get(name)):
                yield TextNear(text, kind, name)
        if text := file_name_words(url):
            yield TextNear(text[: self.max_text], TextKind.FILE_NAME, "src")

    def _captions(self, image: Any, search: TextSearch) -> Iterator[TextNear]:
        """Yield the captions of an image, marked by element, name or reference."""
        for name in ("aria-describedby", "aria-labelledby"):
            for number, identifier in enumerate((image.get(name) or "").split()[:3]):
                element = self.by_id.get(identifier)
                if element is not None and (text := search.text_of(element)):
                    search.taken.add(element)
                    up, down = _steps_between(image, element)
                    yield TextNear(text, TextKind.CAPTION, element.tag, up + down + number, up)
        node = image
        for level in range(1, _CAPTION_LEVELS + 1):
            parent = node.getparent()
            if parent is None or parent.tag in _TOP:
                return
            for sibling in _nearest_first(parent, node):
                if _is_caption(sibling) and sibling not in self.holders:
                    search.taken.add(sibling)
                    if text := search.text_of(sibling):
                        yield TextNear(text, TextKind.CAPTION, sibling.tag, level + 1, level)
                    return
            if parent.tag in ("figure", "table"):
                return
            node = parent

    def _around(self, image: Any, search: TextSearch) -> Iterator[TextNear]:
        """Yield the text of the link around an image, and the nearest texts by level."""
        node = image
        column = None
        for level in range(1, self.levels + 1):
            parent = node.getparent()
            if parent is None:
                return
            if parent.tag == "a":
                for text, tag in ((parent.get("title"), "title"), (search.text_of(parent), "a")):
                    if plain := self._plain(text):
                        yield TextNear(plain, TextKind.LINK, tag, level, level)
            elif node.tag != "source":
                for kind, find in (
                    (TextKind.BEFORE, search.before),
                    (TextKind.AFTER, search.after),
                ):
                    if found := find(node, parent, column):
                        yield TextNear(found.text, kind, found.tag[:32], level + found.depth, level)
            if parent.tag in _TOP:
                return
            column = _cell_number(node, parent) if parent.tag == "tr" else None
            node = parent

    def _plain(self, text: str | None) -> str:
        if not text:
            return ""
        return " ".join(text[: 4 * self.max_text].split())[: self.max_text]


def file_name_words(url: str) -> str:
    """Return the descriptive words of an image's file name, or an empty string.

    >>> file_name_words("http://example.org/i/red-CircleOn_blue.300x200.png")
    'red Circle On blue'
    >>> file_name_words("http://example.org/IMG_2044.jpg")
    ''
    """
    name = unquote(path_of(url).rpartition("/")[2])
    stem, dot, extension = name.rpartition(".")
    stem = _SIZE.sub(" ", stem if dot and len(extension) <= 5 else name)
    words: list[str] = []
    for part in re.split(r"[\W_]+", stem):
        if not _HASH.match(part):
            words += _WORDS.findall(_CAMEL.sub(" ", part))
    told = [word for word in words if not word.isdigit()]
    return " ".join(word for word in told if word.lower() not in _DULL_WORDS and len(word) > 1)


def _is_caption(element: Any) -> bool:
    if not isinstance(element.tag, str):
        return False
    if element.tag in ("figcaption", "caption"):
        return True
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    return len(names) > 1 and bool(_CAPTION.search(names[:200]))


def _nearest_first(parent: Any, node: Any) -> list[Any]:
    """Return the siblings of an element, those after it first, as captions mostly follow."""
    siblings = list(parent)
    place = next(number for number, sibling in enumerate(siblings) if sibling is node)
    return [*siblings[place + 1 : place + 11], *siblings[max(0, place - 10) : place][::-1]]


def _cell_number(cell: Any, row: Any) -> int | None:
    """Return the index of a cell in its row; ``None`` if it is not a cell."""
    cells = [child for child in row if child.tag in ("td", "th")]
    return next((number for number, child in enumerate(cells) if child is cell), None)


def _steps_between(element: Any, other: Any) -> tuple[int, int]:
    """Return the steps up from an element to the common ancestor, and down to the other."""
    up: dict[Any, int] = {}
    node, steps = element, 0
    while node is not None and steps < _FARTHEST:
        up[node] = steps
        node, steps = node.getparent(), steps + 1
    node, down = other, 0
    while node is not None and node not in up and down < _FARTHEST:
        node, down = node.getparent(), down + 1
    return up.get(node, _FARTHEST), down
