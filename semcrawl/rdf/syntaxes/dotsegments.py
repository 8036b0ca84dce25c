"""Bases with dot segments, against which the JSON-LD parser resolves wrongly.

RFC 3986, section 5.2.4, takes dot segments out after a relative path has been put behind the base's
folder; the parser takes the base as it is. So it is given the base without them; only references
without a path (``""``, ``?query``, ``#fragment``), which keep the base's path as it was written,
get it back afterwards.
"""

from __future__ import annotations

import re

_BASE = re.compile(rb'("@base"\s*:\s*")([a-z][a-z0-9+.-]*://[^"\\?#/]*)(/[^"\\?#]*/)', re.I)
_DOTS = re.compile(rb"/\.\.?/")


def clean_bases(data: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Return JSON-LD ``data`` with clean bases, and what each base was before."""
    changed: dict[bytes, bytes] = {}
    if b'"@base"' not in data:
        return data, changed

    def clean(match: re.Match[bytes]) -> bytes:
        key, host, folder = match.groups()
        if not _DOTS.search(folder):
            return match[0]
        name = re.match(rb'[^"\\?#]*', data[match.end() :])
        last = name[0] if name else b""
        result = host + _without_dots(folder)
        changed[result + last] = host + folder + last
        return bytes(key) + result

    return _BASE.sub(clean, data), changed


def restore_bases(nquads: bytes, changed: dict[bytes, bytes]) -> bytes:
    """Return the lines with the IRIs that are a base itself as they were written."""
    for clean, written in changed.items():
        for end in (b">", b"?", b"#"):
            nquads = nquads.replace(b"<" + clean + end, b"<" + written + end)
    return nquads


def _without_dots(folder: bytes) -> bytes:
    kept: list[bytes] = []
    for part in folder.split(b"/")[1:-1]:
        if part == b"..":
            del kept[-1:]
        elif part != b".":
            kept.append(part)
    return b"".join(b"/" + part for part in kept) + b"/"
