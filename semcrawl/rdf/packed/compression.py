"""Marks and names of compressed bodies and archives."""

from __future__ import annotations

from enum import StrEnum


class Compression(StrEnum):
    """A compression or an archive, as the first bytes of a body tell it."""

    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"
    ZSTANDARD = "zstd"
    ZIP = "zip"
    TAR = "tar"
    BROTLI = "brotli"  #: has no mark; known by name only


_MARKS: tuple[tuple[bytes, Compression], ...] = (
    (b"\x1f\x8b", Compression.GZIP),
    (b"BZh", Compression.BZIP2),
    (b"\xfd7zXZ\x00", Compression.XZ),
    (b"\x28\xb5\x2f\xfd", Compression.ZSTANDARD),
    (b"PK\x03\x04", Compression.ZIP),
    (b"PK\x05\x06", Compression.ZIP),
)


#: how codings of the transfer are named
_CODINGS = {
    "gzip": Compression.GZIP,
    "x-gzip": Compression.GZIP,
    "zstd": Compression.ZSTANDARD,
    "br": Compression.BROTLI,
}


def coding_of(content_encoding: str) -> Compression | None:
    """Return what a ``Content-Encoding`` names; ``None`` for several, and what is not known."""
    return _CODINGS.get(content_encoding.strip().lower())


def compression_of(head: bytes) -> Compression | None:
    """Return the compression whose mark ``head`` begins with; ``tar`` needs 262 bytes of it."""
    for mark, compression in _MARKS:
        if head.startswith(mark):
            if compression is Compression.BZIP2 and not head[3:4].isdigit():
                return None
            return compression
    if head[257:262] == b"ustar":
        return Compression.TAR
    return None
