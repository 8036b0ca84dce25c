"""Rules of large robots.txt files, kept as text: parsed, they take many times their size."""

from __future__ import annotations

import re
from urllib.parse import unquote

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


class LargeRules:
    """The lines of a robots.txt; a parser gets only those that a URL may match.

    A rule is omitted for a URL that does not begin as the rule's pattern does, or does not contain
    the longest literal behind the pattern's first wildcard.
    """

    def __init__(self, text: str) -> None:
        """Find what the pattern of each rule begins with."""
        self._lines: list[str] = []
        #: what a URL must begin with, by line; ``None`` for a line without a rule
        self._starts: list[str | None] = []
        #: what it must contain too, as far as that was asked for
        self._literals: dict[int, str] = {}
        for line in text.splitlines():
            if rule := _RULE.match(line):
                self._lines.append(line)
                self._starts.append(_start(rule[1] or "", rule[2].rstrip()))
            elif line := line.partition("#")[0].strip():
                self._lines.append(line)
                self._starts.append(None)

    @property
    def others(self) -> int:
        """Number of lines that are not rules."""
        return self._starts.count(None)

    @property
    def size(self) -> int:
        """Approximate size in memory, in bytes."""
        texts = sum(map(len, self._lines)) + sum(len(start or "") for start in self._starts)
        return texts + 170 * len(self._lines)

    def for_url(self, url: str) -> str:
        """Return the part of the robots.txt that may decide on a URL."""
        path = unquote(_HOST.sub("", url, count=1))
        if not path.startswith("/"):
            path = "/" + path
        anywhere = path + "\n" + url
        lines: list[str] = []
        last = -1
        for number, start in enumerate(self._starts):
            if start is None or path.startswith(start):
                if start is not None and self._literal(number) not in anywhere:
                    continue
                if number > last + 1:
                    lines.append(_NO_RULE)
                lines.append(self._lines[number])
                last = number
        return "\n".join(lines)

    def _literal(self, number: int) -> str:
        """Return the longest literal of a rule behind its first wildcard."""
        literal = self._literals.get(number)
        if literal is None:
            line = self._lines[number].partition("#")[0].rstrip()
            literal = self._literals[number] = _longest_literal(line.partition("*")[2])
        return literal


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
    literals = (_ESCAPED.sub("", literal) for literal in _PLAIN.findall(pattern))
    return max(literals, key=len, default="")


def _without_index(pattern: str, rest: str = "") -> str:
    """Cut off what may be ``index.html``: if it is allowed, its folder is too."""
    if "%" in pattern + rest or pattern.endswith("index.html"):
        return pattern[: pattern.rfind("/") + 1]
    return pattern
