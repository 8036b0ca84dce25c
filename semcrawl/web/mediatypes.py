"""Reads media types from ``Content-Type`` headers and from attributes that name a type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

#: longest header that is read (characters)
_LONGEST = 2000
_WORD = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
#: the start of a header: type and subtype (RFC 9110, 8.3.1), then parameters, or another header
_ESSENCE = re.compile(rf"({_WORD})/({_WORD})[ \t\r\n]*(?=[;,]|\Z)")
#: one parameter; its value may be quoted, or be missing
_PARAMETER = re.compile(r';[ \t\r\n]*([^;=,]*)(?:=(?:"((?:[^"\\]|\\.)*)"?|([^;,"]*))[^;,]*)?', re.S)
_ESCAPED = re.compile(r"\\(.)", re.S)
_NEXT = re.compile(r"[^,]*(?:,|\Z)")


def media_type(header: str | None) -> str:
    """Return the type and subtype of a ``Content-Type`` in lower case; ``""`` if it has none.

    What is no media type by the grammar of RFC 9110, and what stands for any type, says nothing
    about the body. Neither does a list of several types, unless all of them are equal.

    >>> media_type("Text/Turtle; charset=utf-8")
    'text/turtle'
    >>> [media_type(text) for text in ("application/rdf xml", "*/*", "turtle", '"text/turtle"')]
    ['', '', '', '']
    >>> media_type("text/turtle, text/turtle"), media_type("text/html, text/turtle")
    ('text/turtle', '')
    """
    return _parsed((header or "")[:_LONGEST])[0]


def charset_of(header: str | None) -> str:
    """Return the label of the encoding that a ``Content-Type`` names; ``""`` if it names none.

    >>> charset_of('text/html; a="; charset=x"; Charset="GB2312"')
    'GB2312'
    """
    return _parsed((header or "")[:_LONGEST])[1]


@lru_cache(maxsize=512)
def _parsed(header: str) -> tuple[str, str]:
    """Return the media type and the charset of a header."""
    found = list(_types(header))
    names = {name for name, _ in found}
    if len(names) != 1:
        return "", ""
    return names.pop(), next((charset for _, charset in found if charset), "")


def _types(header: str) -> Iterator[tuple[str, str]]:
    """Yield the media types of a header with their charsets, invalid ones left out.

    A server that sends the header twice makes a list of it (Fetch, "extract a MIME type").
    """
    at = 0
    while at < len(header):
        while at < len(header) and header[at] in " \t\r\n":
            at += 1
        essence = _ESSENCE.match(header, at)
        charset = ""
        if essence:
            at = essence.end()
            while parameter := _PARAMETER.match(header, at):
                at = parameter.end()
                if parameter[1].strip().lower() == "charset" and not charset:
                    quoted = parameter[2]
                    value = parameter[3] if quoted is None else _ESCAPED.sub(r"\1", quoted)
                    charset = (value or "").strip()
            if essence[1] != "*" and essence[2] != "*":
                yield f"{essence[1]}/{essence[2]}".lower(), charset
        rest = _NEXT.match(header, at)
        at = rest.end() if rest else len(header)
