"""Encodes outcomes as events, so that every worker's strategy learns from all workers."""

from __future__ import annotations

import dataclasses
import math
import zlib
from typing import Any

import msgpack

from semcrawl.config.typedfields import check_fields
from semcrawl.links import FoundBy, Link
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.web.vocabulary import Kind

#: version of the layout; older events are refused, except version 2, which has no topics
VERSION = 3
_WITHOUT_TOPIC = 2
#: events longer than this many bytes are compressed
_WORTH_COMPRESSING = 512
#: largest event that is unpacked, in bytes
_LARGEST = 1 << 27
_PLAIN, _PACKED = b"p", b"z"

_LINK_FIELDS = tuple(f.name for f in dataclasses.fields(Link))
_POSITION = _LINK_FIELDS.index("position")
_LINK_DEFAULTS = tuple(
    None if f.default is dataclasses.MISSING else f.default for f in dataclasses.fields(Link)
)


def encode_event(outcome: Outcome) -> bytes:
    """Encode an outcome with its new links (msgpack, compressed when long)."""
    plain: bytes = msgpack.packb(
        [
            VERSION, outcome.url, outcome.kind and str(outcome.kind), outcome.target,
            outcome.final_url, outcome.parent, outcome.depth, outcome.status, str(outcome.label),
            outcome.rules, outcome.group, outcome.duplicate,
            [_pack_ranked(ranked) for ranked in outcome.new_links], outcome.relevance, outcome.gain,
        ],
        unicode_errors="surrogatepass",
    )  # fmt: skip
    if len(plain) > _WORTH_COMPRESSING:
        return _PACKED + zlib.compress(plain, 1)
    return _PLAIN + plain


def decode_event(event: bytes) -> Outcome:
    """Decode an event of :func:`encode_event`; raise ``ValueError`` for anything else."""
    try:
        plain = event[1:]
        if event[:1] == _PACKED:
            unpacker = zlib.decompressobj()
            plain = unpacker.decompress(plain, _LARGEST)
            if not unpacker.eof:
                raise ValueError("cut short or too large")
        elif event[:1] != _PLAIN:
            raise ValueError("not an event")
        fields = msgpack.unpackb(plain, unicode_errors="surrogatepass", strict_map_key=False)
        if isinstance(fields, list) and fields[:1] == [_WITHOUT_TOPIC]:
            fields = [VERSION, *fields[1:], None, None]
        (version, url, kind, target, final_url, parent, depth, status, label, rules, group,
         duplicate, links, relevance, gain) = fields  # fmt: skip
        if version != VERSION:
            raise ValueError(f"version {version}, not {VERSION}")
        outcome = Outcome(
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
            relevance=_fraction(relevance),
            gain=_fraction(gain),
        )
        check_fields(outcome)
        outcome = dataclasses.replace(outcome, new_links=tuple(map(_unpack_ranked, links)))
    except (
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        zlib.error,
        msgpack.UnpackException,
    ) as error:
        raise ValueError(f"not an outcome: {error}") from None
    return outcome


def _fraction(value: Any) -> float | None:
    """Return a number from 0 to 1, or ``None``; raise ``ValueError`` for anything else."""
    if value is None:
        return None
    if not (type(value) in (float, int) and 0 <= value <= 1):
        raise ValueError("a relevance is not a number from 0 to 1")
    return float(value)


def _pack_ranked(ranked: Ranked) -> list[Any]:
    """Return a ranked link as a list, without the link's fields that have their defaults."""
    link = {
        i: value
        for i, (name, default) in enumerate(zip(_LINK_FIELDS, _LINK_DEFAULTS, strict=True))
        if (value := getattr(ranked.link, name)) != default
    }
    return [link, str(ranked.label), ranked.group, ranked.key, ranked.rules, ranked.judged]


def _unpack_ranked(fields: list[Any]) -> Ranked:
    link, label, group, key, rules, judged = fields
    types = {type(value) for i, value in link.items() if i != _POSITION}
    types.update(map(type, rules), (str if group is None else type(group),))
    numbers = (link.get(_POSITION, 0), *judged)
    is_key = type(key) in (float, int) and not math.isnan(key)  # an infinite key is valid
    if types - {str} or not is_key or not all(map(_is_number, numbers)):
        raise ValueError("a link's field is of another type")
    named = {_LINK_FIELDS[i]: value for i, value in link.items() if 0 <= i < len(_LINK_FIELDS)}
    found_by = FoundBy.read(named.pop("found_by", "")) or FoundBy.LINK
    return Ranked(
        Link(**named, found_by=found_by), Label(label), group, key, tuple(rules), tuple(judged)
    )


def _is_number(value: Any) -> bool:
    """Whether a value is a finite float, a truth value, or an integer that msgpack can encode."""
    if isinstance(value, int):
        return abs(value) < 1 << 63
    return isinstance(value, float) and math.isfinite(value)
