"""Appends a part to a feed of a format that has a beginning and an end.

Two spiders or workers of a run write one feed, and ``-o`` extends the feed of an earlier run. Lines
and compressed lines can follow each other; arrays of JSON, XML documents and tables with a header
cannot. Each function appends ``part`` to ``whole``, both seekable and uncompressed, and raises
``StoreError`` if they do not fit together.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, cast

from scrapy.extensions.postprocessing import PostProcessingManager

from semcrawl.config.extras import install_hint
from semcrawl.errors import StoreError

#: appends the second file to the first
Append = Callable[[IO[bytes], IO[bytes]], None]

_MEGABYTE = 1 << 20
#: bytes at the end or the beginning of a file that hold what closes or opens it
_EDGE = 1 << 16


def append_array(whole: IO[bytes], part: IO[bytes]) -> None:
    """Append the items of one JSON array to another."""
    end, closing = _edge(whole)
    begin = part.read(_EDGE)
    items = begin.lstrip()[1:].lstrip()
    if not closing.endswith(b"]") or not begin.lstrip().startswith(b"["):
        raise StoreError("it is no JSON array in UTF-8")
    if items.startswith(b"]"):
        return
    before = closing[:-1].rstrip()
    whole.seek(end - len(closing) + len(before))
    whole.truncate()
    whole.write(b"\n" if before.endswith(b"[") else b",\n")
    whole.write(items)
    shutil.copyfileobj(part, whole, _MEGABYTE)


def append_elements(whole: IO[bytes], part: IO[bytes]) -> None:
    """Append the content of one XML document's root element to another's."""
    end, closing = _edge(whole)
    begin = part.read(_EDGE)
    at = closing.rfind(b"</")
    start = begin.find(b"<", begin.find(b"?>") + 1)
    opening = b"<" + closing[at + 2 : -1] + b">"
    whole.seek(0)
    if at < 0 or begin[: start + len(opening)] != whole.read(start + len(opening)):
        raise StoreError("it is no XML document with the same root element and encoding")
    whole.seek(end - len(closing) + at)
    whole.truncate()
    whole.write(begin[start + len(opening) :].lstrip(b"\n"))
    shutil.copyfileobj(part, whole, _MEGABYTE)


def append_rows(whole: IO[bytes], part: IO[bytes]) -> None:
    """Append the rows of one CSV file to another with the same header."""
    whole.seek(0)
    if (header := part.readline()) != whole.readline():
        raise StoreError("it has other columns")
    end = whole.seek(0, os.SEEK_END)
    whole.seek(max(0, end - 1))
    if header and not whole.read(1).endswith(b"\n"):
        whole.write(b"\r\n")
    shutil.copyfileobj(part, whole, _MEGABYTE)


def _edge(file: IO[bytes]) -> tuple[int, bytes]:
    """Return the end of a file's text, and some bytes before it, without white space after."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - _EDGE))
    read = file.read(_EDGE)
    closing = read.rstrip()
    return end - len(read) + len(closing), closing


def join(append: Append, first: Path, second: Path, options: Mapping[str, Any]) -> None:
    """Append the file ``second`` to ``first``, both compressed as the feed's ``options`` say.

    Raises ``StoreError``; ``first`` is unusable then.
    """
    if first.stat().st_size == 0:
        shutil.copyfile(second, first)
        return
    plugins = options.get("postprocessing")
    if not plugins:
        with first.open("r+b") as whole, second.open("rb") as part:
            append(whole, part)
        return
    plain, added = (path.with_name(path.name + ".plain") for path in (first, second))
    try:
        for packed, unpacked in (first, plain), (second, added):
            with _opened(packed) as source, unpacked.open("wb") as target:
                shutil.copyfileobj(source, target, _MEGABYTE)
        with plain.open("r+b") as whole, added.open("rb") as part:
            append(whole, part)
        with plain.open("rb") as source, first.open("wb") as file:
            target_file: Any = PostProcessingManager(plugins, cast("Any", file), dict(options))
            shutil.copyfileobj(source, target_file, _MEGABYTE)
            target_file.close()
    finally:
        plain.unlink(missing_ok=True)
        added.unlink(missing_ok=True)


def _opened(path: Path) -> IO[bytes]:
    """Open a file, decompressed by what its first bytes say."""
    with path.open("rb") as file:
        begin = file.read(6)
    if begin.startswith(b"\x1f\x8b"):
        return cast("IO[bytes]", gzip.open(path))
    if begin.startswith(b"BZh"):
        return cast("IO[bytes]", bz2.open(path))
    if begin.startswith((b"\xfd7zXZ\x00", b"\x5d\x00\x00")):
        return cast("IO[bytes]", lzma.open(path))
    if begin.startswith(b"\x28\xb5\x2f\xfd"):
        try:
            import zstandard
        except ModuleNotFoundError:
            raise StoreError(f"Zstandard needs: {install_hint('compression')}") from None
        return cast("IO[bytes]", zstandard.open(path, "rb"))
    return path.open("rb")
