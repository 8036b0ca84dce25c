"""Encodes the options that a crawl's scripts read from Redis."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import Any

import msgpack

from semcrawl.frontier.options import FrontierOptions

logger = logging.getLogger(__name__)


def pack_options(options: FrontierOptions) -> bytes:
    """Return the options that the scripts need as a msgpack map, with times in microseconds."""
    known: dict[str, int | str] = {
        "delay": round(options.delay * 1e6),
        "concurrency": options.concurrency,
        "fairness": options.fairness,
        "penalty_after": options.penalty_after,
        "penalty_time": round(options.penalty_time * 1e6),
        "max_waiting": options.max_waiting,
        "exact_limit": options.exact_limit,
        "family_tries": options.family_tries,
        "mirror_copies": options.mirror_copies,
        "chunk": options.chunk,
    }
    packed: bytes = msgpack.packb(known, use_bin_type=False)
    return packed


def changes(before: bytes, after: bytes) -> str:
    """Describe the differences between two packed maps."""
    old, new = _read(before), _read(after)
    changed = [name for name in new if new[name] != old.get(name)]
    return ", ".join(
        f"{name.replace('_', ' ')} {_shown(name, old.get(name))} -> {_shown(name, new[name])}"
        for name in changed
    )


def slowed(before: bytes, options: FrontierOptions) -> FrontierOptions:
    """Return options slowed down to the pace of a packed map where that is slower; log it."""
    old = _read(before)
    delay, concurrency = old.get("delay", 0), old.get("concurrency", options.concurrency)
    found = replace(
        options,
        delay=max(options.delay, delay / 1e6) if isinstance(delay, int) else options.delay,
        concurrency=min(options.concurrency, concurrency)
        if isinstance(concurrency, int)
        else options.concurrency,
    )
    if slower := changes(pack_options(options), pack_options(found)):
        logger.warning("others work on this crawl, and their slower pace holds: %s", slower)
    return found


def bloom_size(options: FrontierOptions) -> str:
    """Return the numbers of 2²⁰-bit strings and of hash functions of the Bloom filter.

    It needs n·log₂(1/error)/ln 2 bits and log₂(1/error) hash functions.
    """
    hashes = math.log2(1 / options.seen_error)
    bits = options.seen_capacity * hashes / math.log(2)
    return f"{math.ceil(bits / (1 << 20))} {math.ceil(hashes)}"


def _read(packed: bytes) -> dict[str, int | str]:
    """Decode the options that another worker stored; skip invalid ones."""
    try:
        found = msgpack.unpackb(packed)
    except (ValueError, msgpack.UnpackException):
        return {}
    options = found.items() if isinstance(found, dict) else ()
    return {n: v for n, v in options if isinstance(n, str) and type(v) in (int, str)}


def _shown(name: str, option: Any) -> str:
    """Return an option in the user's unit."""
    is_time = name in ("delay", "penalty_time") and option and isinstance(option, int)
    return f"{option / 1e6:g} s" if is_time else str(option)
