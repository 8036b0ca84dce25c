"""Entries as bytes: what a waiting link looks like inside Redis."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgpack

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Entry, Lease, WaitingLink

_DIGEST_BYTES = 10
_SEQUENCE_BYTES = 6
_KEY_BYTES = 8
#: a link's place: its key as a sortable double, and its sequence number
PLACE_BYTES = _KEY_BYTES + _SEQUENCE_BYTES
#: mark in the byte of the tries: the member ends with the number of a lost take
_LOST = 128
_SCHEMES = ("http://", "https://")
#: what bytes and values raise that are not what they should be
_UNREADABLE = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    OverflowError,
    RecursionError,
    msgpack.UnpackException,
)
#: msgpack's code of our own type: a text without its first part
_SHORTENED = 1
#: fewest characters worth leaving out
_WORTH_SHORTENING = 6


def digest(url: str) -> bytes:
    """80 bits of BLAKE2b: a chance of 4·10⁻⁷ that any two of 10⁹ URLs collide."""
    data = url.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def pack_blob(entry: Entry) -> bytes:
    """URL and payload, without what is known otherwise: the host, and beginnings in common."""
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


def _shorten(value: Any, url: str) -> Any:
    """Leave out what a text (most often the parent's URL) has in common with the link's URL."""
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


def text(data: bytes) -> str:
    """Read text that came from a URL or host name, whatever its bytes."""
    return data.decode("utf-8", "surrogatepass")


def unpack_element(root: str, queue: str, host: str, group: str, element: bytes) -> WaitingLink:
    """Read a waiting link with its key before it; ``FrontierCorrupt`` when it is not ours."""
    bits = int.from_bytes(element[:_KEY_BYTES], "big")
    # positive numbers sort behind negative ones, and these in reverse
    bits ^= 1 << 63 if bits >> 63 else (1 << 64) - 1
    (key,) = struct.unpack(">d", bits.to_bytes(_KEY_BYTES, "big"))
    return unpack_member(root, queue, host, group, key, element[_KEY_BYTES:])


def unpack_member(
    root: str, queue: str, host: str, group: str, key: float, member: bytes
) -> WaitingLink:
    """Read a waiting link; ``FrontierCorrupt`` when it is not ours. ``root``: of the keys."""
    try:
        tries, lost = member[_SEQUENCE_BYTES], None
        if tries >= _LOST:
            tries -= _LOST
            lost = int.from_bytes(member[-_SEQUENCE_BYTES:], "big")
            member = member[:-_SEQUENCE_BYTES]
        start = _SEQUENCE_BYTES + 2
        end = start + member[start - 1]
        label = text(member[start:end])
        rest, *more = msgpack.unpackb(
            member[end:], strict_map_key=False, unicode_errors="surrogatepass"
        )
        url = rest if isinstance(rest, str) else _SCHEMES[rest[0]] + host + rest[1]
        payload = {name: _lengthen(v, url) for name, v in more[0].items()} if more else {}
        barren = more[1] if len(more) > 1 else 0
        if not isinstance(url, str) or not isinstance(barren, int):
            raise TypeError("no link")
    except _UNREADABLE as error:
        raise FrontierCorrupt(
            f"the frontier's key '{root}wait:{queue}:{host}/{group}' holds a link that cannot be"
            f" read: {error or type(error).__name__}"
        ) from error
    entry = Entry(url, host, queue, group, key, payload, label, barren)
    return WaitingLink(entry, int.from_bytes(member[:_SEQUENCE_BYTES], "big"), tries, lost)


def unpack_lease(fields: Sequence[Any], root: str, created: str) -> Lease:
    """Read what ``take`` returns; ``FrontierCorrupt`` when it is not ours.

    ``root`` of the keys and the time when they were ``created`` name the crawl.
    """
    with readable(f"a lease under {root!r}"):
        lease_id, queue, host, group, key, member, flags = fields
        place, name, flags = (text(queue), text(host), text(group)), text(lease_id), int(flags)
        key = float(key)
    link = unpack_member(root, *place, key, member)
    number = name.rpartition(":")[2] if link.lost is None else link.lost
    made = hashlib.blake2b(
        f"{root}{created}/{number}".encode("utf-8", "surrogatepass"), digest_size=8
    )
    return Lease(
        name,
        link.entry,
        link.tries,
        bool(flags & 1),
        probe=bool(flags & 2),
        attempt=int.from_bytes(made.digest(), "big", signed=True),
        repeated=link.lost is not None,
    )


def unpack_taken(packed: bytes, root: str) -> list[Entry]:
    """Read which links a worker took; ``FrontierCorrupt`` when that is not ours."""
    with readable("an event of the frontier"):
        links = msgpack.unpackb(packed, raw=True)
        return [
            unpack_member(root, text(queue), text(host), text(group), 0.0, member).entry
            for queue, host, group, member in links
        ]


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Raise ``FrontierCorrupt`` when ``what`` is not what this version writes."""
    try:
        yield
    except _UNREADABLE as error:
        reason = str(error) or type(error).__name__
        raise FrontierCorrupt(f"{what} cannot be read: {reason}") from error
