"""Links as bytes: digests of URLs, and blobs of URL and payload, the same in every backend."""

from __future__ import annotations

import hashlib
from typing import Any

import msgpack

from semcrawl.frontier.contract import Entry

#: exceptions that malformed bytes and values raise
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
#: msgpack's code of our own type: a text without its first part
_SHORTENED = 1
#: fewest characters worth leaving out
_WORTH_SHORTENING = 6


def digest(url: str) -> bytes:
    """80 bits of BLAKE2b: a chance of 4·10⁻⁷ that any two of 10⁹ URLs collide."""
    data = url.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def pack_blob(entry: Entry) -> bytes:
    """URL and payload, without the parts that the group knows: the host, and common beginnings."""
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
    """URL, payload and barren documents above; raises one of ``UNREADABLE`` for other bytes."""
    rest, *more = msgpack.unpackb(blob, strict_map_key=False, unicode_errors="surrogatepass")
    url = rest if isinstance(rest, str) else _SCHEMES[rest[0]] + host + rest[1]
    payload = {name: _lengthen(v, url) for name, v in more[0].items()} if more else {}
    barren = more[1] if len(more) > 1 else 0
    if not isinstance(url, str) or not isinstance(barren, int):
        raise TypeError("no link")
    return url, payload, barren


def text(data: bytes) -> str:
    """Read text that came from a URL or host name, whatever its bytes."""
    return data.decode("utf-8", "surrogatepass")


def _shorten(value: Any, url: str) -> Any:
    """Leave out the part that a text (mostly the parent's URL) shares with the link's URL."""
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
