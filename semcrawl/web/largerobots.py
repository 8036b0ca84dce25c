"""Rules of large robots.txt files, kept as text: parsed they would take many times their size."""

from __future__ import annotations

import re
from urllib.parse import unquote

#: lines that say which URLs are allowed; what else a file has is kept whole
_RULE = re.compile(r"\s*(?:dis)?allow\s*:(.*)", re.IGNORECASE)
#: what percent-encoding leaves as it is in URLs and patterns alike
_PLAIN = re.compile(r"[A-Za-z0-9_.~/-]+")
#: what of a piece may be the end of an escape in the URL
_ESCAPED = re.compile(r"\A[0-9A-Fa-f]{1,2}")
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
#: replaces rules that were left out, so that the groups before and after stay apart
_NO_RULE = "Disallow:"


class LargeRules:
    """The lines of a robots.txt, of which a parser is given those that a URL may match.

    A pattern matches only URLs that hold its plain pieces: of each rule the longest one is known,
    and a rule whose piece a URL does not hold is left out.
    """

    def __init__(self, text: str) -> None:
        """Take the lines in."""
        #: each line with the piece that a URL must hold; ``None`` for a line without a rule
        self._lines: list[tuple[str | None, str]] = []
        for line in text.splitlines():
            line = line.partition("#")[0].strip()
            if rule := _RULE.fullmatch(line):
                self._lines.append((_piece(rule[1].strip()), line))
            elif line:
                self._lines.append((None, line))

    @property
    def others(self) -> int:
        """How many lines are no rules."""
        return sum(1 for piece, _ in self._lines if piece is None)

    @property
    def size(self) -> int:
        """Bytes that they take, about."""
        texts = sum(len(line) + len(piece or "") for piece, line in self._lines)
        return texts + 170 * len(self._lines)

    def for_url(self, url: str) -> str:
        """Return the part of a robots.txt that decides on a URL."""
        url = unquote(url) + "\n" + url
        lines: list[str] = []
        for piece, line in self._lines:
            if piece is None or piece in url:
                lines.append(line)
            elif not lines or lines[-1] != _NO_RULE:
                lines.append(_NO_RULE)
        return "\n".join(lines)


def _piece(pattern: str) -> str:
    """Return the longest plain piece of a pattern; empty where nothing is sure."""
    if "//" in pattern:  # perhaps a whole URL, whose host counts for nothing
        return ""
    # ("Allow: /index.html" allows the folder as well)
    pattern = _ESCAPE.sub("%", pattern).removesuffix("index.html")
    pieces = (_ESCAPED.sub("", piece) for piece in _PLAIN.findall(pattern))
    return max(pieces, key=len, default="")
