"""Encodes links as the frontier's scripts exchange and store them."""

from __future__ import annotations

import hashlib
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Any

import msgpack

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Counts, Entry, Lease, WaitingLink
from semcrawl.frontier.linkblob import UNREADABLE, digest, pack_blob, text, unpack_blob

_SEQUENCE_BYTES = 6
_KEY_BYTES = 8
#: a link's place: its key as a sortable double, and its sequence number
PLACE_BYTES = _KEY_BYTES + _SEQUENCE_BYTES
#: bit in the byte of the tries: the member ends with the number of a lost take
_LOST = 128


def pack_links(entries: Iterable[tuple[int, Entry]], dynamic_depth: int = 0) -> list[list[Any]]:
    """Pack numbered links for ``add``, by queue, host and group, each URL once.

    Links at ``dynamic_depth`` barren documents are left out (0 = none). Raises ``ValueError`` for
    links that no frontier can store.
    """
    parts: defaultdict[tuple[str, str, str], list[Any]] = defaultdict(list)
    urls: set[str] = set()
    for index, entry in entries:
        entry.check()
        if (dynamic_depth and entry.barren >= dynamic_depth) or entry.url in urls:
            continue
        urls.add(entry.url)
        link = [index, entry.key, entry.label, digest(entry.url), pack_blob(entry)]
        parts[entry.queue, entry.host, entry.group] += link
    return [[*part, links] for part, links in parts.items()]


def pack_values(values: Mapping[str, float]) -> dict[str, float]:
    """Pack values of groups for ``set_values``; raise ``ValueError`` for an invalid one."""
    for group, value in values.items():
        if not isfinite(value):
            raise ValueError(f"a group's value is a finite number: {group!r} has {value}")
    return {group: float(value) for group, value in values.items()}


def pack_keys(keys: Sequence[tuple[Entry, float]]) -> list[list[Any]]:
    """Pack keys of links for ``rekey``; raise ``ValueError`` for an invalid one."""
    links: list[list[Any]] = []
    for entry, key in keys:
        if not isfinite(key):
            raise ValueError(f"a key is a finite number, not {key}: {entry.url}")
        links.append([entry.queue, entry.host, entry.group, digest(entry.url), key])
    return links


def pack_taken(entries: Iterable[Entry]) -> list[list[Any]]:
    """Pack taken links for an event, as :func:`unpack_taken` reads them."""
    return [[e.queue, e.host, e.group, bytes(_SEQUENCE_BYTES + 2) + pack_blob(e)] for e in entries]


def unpack_element(root: str, queue: str, host: str, group: str, element: bytes) -> WaitingLink:
    """Unpack a waiting link behind its key; raise ``FrontierCorrupt`` for invalid bytes."""
    bits = int.from_bytes(element[:_KEY_BYTES], "big")
    # the sortable form flips the sign of positive numbers, and all bits of negative ones
    bits ^= 1 << 63 if bits >> 63 else (1 << 64) - 1
    (key,) = struct.unpack(">d", bits.to_bytes(_KEY_BYTES, "big"))
    return unpack_member(root, queue, host, group, key, element[_KEY_BYTES:])


def unpack_member(
    root: str, queue: str, host: str, group: str, key: float, member: bytes
) -> WaitingLink:
    """Unpack a waiting link; raise ``FrontierCorrupt`` for invalid bytes.

    ``root`` is that of the keys, for the message.
    """
    try:
        tries, lost = member[_SEQUENCE_BYTES], None
        if tries >= _LOST:
            tries -= _LOST
            lost = int.from_bytes(member[-_SEQUENCE_BYTES:], "big")
            member = member[:-_SEQUENCE_BYTES]
        start = _SEQUENCE_BYTES + 2
        end = start + member[start - 1]
        label = text(member[start:end])
        url, payload, barren = unpack_blob(member[end:], host)
    except UNREADABLE as error:
        raise FrontierCorrupt(
            f"the frontier's key '{root}wait:{queue}:{host}/{group}' holds a link that cannot be"
            f" read: {error or type(error).__name__}"
        ) from error
    entry = Entry(url, host, queue, group, key, payload, label, barren)
    return WaitingLink(entry, int.from_bytes(member[:_SEQUENCE_BYTES], "big"), tries, lost)


def unpack_lease(fields: Sequence[Any], root: str, created: str) -> Lease:
    """Unpack a lease of ``take``; raise ``FrontierCorrupt`` for invalid fields.

    The ``root`` of the keys and their ``created`` time identify the crawl.
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
    """Unpack the taken links of an event; raise ``FrontierCorrupt`` for invalid bytes."""
    with readable("an event of the frontier"):
        links = msgpack.unpackb(packed, raw=True)
        return [
            unpack_member(root, text(queue), text(host), text(group), 0.0, member).entry
            for queue, host, group, member in links
        ]


def unpack_counts(reply: Sequence[Any]) -> tuple[Counts, bytes]:
    """Unpack the reply of ``counts``, and its token of activity."""
    waiting, leased, seeds, seen, hosts, dropped, flat, activity = reply
    labels: dict[str, int] = {}
    for label, number in zip(flat[::2], flat[1::2], strict=True):
        labels[text(label)] = labels.get(text(label), 0) + number
    return Counts(waiting, leased, seeds, seen, hosts, labels, dropped), activity


@contextmanager
def readable(what: str) -> Iterator[None]:
    """Raise ``FrontierCorrupt`` if ``what`` cannot be decoded in the block."""
    try:
        yield
    except UNREADABLE as error:
        reason = str(error) or type(error).__name__
        raise FrontierCorrupt(f"{what} cannot be read: {reason}") from error
