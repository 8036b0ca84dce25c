"""Directives of pages to robots: ``robots`` meta tags and ``X-Robots-Tag`` headers.

They were made for search engines, and no standard says what they mean to other robots. The setting
``SEMCRAWL_ROBOTS_TAGS`` names those that the crawl obeys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser

from semcrawl.errors import UsageError
from semcrawl.web.charsets import marked_encoding
from semcrawl.web.wordsearch import WordSearch

#: name of the header, as Scrapy keeps it
HEADER = b"X-Robots-Tag"
#: directives that may be obeyed. ``nofollow``: no link is followed. ``noarchive`` and ``noindex``:
#: no copy is kept. ``rel-nofollow``: links with ``rel=nofollow`` are skipped
NOFOLLOW, NOARCHIVE, NOINDEX, REL_NOFOLLOW = "nofollow", "noarchive", "noindex", "rel-nofollow"
_CHOICES = (NOFOLLOW, NOARCHIVE, NOINDEX, REL_NOFOLLOW)
#: directives that stand for others
_SYNONYMS = {"none": (NOINDEX, NOFOLLOW), "nocache": (NOARCHIVE,)}
#: directives with a value after a colon; any other word before a colon is a robot's name
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
#: bytes of a page that are searched for meta tags
_HEAD = 256 * 1024
_META = b"<meta"


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """The directives to obey, and the robot's name that they may address besides ``robots``."""

    obeyed: frozenset[str] = frozenset({NOFOLLOW, NOARCHIVE})
    #: the name of our robot in lower case
    agent: str = "semcrawl"

    @classmethod
    def parse(cls, names: Iterable[str], user_agent: str) -> RobotsTags:
        """Read the setting and the robot's name; raise ``UsageError`` for unknown directives."""
        wanted = [name.strip().lower() for name in names if name.strip()]
        for name in wanted:
            if name not in _CHOICES:
                raise UsageError(f"SEMCRAWL_ROBOTS_TAGS takes {', '.join(_CHOICES)}, not {name!r}")
        product = re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0].lower()
        return cls(frozenset(wanted), product or "semcrawl")

    def said(self, headers: Iterable[str], body: bytes = b"") -> frozenset[str]:
        """Return the obeyed directives in ``X-Robots-Tag`` headers and a page."""
        if not self.obeyed:
            return frozenset()
        found: set[str] = set()
        for value in headers:
            found.update(self._in_header(value))
        if body:
            found.update(self._in_page(body))
        return self.obeyed & found

    def keeps(self, said: frozenset[str]) -> bool:
        """Whether these directives allow keeping a copy."""
        return said.isdisjoint((NOARCHIVE, NOINDEX))

    def passes_over(self, rel: str) -> bool:
        """Whether a link with this ``rel`` is skipped."""
        return REL_NOFOLLOW in self.obeyed and NOFOLLOW in rel.lower().split()

    def _in_header(self, value: str) -> Iterable[str]:
        """Yield the directives of one header; those after a robot's name are for that robot."""
        ours = True
        for part in value.split(","):
            name, colon, rest = part.strip().lower().partition(":")
            if colon and name.strip() not in _WITH_VALUE:
                ours = name.strip() in (self.agent, "*", "robots")
                name = rest.partition(":")[0]
            if ours:
                yield from _expand(name.strip())

    def _in_page(self, body: bytes) -> Iterable[str]:
        """Yield the directives of the meta tags in a page's head."""
        start = body[:_HEAD]
        if (marked := marked_encoding(start)) and not marked.is_utf8:
            start = marked.charset.decode(start).encode("utf-8", "replace")
        found = _search_for(self.agent).found_in(start.lower())
        if _META not in found or found == {_META}:
            return
        reader = _MetaTags(frozenset({"robots", self.agent}))
        reader.feed(start.decode("latin-1"))
        for content in reader.contents:
            for name in content.lower().split(","):
                yield from _expand(name.partition(":")[0].strip())


@lru_cache(maxsize=16)
def _search_for(agent: str) -> WordSearch:
    """Return the search for meta tags with the names that concern this robot."""
    return WordSearch(_META, b"robots", agent.encode())


def _expand(name: str) -> tuple[str, ...]:
    return _SYNONYMS.get(name, (name,))


class _MetaTags(HTMLParser):
    """Collects the contents of meta tags with given names, up to the page's body."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.contents: list[str] = []
        self._names = names
        self._in_body = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Read a meta tag."""
        if tag == "body":
            self._in_body = True
        if tag != "meta" or self._in_body:
            return
        attributes = {name: value or "" for name, value in reversed(attrs)}
        if attributes.get("name", "").strip().lower() in self._names:
            self.contents.append(attributes.get("content", ""))
