"""Reads a zip by its members' local headers when its directory is cut off or too large.

PKWARE's APPNOTE 6.3.10, section 4.3.7, defines these headers.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import IO

_MARK = b"PK\x03\x04"
#: mark, version, flags, method, time, date, CRC, packed and full size, lengths of name and extra
_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED, _SIZE_AFTER, _UTF8 = 0x1, 0x8, 0x800
_STORED, _DEFLATED = 0, 8
_PIECE = 1 << 16
_IN_EXTRA = 0xFFFFFFFF
_ZIP64 = 1


def local_members(
    file: IO[bytes], report: Callable[[str], None]
) -> Iterator[tuple[str, StoredMember]]:
    """Yield name and content of each member in the order of the file.

    Read a content before requesting the next. It raises ``EOFError`` where the file ends inside
    it. ``report`` receives the errors.
    """
    position = 0
    while (position := _find_mark(file, position)) >= 0:
        file.seek(position)
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size:
            return
        _, _, flags, method, _, _, _, packed, _, name_length, extra_length = _HEADER.unpack(head)
        raw, extra = file.read(name_length), file.read(extra_length)
        name = raw.decode("utf-8" if flags & _UTF8 else "cp437", "replace")
        position = file.tell()
        if packed == _IN_EXTRA:
            packed = _size_in_extra(extra)
        known = packed > 0 or not flags & _SIZE_AFTER
        if flags & _ENCRYPTED or method not in (_STORED, _DEFLATED):
            report(f"{name}: encrypted, or packed by an unknown method")
        elif method == _STORED and not known:
            report(f"{name}: its size is unknown")
        elif not name.endswith("/"):
            deflated = method == _DEFLATED
            member = (
                DeflatedMember(file, position) if deflated else StoredMember(file, position, packed)
            )
            yield name, member
            position = member.position if not known else position
        position += packed


def _size_in_extra(extra: bytes) -> int:
    """Return the packed size in the zip64 extra field; 0 without one."""
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<2H", extra)
        if kind == _ZIP64 and length >= 16 and len(extra) >= 20:
            return int(struct.unpack_from("<Q", extra, 12)[0])
        extra = extra[4 + length :]
    return 0


def _find_mark(file: IO[bytes], position: int) -> int:
    """Return the position of the next member; -1 if there is none."""
    file.seek(position)
    held = b""
    while data := file.read(_PIECE):
        held += data
        found = held.find(_MARK)
        if found >= 0:
            return position + found
        kept = len(_MARK) - 1
        position += max(len(held) - kept, 0)
        held = held[-kept:]
    return -1


class StoredMember:
    """A member without compression."""

    def __init__(self, file: IO[bytes], position: int, size: int) -> None:
        """Read ``size`` bytes of ``file`` from ``position`` on."""
        self._file = file
        self._end = position + size
        #: position of the next byte
        self.position = position

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes; raise ``EOFError`` where the file ends too early."""
        left = self._end - self.position
        if size is None or size < 0:
            size = _PIECE
        if not left or not size:
            return b""
        return self._take(min(size, left))

    def _take(self, size: int) -> bytes:
        self._file.seek(self.position)
        data = self._file.read(size)
        if not data:
            raise EOFError("the file ends too early")
        self.position += len(data)
        return data


class DeflatedMember(StoredMember):
    """A deflated member, whose data marks its own end."""

    def __init__(self, file: IO[bytes], position: int) -> None:
        """Read ``file`` from ``position`` on."""
        super().__init__(file, position, 0)
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes; raise ``EOFError`` where the file ends too early."""
        if size is None or size < 0:
            size = _PIECE
        while size and not self._inflate.eof:
            rest = self._inflate.unconsumed_tail or self._take(_PIECE)
            data = self._inflate.decompress(rest, size)
            if self._inflate.eof:
                self.position -= len(self._inflate.unused_data)
            if data:
                return data
        return b""
