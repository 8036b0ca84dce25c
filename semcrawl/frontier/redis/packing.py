"""Encodes links as the frontier's scripts exchange and store them."""

from __future__ import annotations

import hashlib
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import msgpack

from semcrawl.errors import FrontierCorrupt
from semcrawl.frontier.contract import Counts, Entry, Lease, WaitingLink
from semcrawl.frontier.links import UNREADABLE, digest, pack_blob, text, unpack_blob
from semcrawl.frontier.workers import check_name

#: format of the keys; frontiers of another format are refused
FORMAT_VERSION = 6


@dataclass(frozen=True, slots=True)
class Keys:
    """Names of the frontier's keys. All start with ``{prefix}:``, the braces being a hash tag.

    Fixed keys:

    ========== ====== ======================================================================
    meta       hash   format, created, options (msgpack map); seq, takes (last numbers given
                      out); seen, buckets (size of the seen set and of its table), bloom (size of
                      the filter), bloomed, passing (digests in it; in both); done, expired,
                      dropped (totals for displays); dead (number of hosts found dead); chunks
                      (last number given out); left (links left out), leftfull (there were
                      more); server (last run id that had the keys), epoch (number of changes of
                      run); of a shard also crawl (the crawl's unique id), shard (its number),
                      shards (how many there are), whole (all of them were opened)
    queues     set    queues that ever held links
    values     hash   group → value
    pace       hash   host → ``delay concurrency``, delay in µs, where not the default
    cooling    zset   host → server time in µs until which it may not be asked
    lease      hash   lease id → msgpack of queue, host, group, key, member, worker
    errands    zset   worker, NUL, errand, NUL, host, by the server time in µs at which the
                      errand is void
    turns      hash   host → virtual time of its next turn (with fairness)
    yield      hash   host → ``fetches targets barren``, the last being consecutive
    rest       hash   host → server time in µs until which it rests (barren, down, or asked to)
    down       hash   host → ``since till rest why`` (times in µs), for hosts that do not answer
                      or block us; after each rest one link is a probe
    rests      hash   host → length of its last rest (µs), which shrinks as it answers
    good       hash   host → a URL that it served
    state      hash   name → blob; ``NAME:event`` → last event read before
    lefthosts  hash   reason and host → links left out
    withholding set   names of families with withheld links
    leftfirst  hash   reason and host → the first link left out
    said       string table of documents' statements, in buckets of four entries: a part of the
                      statement's hash (5 bytes) and of its document's (3), the newest first
    barrier    string number of times that a worker waited for replicas
    charter    string folders, seeds and scope of the crawl, as JSON (on a shared server)
    members    zset   worker → server time in µs until which it counts as active
    replies    hash   worker:slot → number of its last call, reply (for repeated calls)
    lists      set    lists of seeds from which any were taken
    events     stream events between workers: fields ``w`` (who), and ``e`` (outcome) with ``q``
                      (queue of its new links) or ``t`` (taken links)
    ========== ====== ======================================================================

    Keys of a queue ``Q``:

    ========== ====== ======================================================================
    hosts:Q    hash   host → number of waiting links, if there are any
    labels:Q   hash   label → number of waiting and delayed links
    groups:Q   hash   group → ``L`` place host (on one host), or ``G`` place (on several)
    order:Q    zset   groups with waiting links, by value
    front:Q    zset   hosts that may be asked, by minus the value of their best local group,
                      then turn and place of its first link
    filed:Q    hash   host → turn and place of its entry in front:Q
    global:Q   zset   groups on several hosts, in the same order
    leases:Q   zset   lease id → server time in µs at which it expires
    failed:Q   hash   sequence number → msgpack of host, group, key, member
    delayed:Q  zset   id of a given-back link → server time in µs from which it waits again
    ========== ====== ======================================================================

    Keys of parts:

    ================ ====== ================================================================
    wait:Q:HOST/GRP  list   the last chunk of waiting links, up to 64, in order: key (8 sortable
                            bytes) and member: sequence number (6), tries (1), length of label
                            (1), label, blob (msgpack of URL, payload); with 128 added to
                            tries, the number (6) of the first lost take
    more:Q:HOST/GRP  zset   the earlier chunks: greatest place, number of the chunk
    chunk:NUMBER     list   an earlier chunk, up to 64 links
    local:Q:HOST     zset   groups with links on this host only, by minus value, then place
    spread:Q:GRP     zset   hosts of a global group, without parked ones, by turn and place
    place:Q:GRP      hash   host → turn and place in spread:, or empty when parked
    parked:HOST      set    ``Q:GRP`` in which the host is parked until it may be asked again
    busy:HOST        hash   downloads in flight: lease id or errand → 0 (start not reported yet), 1
                            (no delay), or the server time in µs of its start; errands that
                            wait for their turn: ``w`` and their number in the queue
    seen:N           hash   digest (10 bytes) → sequence number and key of the link (and a byte
                            if the Bloom filter has it too), or nothing; bucket N
    family:NAME      hash   a family of links: document, pattern; useful, barren, unknown (numbers
                            of answers); met (its links met since it is barren); led, only (digests
                            of the last redirect's target, and of the first useful one)
    withheld:NAME    hash   its withheld links: sequence number → msgpack of queue, host, group,
                            key, member
    left:N           hash   digest of a link left out → reason and host; bucket N of 8192
    bloom:N          string 2²⁰ bits of the Bloom filter (with exact_limit)
    kept:NAME        string what is kept under NAME until it expires, such as a robots.txt
    address:A        string server times in µs of address A's next free turn and of its last turn
    at:A             zset   requests in flight to A, by server time in µs at which they are void
    reserved:HOST    string server time in µs of a host's turn at its address, and the address
    claim:NAME       string worker that claims NAME (for example to fetch a robots.txt)
    pending:LIST     zset   worker, NUL, seed: seeds that a worker took from LIST and has not
                            finished, by the time at which they return
    ================ ====== ================================================================

    A *place* is the key as 8 sortable bytes and the sequence number; a *turn* is 8 bytes.
    """

    prefix: str
    root: str = field(init=False)

    def __post_init__(self) -> None:
        """Check the prefix and set the root."""
        check_name(self.prefix)
        object.__setattr__(self, "root", "{" + self.prefix + "}:")

    @property
    def meta(self) -> str:
        """The key that carries the version stamp."""
        return self.root + "meta"

    def __getitem__(self, name: str) -> str:
        """Name of a key below the root."""
        return self.root + name


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
