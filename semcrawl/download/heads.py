"""Repairs invalid response heads for a strict parser, as browsers do and RFC 9112 allows."""

from __future__ import annotations

import re

_END = re.compile(rb"\r?\n\r?\n")
_INTERIM = re.compile(rb"HTTP/\S+ +1(?!01)\d\d\b")
_LATER_VERSION = re.compile(rb"HTTP/1\.[2-9]")
#: lines that are no valid header fields
_ODD_LINE = re.compile(rb"\n(?![ \t])(?:[^:\r\n]*(?:[\r\n]|\Z)|[^:\r\n]*[ \t][^:\r\n]*:|:)")
_PLAIN_LENGTH = re.compile(rb"\ncontent-length:[ \t]*\d+[ \t]*\r?\n")
_NAME = re.compile(rb"[^\s:]+")
_LENGTH, _TRANSFER = b"content-length", b"transfer-encoding"


def head_end(start: bytearray, searched: int = 0) -> int:
    """Return where a response head ends, after its empty line; -1 if it is not whole.

    Earlier calls have searched the first ``searched`` bytes.
    """
    found = _END.search(start, max(0, searched - 3))
    return found.end() if found else -1


def may_be_http(start: bytearray) -> bool:
    """Whether these bytes can be the beginning of a status line."""
    return start.startswith(b"HTTP/"[: len(start)])


def is_interim(head: bytes) -> bool:
    """Whether a head is that of an interim response (1xx), before the final one."""
    return _INTERIM.match(head) is not None


def repaired_head(head: bytes) -> bytes:
    """Return a head without the faults that a strict parser refuses and browsers accept.

    It drops lines without a colon or with a blank in the name (RFC 9112, section 5), zero bytes,
    repeated equal lengths, and lengths beside ``Transfer-Encoding``, which overrides them (section
    6.3). A later version 1.x becomes 1.1 (RFC 9110, section 2.5). Different lengths stay, for the
    parser to refuse.
    """
    small = head.lower()
    lengths = small.count(_LENGTH)
    if (
        lengths < 2
        and not (lengths and (_TRANSFER in small or not _PLAIN_LENGTH.search(small)))
        and b"\x00" not in head
        and not _ODD_LINE.search(head.rstrip())
        and not _LATER_VERSION.match(head)
    ):
        return head
    first, *lines = head.replace(b"\x00", b"").splitlines()
    fields = _fields(lines)
    has_transfer = any(name == _TRANSFER for name, _ in fields)
    kept = [_LATER_VERSION.sub(b"HTTP/1.1", first)]
    lengths_kept: set[bytes] = set()
    for name, line in fields:
        if name != _LENGTH:
            kept.append(line)
        elif not has_transfer:
            values = [value.strip() for value in line.partition(b":")[2].split(b",")]
            new = [value for value in dict.fromkeys(values) if value not in lengths_kept]
            kept += [b"Content-Length: " + value for value in new]
            lengths_kept.update(new)
    return b"\r\n".join([*kept, b"", b""])


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return lower-case name and line of each field, with continuation lines joined."""
    fields: list[tuple[bytes, bytes]] = []
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            if fields:
                name, begun = fields[-1]
                fields[-1] = (name, begun + b" " + line.strip())
            continue
        name, colon, _ = line.partition(b":")
        if colon and _NAME.fullmatch(name):
            fields.append((name.lower(), line))
    return fields
