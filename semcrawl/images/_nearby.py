"""Finds the nearest text before or after an element in a page's tree."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from semcrawl.links.extraction import BLOCKS
from semcrawl.links.pagetext import SILENT, joined, texts_in

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
