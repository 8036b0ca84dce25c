"""Outcomes as bytes, so that every worker's strategy hears what the others fetched."""

from __future__ import annotations

import dataclasses
import math
import zlib
from typing import Any

import msgpack

from semcrawl.links import Link
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.vocabulary import Kind

#: changes with the layout; an event of another version is refused
VERSION = 2
#: events longer than this many bytes are compressed
_WORTH_COMPRESSING = 512
#: largest event that is unpacked, in bytes
_LARGEST = 1 << 27
_PLAIN, _PACKED = b"p", b"z"

_LINK_FIELDS = tuple(f.name for f in dataclasses.fields(Link))
_LINK_DEFAULTS = tuple(
    None if f.default is dataclasses.MISSING else f.default for f in dataclasses.fields(Link)
)


def encode_event(outcome: Outcome) -> bytes:
    """An outcome with its new links as bytes (msgpack, compressed when it pays)."""
    plain: bytes = msgpack.packb(
        [
            VERSION, outcome.url, outcome.kind and str(outcome.kind), outcome.target,
            outcome.final_url, outcome.parent, outcome.depth, outcome.status, str(outcome.label),
            outcome.rules, outcome.group, outcome.duplicate,
            [_packed(ranked) for ranked in outcome.new_links],
        ],
        unicode_errors="surrogatepass",
    )  # fmt: skip
    if len(plain) > _WORTH_COMPRESSING:
        return _PACKED + zlib.compress(plain, 1)
    return _PLAIN + plain


def decode_event(event: bytes) -> Outcome:
    """The outcome that :func:`encode_event` was given; raise ``ValueError`` for anything else."""
    try:
        plain = event[1:]
        if event[:1] == _PACKED:
            unpacker = zlib.decompressobj()
            plain = unpacker.decompress(plain, _LARGEST)
            if not unpacker.eof:
                raise ValueError("cut short or too large")
        elif event[:1] != _PLAIN:
            raise ValueError("not an event")
        (version, url, kind, target, final_url, parent, depth, status, label, rules, group,
         duplicate, links) = msgpack.unpackb(
            plain, unicode_errors="surrogatepass", strict_map_key=False
        )  # fmt: skip
        if version != VERSION:
            raise ValueError(f"version {version}, not {VERSION}")
        return Outcome(
            url=url,
            kind=None if kind is None else Kind(kind),
            target=bool(target),
            final_url=final_url,
            parent=parent,
            depth=depth,
            status=status,
            label=Label(label),
            rules=tuple(rules),
            group=group,
            duplicate=bool(duplicate),
            new_links=tuple(_unpacked(fields) for fields in links),
        )
    except (
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        zlib.error,
        msgpack.UnpackException,
    ) as error:
        raise ValueError(f"not an outcome: {error}") from None


def _packed(ranked: Ranked) -> list[Any]:
    """A ranked link; its fields that are as by default are left out."""
    link = {
        i: value
        for i, (name, default) in enumerate(zip(_LINK_FIELDS, _LINK_DEFAULTS, strict=True))
        if (value := getattr(ranked.link, name)) != default
    }
    return [link, str(ranked.label), ranked.group, ranked.key, ranked.rules, ranked.judged]


def _unpacked(fields: list[Any]) -> Ranked:
    link, label, group, key, rules, judged = fields
    if not all(map(math.isfinite, judged)):
        raise ValueError("a judgement is no number")
    named = {_LINK_FIELDS[i]: value for i, value in link.items() if 0 <= i < len(_LINK_FIELDS)}
    return Ranked(Link(**named), Label(label), group, key, tuple(rules), tuple(judged))
