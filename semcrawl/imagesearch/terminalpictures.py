"""Prints search results with their pictures in terminals that can show them."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from semcrawl.imagesearch.search import Answer, ShownImage, thumbnail_path
from semcrawl.terminal import plain_console

#: size of a picture in columns and lines
_WIDTH, _HEIGHT = 16, 8


def print_pictures(
    folder: Path, answer: Answer, shown: Sequence[ShownImage], wanted: str = "auto"
) -> bool:
    """Print each image with its picture; return whether it was done.

    ``wanted`` is ``always``, ``never``, or ``auto``: only if the terminal supports the kitty
    protocol or Sixel. On other terminals ``always`` draws coloured half blocks.
    """
    if wanted == "never" or (wanted == "auto" and not _can_be_asked()):
        return False
    # the import of textual_image queries the terminal for its abilities
    from rich.table import Table
    from rich.text import Text
    from textual_image.renderable import HalfcellImage, SixelImage, TGPImage
    from textual_image.renderable import Image as BestImage

    if wanted == "auto" and not issubclass(BestImage, SixelImage | TGPImage):
        return False
    chosen = BestImage if issubclass(BestImage, SixelImage | TGPImage) else HalfcellImage
    scores = {hit.image: hit.score for hit in answer.hits}
    console = plain_console()
    table = Table.grid(padding=(0, 2, 1, 0))
    table.add_column(width=_WIDTH)
    table.add_column(overflow="fold")
    for image in shown:
        path = thumbnail_path(folder, image.thumbnail)
        lines = [image.text, image.url, image.page, f"score {scores[image.id]:.2f}"]
        text = Text("\n".join(line for line in lines if line), overflow="fold")
        picture = chosen(path, width=_WIDTH, height=_HEIGHT) if path else Text("no picture")
        table.add_row(picture, text)
    console.print(table)
    return True


def _can_be_asked() -> bool:
    """Whether stdin and stdout are a terminal that can answer queries."""
    dumb = os.environ.get("TERM", "dumb") == "dumb"
    return sys.stdout.isatty() and sys.stdin.isatty() and not dumb
