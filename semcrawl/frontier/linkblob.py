"""Encodes links as bytes, for every backend: digests of URLs, and blobs of URL and payload."""

from __future__ import annotations

import hashlib
from typing import Any

import msgpack

from semcrawl.frontier.contract import Entry

#: exceptions that invalid bytes and values raise
UNREADABLE = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    msgpack.UnpackException,
)
_DIGEST_BYTES = 10
_SCHEMES = ("http://", "https://")
#: code of our msgpack extension type: a text without the beginning that it shares with the URL
_SHORTENED = 1
#: fewest shared characters that are left out
_WORTH_SHORTENING = 6


def digest(url: str) -> bytes:
    """Return 80 bits of BLAKE2b; two of 10⁹ URLs collide with a probability of 4·10⁻⁷."""
    data = url.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def pack_blob(entry: Entry) -> bytes:
    """Encode URL and payload, without the host and the beginnings that texts share with the URL."""
    rest: Any = entry.url
    for code, scheme in enumerate(_SCHEMES):
        start = scheme + entry.host
        if entry.url.startswith(start):
            rest = [code, entry.url[len(start) :]]
    parts = [rest]
    if entry.payload or entry.barren:
        parts.append({name: _shorten(v, entry.url) for name, v in entry.payload.items()})
    if entry.barren:
        parts.append(entry.barren)
    packed: bytes = msgpack.packb(parts, unicode_errors="surrogatepass")
    return packed


def unpack_blob(blob: bytes, host: str) -> tuple[str, dict[str, Any], int]:
    """Decode URL, payload and :attr:`Entry.barren`; raise one of ``UNREADABLE`` for other bytes."""
    rest, *more = msgpack.unpackb(blob, strict_map_key=False, unicode_errors="surrogatepass")
    url = rest if isinstance(rest, str) else _SCHEMES[rest[0]] + host + rest[1]
    payload = {name: _lengthen(v, url) for name, v in more[0].items()} if more else {}
    barren = more[1] if len(more) > 1 else 0
    if not isinstance(url, str) or not isinstance(barren, int):
        raise TypeError("no link")
    return url, payload, barren


def text(data: bytes) -> str:
    """Decode text of a URL or host name, whatever its bytes."""
    return data.decode("utf-8", "surrogatepass")


def _shorten(value: Any, url: str) -> Any:
    """Omit the beginning that a text, mostly the parent's URL, shares with the link's URL."""
    if not isinstance(value, str) or value[:_WORTH_SHORTENING] != url[:_WORTH_SHORTENING]:
        return value
    # bisection: a few comparisons in C are faster than one per character
    common, high = 0, min(len(value), len(url), 255)
    while common < high:
        middle = (common + high + 1) // 2
        if url.startswith(value[:middle]):
            common = middle
        else:
            high = middle - 1
    if common < _WORTH_SHORTENING:
        return value
    rest = value[common:].encode("utf-8", "surrogatepass")
    return msgpack.ExtType(_SHORTENED, bytes([common]) + rest)


def _lengthen(value: Any, url: str) -> Any:
    if isinstance(value, msgpack.ExtType) and value.code == _SHORTENED:
        return url[: value.data[0]] + text(value.data[1:])
    return value
