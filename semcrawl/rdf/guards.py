"""Checks the nesting of triple terms before a parser reads them, and measures JSON-LD in pages.

The parser recurses into triple terms. A few thousand levels overflow its stack, which kills the
process.
"""

from __future__ import annotations

from semcrawl.rdf.limits import LimitReached
from semcrawl.rdf.patterns import re
from semcrawl.rdf.quadlines import has_pair

_NESTING = re.compile(
    rb'"""(?:[^"\\]|\\.|"(?!""))*+(?:"""|\Z)|'
    rb"'''(?:[^'\\]|\\.|'(?!''))*+(?:'''|\Z)|"
    rb'"(?:[^"\\\n\r]|\\.)*+"|'
    rb"'(?:[^'\\\n\r]|\\.)*+'|"
    rb"<[^<>\s\"{}]+>|#[^\n\r]*+|(<<)|(>>)",
    re.DOTALL,
)


def script_bytes(page: bytes) -> int:
    """Return about how many bytes of a page are JSON-LD scripts.

    Other scripts that contain "json" count in part.
    """
    total, at = 0, -1
    lowered = page.lower()
    while (at := lowered.find(b"json", at + 1)) >= 0:
        end = lowered.find(b"</script", at)
        end = len(page) if end < 0 else end
        total, at = total + end - at, end
    return total


def guard_triple_terms(data: bytes, limit: int) -> None:
    """Raise :class:`LimitReached` when triple terms are nested deeper than ``limit``."""
    if not has_pair(data, b"<", b"<") or data.count(b"<<") <= limit:
        return
    depth = 0
    for match in _NESTING.finditer(data):
        if match[1]:
            depth += 1
            if depth > limit:
                raise LimitReached(f"triple terms nested deeper than {limit} levels")
        elif match[2] and depth:
            depth -= 1
