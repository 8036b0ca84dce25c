"""Hosts that were waited for long enough, and what is said of them at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from semcrawl.crawl.health import Sign

#: what is said of a host, by why it rests
WORDS = {
    Sign.SILENT: "does not answer",
    Sign.REFUSING: "answers 429 to everything",
    Sign.BLOCKING: "answers 403 to everything",
}
#: hosts that get a line of their own
_SHOWN = 5


@dataclass(slots=True)
class GivenUp:
    """A host whose links were set aside."""

    host: str
    #: ``does not answer``, say
    what: str
    #: when that began (seconds since the epoch)
    since: float
    links: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return it in the form of ``summary.json``."""
        return {
            "host": self.host,
            "reason": self.what,
            "since": round(self.since, 3),
            "links": self.links,
        }


def given_up_lines(hosts: Sequence[GivenUp]) -> Iterator[str]:
    """Yield lines on hosts whose links were set aside: which, why, since when, and how many."""
    first = sorted(hosts, key=lambda host: -host.links)
    for host in first[:_SHOWN]:
        began = time.strftime("%H:%M:%S", time.localtime(host.since))
        yield f"{host.host} {host.what} since {began}: {_links(host.links)} of it set aside."
    if others := first[_SHOWN:]:
        links = sum(host.links for host in others)
        yield f"{len(others):,} other hosts do not answer: {_links(links)} set aside."


def _links(number: int) -> str:
    return "1 link" if number == 1 else f"{number:,} links"
