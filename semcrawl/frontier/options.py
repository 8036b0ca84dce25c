"""The choices that a frontier offers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import msgpack

from semcrawl.errors import UsageError


@dataclass(frozen=True, slots=True)
class FrontierOptions:
    """Options of a frontier.

    Those that the scripts know (:meth:`script_options`) are the same for all workers of a crawl:
    those of the worker that opened it last. Raises ``UsageError`` for values that make no sense.
    """

    #: seconds after which an unfinished link goes back in
    lease_time: float = 120.0
    #: seconds between request starts on a host that has no pace of its own
    delay: float = 1.0
    #: requests at a time on a host that has no pace of its own
    concurrency: int = 1
    #: who is first among hosts whose best groups have equal values: ``off`` = the smallest key,
    #: then first in; ``equal`` = hosts in turn; ``yield`` = in turn, richer hosts more often
    fairness: Literal["off", "equal", "yield"] = "off"
    #: SWSE's penalty of barren domains (sources.md T.8): a host rests after this many fetches in a
    #: row without a target (0 = never) …
    penalty_after: int = 0
    #: … for this many seconds
    penalty_time: float = 600.0
    #: BioCrawler's dynamic depth (sources.md T.8): links with this many documents without a
    #: target in a row above them are not put in (0 = all are); see :attr:`Entry.barren`
    dynamic_depth: int = 0
    #: URLs that the seen set keeps exactly (0 = all); those that come later are kept in a Bloom
    #: filter, which takes a tenth of the memory and now and then takes a new URL for a seen one
    exact_limit: int = 0
    #: URLs for which the Bloom filter is laid out; fixed when a crawl begins
    seen_capacity: int = 1_000_000_000
    #: share of new URLs that a full Bloom filter takes for seen ones; fixed when a crawl begins
    seen_error: float = 1e-6
    #: most waiting links (0 = no limit); beyond it the last links of the worst group are dropped
    max_waiting: int = 0
    #: links of a family (:mod:`semcrawl.relevance.families`) that bring nothing before the others
    #: are withheld (0 = all are asked for)
    family_tries: int = 10
    #: paths by which two origins give the same before they count as mirrors
    #: (:mod:`semcrawl.relevance.mirrors`; 0 = none do)
    mirror_copies: int = 0
    #: most failed links kept aside for ``requeue``
    max_failed: int = 100_000
    #: seconds to wait for a server that went away before ``FrontierUnavailable`` is raised
    patience: float = 300.0
    #: seconds after which :meth:`Frontier.next_ready` wants to be asked again while only
    #: downloads under way keep hosts from being asked
    poll: float = 0.1
    #: most links that wait in one list on the server: it is read and moved as a whole
    chunk: int = 64
    #: seconds to wait for an answer of the server
    timeout: float = 30.0

    def script_options(self) -> bytes:
        """Return the choices that the scripts need, as a msgpack map; times in microseconds."""
        known: dict[str, int | str] = {
            "delay": round(self.delay * 1e6),
            "concurrency": self.concurrency,
            "fairness": self.fairness,
            "penalty_after": self.penalty_after,
            "penalty_time": round(self.penalty_time * 1e6),
            "max_waiting": self.max_waiting,
            "exact_limit": self.exact_limit,
            "family_tries": self.family_tries,
            "mirror_copies": self.mirror_copies,
            "chunk": self.chunk,
        }
        packed: bytes = msgpack.packb(known, use_bin_type=False)
        return packed

    def changes(self, before: bytes) -> str:
        """Say in which script options these differ from others."""
        old, new = (_read(packed) for packed in (before, self.script_options()))
        changed = [name for name in new if new[name] != old.get(name)]
        return ", ".join(
            f"{name.replace('_', ' ')} {_shown(name, old.get(name))} -> {_shown(name, new[name])}"
            for name in changed
        )

    def as_strict_as(self, before: bytes) -> FrontierOptions:
        """Return these with a pace that is nowhere quicker than that of other script options."""
        old = _read(before)
        delay, concurrency = old.get("delay", 0), old.get("concurrency", self.concurrency)
        return replace(
            self,
            delay=max(self.delay, delay / 1e6) if isinstance(delay, int) else self.delay,
            concurrency=min(self.concurrency, concurrency)
            if isinstance(concurrency, int)
            else self.concurrency,
        )

    def bloom_size(self) -> str:
        """Strings of 2²⁰ bits, and hash functions: n·log₂(1/error)/ln 2 bits, log₂(1/error)."""
        hashes = math.log2(1 / self.seen_error)
        bits = self.seen_capacity * hashes / math.log(2)
        return f"{math.ceil(bits / (1 << 20))} {math.ceil(hashes)}"

    def __post_init__(self) -> None:
        """Check."""
        if not self.lease_time > 0:
            raise UsageError(f"lease time must be more than 0 s, not {self.lease_time}")
        if not 0 <= self.delay < 1e6:
            raise UsageError(f"crawl delay must be 0 to 1,000,000 s, not {self.delay}")
        if self.chunk < 1:
            raise UsageError(f"a chunk holds at least 1 link, not {self.chunk}")
        if self.concurrency < 1:
            raise UsageError(f"concurrency per host must be at least 1, not {self.concurrency}")
        if self.fairness not in ("off", "equal", "yield"):
            raise UsageError(f"fairness must be off, equal or yield, not {self.fairness!r}")
        if self.seen_capacity < 1 or not 0 < self.seen_error < 1:
            raise UsageError("seen capacity must be at least 1, seen error between 0 and 1")
        for name in (
            "penalty_after",
            "dynamic_depth",
            "max_waiting",
            "max_failed",
            "exact_limit",
            "family_tries",
            "mirror_copies",
        ):
            if getattr(self, name) < 0:
                raise UsageError(f"{name.replace('_', ' ')} must not be negative")


def _read(packed: bytes) -> dict[str, int | str]:
    """Script options as another worker has left them; what is none of them is passed over."""
    try:
        found = msgpack.unpackb(packed)
    except (ValueError, msgpack.UnpackException):
        return {}
    options = found.items() if isinstance(found, dict) else ()
    return {n: v for n, v in options if isinstance(n, str) and type(v) in (int, str)}


def _shown(name: str, option: Any) -> str:
    """An option as users set it."""
    is_time = name in ("delay", "penalty_time") and option and isinstance(option, int)
    return f"{option / 1e6:g} s" if is_time else str(option)
