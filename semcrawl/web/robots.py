"""What robots may do: robots.txt, large ones too, and tags of pages and headers.

Directives of pages to robots: ``robots`` meta tags and ``X-Robots-Tag`` headers.
They were made for search engines, and no standard says what they mean to other robots. The setting
``SEMCRAWL_ROBOTS_TAGS`` names those that the crawl obeys.
"""

from __future__ import annotations

import re
import zlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from html.parser import HTMLParser
from sys import getsizeof
from urllib.parse import unquote

from semcrawl.errors import UsageError
from semcrawl.web.charsets import is_utf8, marked_encoding
from semcrawl.web.vocabulary import WordSearch

_GZIP = b"\x1f\x8b"
_HIGH = re.compile(rb"[\x80-\xff]")
#: a line that names a robot; the name ends where the version begins (RFC 9309, section 2.2.1)
_AGENT = re.compile(r"^([ \t]*user-?[ ]?agent[ \t]*:[ \t]*)([^#\r\n]*)", re.I | re.M)
_NAME = re.compile(r"[\w-]+")
_PRODUCT = re.compile(r"([\w-]+)/")
#: stands for the name of a robot that is not this one
_ANOTHER = "another-robot"


def plain_rules(body: bytes, longest: int = 1 << 20) -> tuple[bytes, bool]:
    """Return a robots.txt in UTF-8, and whether it is all there.

    It may be gzipped, without a ``Content-Encoding``, and in UTF-16. A path with bytes that are not
    UTF-8 is meant as it is, so those are percent-encoded. Of a packed file at most ``longest``
    bytes are read.
    """
    whole = True
    if body.startswith(_GZIP):
        unpacker = zlib.decompressobj(wbits=31)
        try:
            body = unpacker.decompress(body, longest)
        except zlib.error:
            return b"", True
        whole = unpacker.eof
    encoding = marked_encoding(body)
    if encoding is not None:
        text = encoding.charset.decoder().decode(body[encoding.bom :], whole)
        return text.encode("utf-8", "replace"), whole
    if not is_utf8(body, whole=whole):
        lines = re.split(rb"([\r\n]+)", body)
        body = b"".join(
            line if is_utf8(line, whole=True) else _HIGH.sub(_escape, line) for line in lines
        )
    return body, whole


def _escape(byte: re.Match[bytes]) -> bytes:
    return b"%%%02X" % byte[0][0]


def names_of(agent: str) -> frozenset[str]:
    """Return the names by which a robots.txt may call a robot with this user agent.

    >>> sorted(names_of("Mozilla/5.0 (compatible; Foobot/1.0; +https://a.org/)"))
    ['foobot', 'mozilla']
    """
    first = _NAME.match(agent.strip())
    return frozenset(name.lower() for name in (*_PRODUCT.findall(agent), first[0] if first else ""))


def for_robot(rules: str, names: Iterable[str]) -> str:
    """Name the robot in the lines that mean it, and another one in those that do not.

    The names must be equal, without the version that some authors add: ``SemCrawl/1.0`` means
    ``semcrawl``, and ``sem`` does not.
    """
    own = frozenset(names)

    def named(line: re.Match[str]) -> str:
        value = line[2].strip()
        found = _NAME.match(value)
        if value.startswith("*") or found is None:
            return line[0]
        name = found[0].lower()
        return line[1] + (name if name in own else _ANOTHER)

    return _AGENT.sub(named, rules)


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


#: an ``Allow`` or ``Disallow`` line: what its pattern begins with, and the rest of the pattern; the
#: first has characters that percent-encoding leaves alone. All other lines are always kept
_RULE = re.compile(r"\s*(?:dis)?allow\s*:\s*(/[A-Za-z0-9_.~/-]*)?([^#]*)", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9_.~/-]+")
#: the start of a literal that may be the rest of an escape in the URL
_ESCAPED = re.compile(r"\A[0-9A-Fa-f]{1,2}")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
#: what stands before a URL's path
_HOST = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*)?")
#: replaces omitted rules, so that the groups before and after stay separate
_NO_RULE = "Disallow:"


#: length that stands for a line without a rule
_OTHER = (1 << 32) - 1
_MASK = (1 << 32) - 1


