"""The links of pages in the records: addresses and words, as one compressed text per page."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

#: name of the text among the extra values of a record
LINKS = "links"
#: most characters of the words of a link
_MOST_WORDS = 100
#: most bytes of the links of a page, before compression
_MOST_BYTES = 8 << 20


def links_text(links: Iterable[tuple[str, str]]) -> str:
    """Return the text of links, each an address with its words."""
    lines = (f"{url} {' '.join(words.split())[:_MOST_WORDS]}".rstrip() for url, words in links)
    return "\n".join(lines)


def pack_links(text: str) -> bytes:
    """Compress the text of :func:`links_text`; of a very long one, its beginning."""
    data = text.encode("utf-8", "replace")
    if len(data) > _MOST_BYTES:
        data = data[: data.rfind(b"\n", 0, _MOST_BYTES)]
    return zlib.compress(data, 1)


def read_links(packed: bytes) -> Iterator[tuple[str, str]]:
    """Yield the links of a page, each an address with its words; none of damaged bytes."""
    try:
        data = zlib.decompressobj().decompress(packed, _MOST_BYTES)
    except zlib.error:
        return
    for line in data.decode("utf-8", "replace").split("\n"):
        url, _, words = line.partition(" ")
        if url:
            yield url, words
