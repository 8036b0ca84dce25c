"""Entries as bytes: what a waiting link looks like inside Redis."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import isfinite
from typing import Any

import msgpack

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Entry, Lease

_DIGEST_BYTES = 10
_SEQUENCE_BYTES = 6
_SCHEMES = ("http://", "https://")


def digest(url: str) -> bytes:
    """80 bits of BLAKE2b: a chance of 4·10⁻⁷ that any two of 10⁹ URLs collide."""
    data = url.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


def pack_blob(entry: Entry) -> bytes:
    """URL and payload; the host, which the key already names, is left out of the URL."""
    rest: Any = entry.url
    for code, scheme in enumerate(_SCHEMES):
        start = scheme + entry.host
        if entry.url.startswith(start):
            rest = [code, entry.url[len(start) :]]
    parts = [rest, dict(entry.payload)] if entry.payload else [rest]
    packed: bytes = msgpack.packb(parts, unicode_errors="surrogatepass")
    return packed


def check(entry: Entry) -> None:
    """Raise ``ValueError`` for what would break the key schema or the order."""
    if ":" in entry.queue or not entry.queue:
        raise ValueError(f"a queue's name is not empty and has no colon: {entry.queue!r}")
    if "/" in entry.host or not entry.host:
        raise ValueError(f"a host is not empty and has no slash: {entry.host!r}")
    if not isfinite(entry.key):
        raise ValueError(f"a key is a finite number, not {entry.key}")
    if len(entry.label.encode()) > 255:
        raise ValueError("a label has at most 255 bytes")


def text(data: bytes) -> str:
    """Read text that came from a URL or host name, whatever its bytes."""
    return data.decode("utf-8", "surrogatepass")


def unpack_lease(fields: Sequence[bytes], keys_root: str) -> Lease:
    """Read what ``take`` returns for a link; ``FrontierCorrupt`` when it is not ours."""
    try:
        lease_id, queue, host, group, key, member = fields
        queue_name, host_name, group_name = text(queue), text(host), text(group)
        tries = member[_SEQUENCE_BYTES]
        start = _SEQUENCE_BYTES + 2
        end = start + member[start - 1]
        label = text(member[start:end])
        rest, *payload = msgpack.unpackb(
            member[end:], strict_map_key=False, unicode_errors="surrogatepass"
        )
        url = rest if isinstance(rest, str) else _SCHEMES[rest[0]] + host_name + rest[1]
        entry = Entry(
            url=url,
            host=host_name,
            queue=queue_name,
            group=group_name,
            key=float(key),
            payload=payload[0] if payload else {},
            label=label,
        )
    except (ValueError, TypeError, IndexError, KeyError) as error:
        names = b":".join(bytes(f) for f in fields[1:4]).decode("utf-8", "replace")
        raise FrontierCorrupt(
            f"the frontier's links under {keys_root + 'wait:'!r} ({names}) hold an entry that"
            f" cannot be read: {error}"
        ) from error
    return Lease(id=text(lease_id), entry=entry, tries=tries)
