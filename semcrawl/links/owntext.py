"""Tells a page's own text from what most pages of its site repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import chain

from semcrawl.links.pagetext import PageText
from semcrawl.machine.recent import Recent
from semcrawl.web.hosts import netloc_of
from semcrawl.web.urls import path_of

#: hosts and folders whose lines are remembered, those that gave a page last
_MOST_PLACES = 200
#: lines remembered of each, some 150 bytes a line; half of them are forgotten when there are more,
#: the rarest first
_MOST_LINES = 2_000
#: pages of a place from which on lines can be known to repeat
_FEWEST = 3
#: signs between the name of a page and that of its site or section, in titles
_PARTS = re.compile(r"\s+[-–—|·•»«:/]+\s+|:\s+")


@dataclass(slots=True)
class _Place:
    """How often each line was there, on how many pages of a host or folder."""

    pages: int = 0
    lines: Counter[int] = field(default_factory=Counter)

    def repeats(self, line: int) -> bool:
        return self.pages >= _FEWEST and 2 * self.lines[line] > self.pages

    def note(self, lines: Iterable[int]) -> None:
        self.pages += 1
        self.lines.update(lines)
        if len(self.lines) > _MOST_LINES:
            self.lines = Counter(dict(self.lines.most_common(_MOST_LINES // 2)))


class OwnTexts:
    """Remembers the lines of pages by host and folder, as hashes, for one process.

    A line that was on most pages of the host, or of the page's folder, is not the page's own: a
    menu, a contents sidebar, the name of the site in titles, "Navigation" above a list. Headings
    go by the host alone.
    """

    def __init__(self) -> None:
        """Begin without any page."""
        self._places: Recent[str, _Place] = Recent(_MOST_PLACES, _Place)

    def own(self, url: str, text: PageText) -> PageText:
        """Return what is a page's own; note its lines."""
        host = netloc_of(url)
        site = self._places[host]
        places = [site, self._places[host + path_of(url).rpartition("/")[0] + "/"]]

        def is_own(line: str) -> bool:
            key = hash(line)
            return not any(place.repeats(key) for place in places)

        lines, headings = text.text.split("\n"), text.headings.split("\n")
        parts = _PARTS.split(text.title)
        kept = [number for number, line in enumerate(lines) if is_own(line)]
        own = replace(
            text,
            title=" – ".join(filter(is_own, parts)) if len(parts) > 1 else text.title,
            # a heading that each page of a folder has names the section: the page is about it
            headings="\n".join(each for each in headings if not site.repeats(hash(each))),
            text="\n".join(lines[number] for number in kept),
            lists=frozenset(n for n, number in enumerate(kept) if number in text.lists),
        )
        seen = {hash(line) for line in chain(lines, headings, parts)}
        for place in places:
            place.note(seen)
        return own


def main_text(text: PageText) -> PageText:
    """Return a page's text without the lines that are mostly links, unless there are no others."""
    lines = text.text.split("\n")
    rest = [line for number, line in enumerate(lines) if number not in text.lists]
    return replace(text, text="\n".join(rest or lines), lists=frozenset()) if text.lists else text