class LargeRules:
    """The lines of a robots.txt; a parser gets only those that a URL may match.

    A rule is omitted for a URL that does not begin as the rule's pattern does, or does not contain
    the longest literal behind the pattern's first wildcard. All texts are parts of one, as a
    string of its own for each would take five times the memory. An index of the literals' first
    three characters says which rules to look at.
    """

    def __init__(self, text: str) -> None:
        """Find what the pattern of each rule begins with, and its longest literal."""
        import numpy as np  # few crawls meet such a file

        lines: list[str] = []
        #: where each line begins in the text; at last, where one more would
        self._begins = array("I", [0])
        #: place and length of what a URL must begin with, by line
        self._starts, self._lengths = array("I"), array("I")
        #: place and length of what it must contain too
        self._places, self._sizes = array("I"), array("I")
        #: what the literals begin with; 0 for lines that are looked at for each URL
        keys = array("I")
        for line in text.splitlines():
            begin, length, place, literal = self._begins[-1], _OTHER, 0, ""
            if rule := _RULE.match(line):
                length = len(_start(rule[1] or "", rule[2].rstrip()))
                literal = _longest_literal(rule[2].rstrip().partition("*")[2])
                # what is written otherwise, with another escape, decides nothing
                place = line.find(literal, rule.start(2))
                place, literal = (begin + place, literal) if place >= 0 else (0, "")
                begin += max(0, rule.start(1))
            elif not (line := line.partition("#")[0].strip()):
                continue
            lines.append(line)
            self._begins.append(self._begins[-1] + len(line) + 1)
            self._starts.append(begin)
            self._lengths.append(length)
            self._places.append(place)
            self._sizes.append(len(literal))
            keys.append(_key(literal) if len(literal) > 2 else 0)
        self._text = "\n".join(lines)
        found = np.frombuffer(keys, np.uint32)
        #: numbers of the lines, ordered by their keys, and the keys
        self._order = np.argsort(found, kind="stable").astype(np.uint32)
        self._keys = found[self._order]

    @property
    def others(self) -> int:
        """Number of lines that are not rules."""
        return self._lengths.count(_OTHER)

    @property
    def size(self) -> int:
        """Approximate size in memory, in bytes."""
        arrays = self._begins, self._starts, self._lengths, self._places, self._sizes
        index = self._order.nbytes + self._keys.nbytes
        return getsizeof(self._text) + sum(map(getsizeof, arrays)) + index

    def for_url(self, url: str) -> str:
        """Return the part of the robots.txt that may decide on a URL."""
        import numpy as np

        path = unquote(_HOST.sub("", url, count=1))
        if not path.startswith("/"):
            path = "/" + path
        anywhere = path + "\n" + url
        keys = {_key(anywhere[at : at + 3]) for at in range(len(anywhere) - 2)}
        asked = np.fromiter((0, *keys), np.uint32)
        firsts, ends = (np.searchsorted(self._keys, asked, side) for side in ("left", "right"))
        runs = [self._order[first:end] for first, end in zip(firsts, ends, strict=True)]
        text, lines, last = self._text, list[str](), -1
        for number in np.unique(np.concatenate(runs)).tolist():
            length, place = self._lengths[number], self._places[number]
            if length != _OTHER:
                start = self._starts[number]
                if length and not path.startswith(text[start : start + length]):
                    continue
                if text[place : place + self._sizes[number]] not in anywhere:
                    continue
            if number > last + 1:
                lines.append(_NO_RULE)
            lines.append(text[self._begins[number] : self._begins[number + 1] - 1])
            last = number
        return "\n".join(lines)


def _key(literal: str) -> int:
    """Return what stands for the first three characters of a literal; never 0."""
    return hash(literal[:3]) & _MASK or 1


def _start(plain: str, rest: str) -> str:
    """Return what a URL begins with if it matches a pattern of plain characters and a rest."""
    if "//" in plain:  # a parser may take it for a host
        return ""
    return plain if rest and "%" not in rest else _without_index(plain, rest)


def _longest_literal(pattern: str) -> str:
    """Return the longest literal of a pattern; empty where none is certain."""
    if "//" in pattern:  # may be a whole URL, whose host the parser ignores
        return ""
    pattern = _ESCAPE.sub("%", _without_index(pattern))
    longest = ""
    for literal in _PLAIN.findall(pattern):
        if len(literal) > len(longest):
            longest = max(longest, _ESCAPED.sub("", literal), key=len)
    return longest


def _without_index(pattern: str, rest: str = "") -> str:
    """Cut off what may be ``index.html``: if it is allowed, its folder is too."""
    if "%" in pattern + rest or pattern.endswith("index.html"):
        return pattern[: pattern.rfind("/") + 1]
    return pattern
