"""Taken links, as leases and as events for other workers."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import msgpack

from semcrawl.frontier.contract import Entry, Lease
from semcrawl.frontier.linkblob import text
from semcrawl.frontier.sqlite.links import entry_of
from semcrawl.frontier.sqlite.transaction import Transaction, encoded


@dataclass(frozen=True, slots=True)
class Taken:
    """A taken link, with the columns of its row."""

    number: int
    queue: str
    host: str
    group: str
    key: float
    tries: int
    lost: int | None
    label: bytes
    blob: bytes
    held: bool
    probe: bool


def lease_of(t: Transaction, link: Taken) -> Lease:
    """Return the lease of a link; the crawl and its first lost take determine the attempt."""
    fields = (link.key, link.label, link.blob)
    number = link.number if link.lost is None else link.lost
    made = hashlib.blake2b(f"{t.uid}/{number}".encode(), digest_size=8)
    return Lease(
        f"{link.queue}:{link.number}",
        entry_of(t, link.queue, link.host, link.group, fields),
        link.tries,
        link.held,
        link.probe,
        int.from_bytes(made.digest(), "big", signed=True),
        link.lost is not None,
    )


def pack_taken(taken: Sequence[Taken]) -> bytes:
    """Pack the links of a take for its event."""
    rows = [[encoded(x.queue), encoded(x.host), encoded(x.group), x.label, x.blob] for x in taken]
    packed: bytes = msgpack.packb(rows)
    return packed


def unpack_taken(t: Transaction, packed: bytes) -> list[Entry]:
    """Unpack the links of a take; raise one of ``UNREADABLE`` for invalid bytes."""
    return [
        entry_of(t, text(queue), text(host), text(group), (0.0, label, blob))
        for queue, host, group, label, blob in msgpack.unpackb(packed)
    ]
