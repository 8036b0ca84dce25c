"""Bounded excerpts of a document's statements."""

from __future__ import annotations

from collections.abc import Iterator

from semcrawl.topics.contract import Document

#: least bytes of a block, which joins small pieces
_BLOCK = 1 << 18


def blocks(document: Document, size: int) -> Iterator[bytes]:
    """Yield the first N-Quads lines of a document, at most ``size`` bytes, in large blocks.

    A line that crosses ``size`` is left out. Each block ends with a line end.
    """
    held: list[bytes] = []
    length = 0
    for piece in document.statements():
        if len(piece) >= size:
            piece = piece[: piece.rfind(b"\n", 0, size) + 1]
            size = len(piece)
        size -= len(piece)
        held.append(piece)
        length += len(piece)
        if length >= _BLOCK or size <= 0:
            yield _joined(held)
            held, length = [], 0
        if size <= 0:
            return
    if held:
        yield _joined(held)


def _joined(pieces: list[bytes]) -> bytes:
    block = b"".join(pieces)
    return block if block.endswith(b"\n") or not block else block + b"\n"
