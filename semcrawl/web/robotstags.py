"""Wishes of pages and their headers to robots: ``robots`` meta tags and ``X-Robots-Tag``.

These words were made for search engines, not for archives, and no standard says what they mean to
others; which of them are obeyed is a setting (``SEMCRAWL_ROBOTS_TAGS``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import TYPE_CHECKING

from semcrawl.errors import UsageError

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

#: name of the header, as Scrapy keeps it
HEADER = b"X-Robots-Tag"
#: what may be obeyed: no link is followed; no copy is kept (of what may not be shown as a copy, or
#: be found); a link with ``rel=nofollow`` is passed over
NOFOLLOW, NOARCHIVE, NOINDEX, REL_NOFOLLOW = "nofollow", "noarchive", "noindex", "rel-nofollow"
_CHOICES = (NOFOLLOW, NOARCHIVE, NOINDEX, REL_NOFOLLOW)
#: directives that mean several others
_MEANS = {"none": (NOINDEX, NOFOLLOW), "nocache": (NOARCHIVE,)}
#: directives with a value after a colon, where else a robot's name stands before it
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)
#: bytes of a page in which its meta tags are looked for
_HEAD = 256 * 1024


@dataclass(frozen=True, slots=True)
class RobotsTags:
    """Which directives are obeyed, under which robot's name besides ``robots``."""

    obeyed: frozenset[str] = frozenset({NOFOLLOW, NOARCHIVE})
    #: the name of our robot in lower case
    agent: str = "semcrawl"

    @classmethod
    def parse(cls, names: Iterable[str], user_agent: str) -> RobotsTags:
        """Read the setting and our name; raise ``UsageError`` for unknown directives."""
        wanted = [name.strip().lower() for name in names if name.strip()]
        for name in wanted:
            if name not in _CHOICES:
                raise UsageError(f"SEMCRAWL_ROBOTS_TAGS takes {', '.join(_CHOICES)}, not {name!r}")
        product = re.split(r"[/\s]", user_agent.strip(), maxsplit=1)[0].lower()
        return cls(frozenset(wanted), product or "semcrawl")

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> RobotsTags:
        """Read them from Scrapy's settings; raise ``UsageError`` for wrong ones."""
        agent = settings.get("ROBOTSTXT_USER_AGENT") or settings.get("USER_AGENT") or ""
        return cls.parse(settings.getlist("SEMCRAWL_ROBOTS_TAGS"), str(agent))

    def said(self, headers: Iterable[str], body: bytes = b"") -> frozenset[str]:
        """Return what ``X-Robots-Tag`` headers and a page say, as far as it is obeyed."""
        if not self.obeyed:
            return frozenset()
        found: set[str] = set()
        for value in headers:
            found.update(self._of_header(value))
        if body:
            found.update(self._of_page(body))
        return self.obeyed & found

    def keeps(self, said: frozenset[str]) -> bool:
        """Whether a copy may be kept of what says this."""
        return said.isdisjoint((NOARCHIVE, NOINDEX))

    def passes_over(self, rel: str) -> bool:
        """Whether a link with this ``rel`` is not followed."""
        return REL_NOFOLLOW in self.obeyed and NOFOLLOW in rel.lower().split()

    def _of_header(self, value: str) -> Iterable[str]:
        """Read one header: directives, those after a robot's name only for that robot."""
        ours = True
        for part in value.split(","):
            name, colon, rest = part.strip().lower().partition(":")
            if colon and name.strip() not in _WITH_VALUE:
                ours = name.strip() in (self.agent, "*", "robots")
                name = rest.partition(":")[0]
            if ours:
                yield from _meant(name.strip())

    def _of_page(self, body: bytes) -> Iterable[str]:
        """Read the meta tags of a page's head."""
        start = body[:_HEAD]
        if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
            start = start.decode("utf-16", "replace").encode()
        lowered = start.lower()
        names = (b"robots", self.agent.encode())
        if b"<meta" not in lowered or not any(name in lowered for name in names):
            return
        reader = _MetaTags(frozenset(name.decode() for name in names))
        reader.feed(start.decode("latin-1"))
        for content in reader.contents:
            for name in content.lower().split(","):
                yield from _meant(name.partition(":")[0].strip())


def _meant(name: str) -> tuple[str, ...]:
    return _MEANS.get(name, (name,))


class _MetaTags(HTMLParser):
    """Collects the content of meta tags with some names, up to the page's body."""

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.contents: list[str] = []
        self._names = names
        self._over = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in a meta tag."""
        if tag == "body":
            self._over = True
        if tag != "meta" or self._over:
            return
        said = {name: value or "" for name, value in reversed(attrs)}
        if said.get("name", "").strip().lower() in self._names:
            self.contents.append(said.get("content", ""))
