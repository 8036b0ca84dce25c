"""Parses ``srcset``, the addresses of an image in several sizes, like browsers (HTML, 4.8.4)."""

from __future__ import annotations

import re

#: most characters and candidates that are read
_MAX_LENGTH = 50_000
_MAX_CANDIDATES = 100
_SPACES = " \t\n\r\f"
_WIDTH = re.compile(r"(\d{1,6})w\Z")
_DENSITY = re.compile(r"(\d{0,4}(?:\.\d{1,6})?)x\Z")


def largest(srcset: str) -> str:
    """Return the address of the widest or densest candidate; empty if none is usable.

    If an invalid attribute mixes widths and densities, widths win.

    >>> largest("small.png 320w, large.png 1280w")
    'large.png'
    >>> largest("one.png, two.png 2x")
    'two.png'
    """
    best, address = 0.0, ""
    for url, size in candidates(srcset):
        if size > best:
            best, address = size, url
    return address


def candidates(srcset: str) -> list[tuple[str, float]]:
    """Return addresses and sizes, without ``data:`` URLs and invalid candidates."""
    text = srcset[:_MAX_LENGTH]
    found: list[tuple[str, float]] = []
    place = 0
    while len(found) < _MAX_CANDIDATES:
        while place < len(text) and text[place] in _SPACES + ",":
            place += 1
        if place >= len(text):
            break
        end = place
        while end < len(text) and text[end] not in _SPACES:
            end += 1
        url = text[place:end]
        place = end
        descriptor = ""
        if url.endswith(","):
            url = url.rstrip(",")
        else:
            place, descriptor = _descriptor(text, place)
        size = _size(descriptor)
        if url and size is not None and url[:5].lower() != "data:":
            found.append((url, size))
    return found


def _descriptor(text: str, place: int) -> tuple[int, str]:
    """Return the end of a candidate and its descriptor; commas in parentheses do not end it."""
    depth = 0
    for end in range(place, len(text)):
        sign = text[end]
        if sign == "(":
            depth += 1
        elif sign == ")":
            depth = max(0, depth - 1)
        elif sign == "," and not depth:
            return end + 1, text[place:end].strip(_SPACES)
    return len(text), text[place:].strip(_SPACES)


def _size(descriptor: str) -> float | None:
    """Return a number to compare candidates; ``None`` for invalid descriptors."""
    if not descriptor:
        return 1.0
    width = height = density = None
    for part in descriptor.split():
        if match := _WIDTH.match(part):
            width = int(match[1])
        elif re.fullmatch(r"\d{1,6}h", part):
            height = part
        elif (match := _DENSITY.match(part)) and match[1] not in ("", "."):
            density = float(match[1])
        else:
            return None
    if width is not None:
        return 1000.0 + width if width and density is None else None
    return None if height is not None or not density else density
