"""Rules of large robots.txt files, kept as text: parsed, they take many times their size."""

from __future__ import annotations

import re
from urllib.parse import unquote

#: an ``Allow`` or ``Disallow`` line; all other lines are always kept
_RULE = re.compile(r"\s*(?:dis)?allow\s*:(.*)", re.IGNORECASE)
#: characters that percent-encoding leaves alone in URLs and patterns
_PLAIN = re.compile(r"[A-Za-z0-9_.~/-]+")
#: the start of a literal that may be the rest of an escape in the URL
_ESCAPED = re.compile(r"\A[0-9A-Fa-f]{1,2}")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
#: replaces omitted rules, so that the groups before and after stay separate
_NO_RULE = "Disallow:"


class LargeRules:
    """The lines of a robots.txt; a parser gets only those that a URL may match.

    A pattern matches only URLs that contain its literal parts. A rule is omitted for a URL that
    does not contain the longest literal of the rule's pattern.
    """

    def __init__(self, text: str) -> None:
        """Find the longest literal of each rule."""
        #: each line with the literal that a URL must contain; ``None`` for a line without a rule
        self._lines: list[tuple[str | None, str]] = []
        for line in text.splitlines():
            line = line.partition("#")[0].strip()
            if rule := _RULE.fullmatch(line):
                self._lines.append((_longest_literal(rule[1].strip()), line))
            elif line:
                self._lines.append((None, line))

    @property
    def others(self) -> int:
        """Number of lines that are not rules."""
        return sum(1 for literal, _ in self._lines if literal is None)

    @property
    def size(self) -> int:
        """Approximate size in memory, in bytes."""
        texts = sum(len(line) + len(literal or "") for literal, line in self._lines)
        return texts + 170 * len(self._lines)

    def for_url(self, url: str) -> str:
        """Return the part of the robots.txt that may decide on a URL."""
        url = unquote(url) + "\n" + url
        lines: list[str] = []
        for literal, line in self._lines:
            if literal is None or literal in url:
                lines.append(line)
            elif not lines or lines[-1] != _NO_RULE:
                lines.append(_NO_RULE)
        return "\n".join(lines)


def _longest_literal(pattern: str) -> str:
    """Return the longest literal of a pattern; empty where none is certain."""
    if "//" in pattern:  # may be a whole URL, whose host the parser ignores
        return ""
    # "Allow: /index.html" allows the folder too
    pattern = _ESCAPE.sub("%", pattern).removesuffix("index.html")
    literals = (_ESCAPED.sub("", literal) for literal in _PLAIN.findall(pattern))
    return max(literals, key=len, default="")
