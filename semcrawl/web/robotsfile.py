"""Reads robots.txt as its authors wrote it: in any encoding, packed, for this robot or another."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable

from semcrawl.web.charsets import is_utf8, marked_encoding

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
