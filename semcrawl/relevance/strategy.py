"""The base class of simple strategies."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import msgpack

from semcrawl.config.targets import Targets, extensions_of_type
from semcrawl.errors import UsageError
from semcrawl.links import Link, Page
from semcrawl.relevance.contract import Label, Outcome, Ranked
from semcrawl.relevance.rules import (
    is_non_semantic,
    is_plain,
    relevancy_inside_rdf,
    relevancy_r,
)
from semcrawl.settings.reader import fill, setting
from semcrawl.web.urls import extension_of, path_of

#: version of packed states
_VERSION = 1
#: size limit of an unpacked state, in bytes
_LARGEST = 1 << 31

#: exceptions of decoding an invalid state
_INVALID = (ValueError, TypeError, LookupError, AttributeError, OverflowError)

#: group of links that are N only for an unknown extension
UNLIKELY = "N"


def _extensions(targets: str | Sequence[str]) -> frozenset[str]:
    return Targets.parse(targets).extensions


@dataclass(frozen=True, slots=True)
class RuleOptions:
    """Options: two departures from the thesis, which thesis mode turns off, and targets."""

    #: waiting H links become HR when a parent of their shape is learned
    promote_waiting: bool = setting("SEMCRAWL_PROMOTE_WAITING")
    #: links that T.2 labels N wait in the last group, unless their extension is known
    keep_unlikely: bool = setting("SEMCRAWL_KEEP_UNLIKELY")
    #: extensions, without the dot, that count as a target's, like those of RDF
    target_extensions: frozenset[str] = setting("SEMCRAWL_TARGETS", _extensions)


@contextmanager
def reading_state(strategy: str) -> Iterator[None]:
    """Turn exceptions of reading an invalid state into ``UsageError``."""
    try:
        yield
    except (*_INVALID, zlib.error, msgpack.UnpackException) as error:
        raise UsageError(f"this is no learned state of the strategy {strategy!r}") from error


def pack_state(strategy: str, *fields: Any) -> bytes:
    """Pack fields into bytes for :func:`unpack_state`, without pickle."""
    plain = msgpack.packb([strategy, _VERSION, *fields], unicode_errors="surrogatepass")
    return zlib.compress(plain, 1)


def unpack_state(strategy: str, state: bytes) -> list[Any]:
    """Unpack the fields; raise ``ValueError`` for those of another strategy or version."""
    unpacker = zlib.decompressobj()
    plain = unpacker.decompress(state, _LARGEST)
    fields: list[Any] = msgpack.unpackb(plain, unicode_errors="surrogatepass")
    if not unpacker.eof or fields[:2] != [strategy, _VERSION]:
        raise ValueError("another's")
    return fields[2:]


class Strategy:
    """A strategy that learns nothing; subclasses choose the group of a labelled link."""

    name = ""

    def __init__(self, options: RuleOptions | None = None) -> None:
        self.options = options or RuleOptions()
        self._values: dict[str, float] = {}
        self._changed: dict[str, float] = {}

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Make the strategy from the settings of :class:`RuleOptions`."""
        return cls(fill(RuleOptions, settings))

    def rank(self, page: Page, links: Sequence[Link]) -> list[Ranked]:
        """Drop non-semantic links; label the others and put each into its group."""
        return [self._rank(page, link) for link in links]

    def _rank(self, page: Page, link: Link) -> Ranked:
        seed = link.element == "seed"
        if not seed and self.is_dropped(link):
            return Ranked(link, Label.N, None)
        label, rules = self.label(page, link)
        if label is Label.N and not seed:
            if not self.options.keep_unlikely:
                return Ranked(link, Label.N, None)
            self.set_value(UNLIKELY, -1e9)
            return Ranked(link, Label.N, UNLIKELY)
        group, key = self.group(page, link, label)
        return Ranked(link, label, group, key, rules)

    def is_dropped(self, link: Link) -> bool:
        """Whether link filter 1 (T.5) drops a link before any rule applies."""
        if self._is_target(link):
            return False
        return is_non_semantic(link) or (not self.options.keep_unlikely and is_plain(link.url))

    def _is_target(self, link: Link) -> bool:
        """Whether the extension is that of a wanted media type."""
        wanted = self.options.target_extensions
        if not wanted:
            return False
        if link.type and any(each[1:] in wanted for each in extensions_of_type(link.type)):
            return True
        return extension_of(path_of(link.url)) in wanted

    def label(self, page: Page, link: Link) -> tuple[Label, tuple[str, ...]]:
        """Return the label of a link and the rules that hold."""
        if self._is_target(link):
            return Label.R, ("ex1",)
        if page.rdf:
            return relevancy_inside_rdf(link), ()
        return relevancy_r(link)

    def group(self, page: Page, link: Link, label: Label) -> tuple[str, float]:
        """Return the group of a link and its key."""
        raise NotImplementedError

    def set_value(self, group: str, value: float) -> None:
        """Set the value of a group; the next :meth:`values` reports a change."""
        if self._values.get(group) != value:
            self._values[group] = self._changed[group] = value

    def learn(self, outcome: Outcome) -> None:
        """Do nothing."""

    def worth_telling(self, outcome: Outcome) -> bool:
        """Whether a subclass learns from outcomes."""
        return type(self).learn is not Strategy.learn

    def taken(self, urls: Sequence[str]) -> None:
        """Do nothing."""

    def values(self) -> Mapping[str, float]:
        """Return the values that are new or changed since the last call."""
        changed, self._changed = self._changed, {}
        return changed

    def rekeyed(self) -> Mapping[str, float]:
        """Return nothing, as keys never change."""
        return {}

    def explain(self, page: Page, link: Link) -> list[tuple[str, str]]:
        """Return rows with label, rules and group of a link."""
        ranked = self._rank(page, link)
        return [
            ("label", str(ranked.label)),
            ("rules", " ".join(ranked.rules) or "none holds"),
            ("group", ranked.group if ranked.group is not None else "dropped"),
        ]

    def dump_state(self) -> bytes:
        """Return ``b""``, as there is no state."""
        return b""

    def load_state(self, state: bytes) -> None:
        """Do nothing."""

    def _as_json(self, **kept: Any) -> bytes:
        """Encode a state for :meth:`_of_json`."""
        return json.dumps({"strategy": self.name, **kept}).encode()

    def _of_json(self, state: bytes) -> dict[str, Any]:
        """Decode a state; raise ``ValueError`` for another strategy's."""
        data: dict[str, Any] = json.loads(state)
        if data["strategy"] != self.name:
            raise ValueError("another strategy's")
        return data
