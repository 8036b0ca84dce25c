"""Summarises the links that a harvest did not fetch, by reason."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from semcrawl.frontier.contract import LeftOutLinks, Withheld
from semcrawl.links import Reason
from semcrawl.metadata.missed import MISSED_WORDS
from semcrawl.terminal.messages import amount

#: hosts and families per reason in ``summary.json``
_KEPT = 10
#: hosts and families per reason on the terminal
_SHOWN = 3
_INDENT = "  "
#: reasons to leave links out, which are counted up to a limit
_LEFT_OUT = frozenset(map(str, Reason))


@dataclass(frozen=True, slots=True)
class LinksLeft:
    """The links that a run left in the frontier, or out of it."""

    #: links that still wait; ``None`` if the run ended before they were counted
    waiting: int | None = 0
    #: targets that the strategy expects among them; ``None`` if unknown
    expected_left: float | None = None
    #: entries of lists that have not become links yet
    listed_left: int = 0
    #: the limit that ended the run: ``pages``, ``patience``, or empty
    limit: str = ""
    #: links that were left out of the frontier
    left_out: LeftOutLinks = field(default_factory=LeftOutLinks)
    #: links dropped because the frontier was full
    dropped: int = 0
    #: withheld families of links, the largest first
    withheld: Sequence[Withheld] = ()


class NotHarvested:
    """Links that were not harvested, by reason, over all runs on a job folder."""

    def __init__(self, missed: Mapping[str, Counter[str]], left: LinksLeft) -> None:
        """Merge the counts of records and frontier."""
        self._left = left
        #: reason → links by host with its port
        self._hosts = {str(reason): Counter(found) for reason, found in missed.items()}
        for reason, found in left.left_out.hosts.items():
            self._hosts.setdefault(str(reason), Counter()).update(found)
        self._families = left.withheld

    def as_dict(self) -> dict[str, Any]:
        """Return the counts as ``summary.json`` holds them."""
        result: dict[str, Any] = {}
        for reason in MISSED_WORDS:
            if found := self._hosts.get(reason):
                top = dict(_top(found, _KEPT))
                result[reason] = {"links": found.total(), "hosts": top}
                if others := len(found) - len(top):
                    result[reason]["other_hosts"] = others
                if self._left.left_out.more and reason in _LEFT_OUT:
                    result[reason]["at_least"] = True
        families = self._families
        if families:
            result["withheld"] = {
                "links": _links(families),
                "families": [asdict(family) for family in families[:_KEPT]],
            }
            if others := len(families[_KEPT:]):
                result["withheld"]["other_families"] = others
        if self._left.dropped:
            result["dropped"] = {"links": self._left.dropped}
        if self._left.waiting:
            result["waiting"] = {"links": self._left.waiting}
            if self._left.limit:
                result["waiting"]["limit"] = self._left.limit
        return result

    def lines(self, width: int) -> list[str]:
        """Return the lines for a terminal of ``width`` columns; none if nothing was missed."""
        parts = []
        for reason, words in MISSED_WORDS.items():
            if reason is Reason.OTHER_TYPE:
                continue  # no page is without them; summary.json has the number
            if found := self._hosts.get(reason):
                least = "at least " if self._left.left_out.more and reason in _LEFT_OUT else ""
                parts.append(f"{least}{found.total():,} {words}: {_named(found)}")
        families = self._families
        parts += [_family(family) for family in families[:_SHOWN]]
        if others := families[_SHOWN:]:
            parts.append(f"{_links(others):,} more of {len(others):,} such families")
        if self._left.dropped:
            parts.append(f"{self._left.dropped:,} dropped, as the frontier was full")
        if self._left.waiting:
            parts.append(self._waiting_text(self._left.waiting))
        if not parts:
            return []
        lines = ["Links not harvested:"]
        for part in parts:
            lines += textwrap.wrap(
                part,
                max(width, 20),
                initial_indent=_INDENT,
                subsequent_indent=2 * _INDENT,
                break_long_words=False,
                break_on_hyphens=False,
            )
        return [line.replace("\0", " ") for line in lines]

    def _waiting_text(self, waiting: int) -> str:
        listed = self._left.listed_left
        entries = f" and {listed:,} of lists" if listed else ""
        text = f"{amount(waiting, 'link')}{entries} wait{'s' if waiting + listed == 1 else ''}"
        if self._left.expected_left is not None:
            expected = f"{self._left.expected_left:,.0f}"
            expected += " target is" if expected == "1" else " targets are"
            text += f"; about {expected} expected behind them"
        if self._left.limit == "patience":
            return text + ". Ended early, out of patience."
        if self._left.limit == "pages":
            return text + ". All requests of this run (--pages) were sent; the next goes on."
        return text + ". The next run goes on."


def _links(withheld: Sequence[Withheld]) -> int:
    return sum(family.links for family in withheld)


def _family(family: Withheld) -> str:
    return (
        f"{family.links:,} of {family.document} like {family.pattern}, as none of "
        f"{family.asked:,} requests gave a result"
    )


def _top(found: Counter[str], number: int) -> list[tuple[str, int]]:
    """Return the hosts with the most links, in a deterministic order."""
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:number]


def _named(found: Counter[str]) -> str:
    """Name the hosts with the most links."""
    top = _top(found, _SHOWN)
    text = ", ".join(f"{host}\0{links:,}" for host, links in top)
    if others := len(found) - len(top):
        text += f" and {others:,} more host" + ("s" if others > 1 else "")
    return text
