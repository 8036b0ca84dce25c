"""Members of a zip by their own headers, where its directory is cut off or too large.

The fields of these headers are those of PKWARE's APPNOTE 6.3.10, section 4.3.7.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import IO

_MARK = b"PK\x03\x04"
#: mark, version, flags, method, time, date, CRC, packed and full size, lengths of name and extra
_HEADER = struct.Struct("<4s5H3I2H")
_ENCRYPTED, _SIZE_BEHIND, _UTF8 = 0x1, 0x8, 0x800
_STORED, _DEFLATED = 0, 8
_PIECE = 1 << 16
_IN_EXTRA = 0xFFFFFFFF
_ZIP64 = 1


def local_members(
    file: IO[bytes], report: Callable[[str], None]
) -> Iterator[tuple[str, StoredMember]]:
    """Yield name and content of each member, in the order in which they stand in ``file``.

    A content can be read until the next one is asked for; it raises ``EOFError`` where the file
    ends within it. ``report`` gets the faults.
    """
    place = 0
    while (place := _find_mark(file, place)) >= 0:
        file.seek(place)
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size:
            return
        _, _, flags, method, _, _, _, packed, _, name_length, extra_length = _HEADER.unpack(head)
        raw, extra = file.read(name_length), file.read(extra_length)
        name = raw.decode("utf-8" if flags & _UTF8 else "cp437", "replace")
        place = file.tell()
        if packed == _IN_EXTRA:
            packed = _size_in_extra(extra)
        known = packed > 0 or not flags & _SIZE_BEHIND
        if flags & _ENCRYPTED or method not in (_STORED, _DEFLATED):
            report(f"{name}: encrypted, or packed in a way that is not known")
        elif method == _STORED and not known:
            report(f"{name}: its size is not known")
        elif not name.endswith("/"):
            deflated = method == _DEFLATED
            member = DeflatedMember(file, place) if deflated else StoredMember(file, place, packed)
            yield name, member
            place = member.place if not known else place
        place += packed


def _size_in_extra(extra: bytes) -> int:
    """Return the packed size of a zip64 field; 0 without one."""
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<2H", extra)
        if kind == _ZIP64 and length >= 16 and len(extra) >= 20:
            return int(struct.unpack_from("<Q", extra, 12)[0])
        extra = extra[4 + length :]
    return 0


def _find_mark(file: IO[bytes], place: int) -> int:
    """Return where the next member begins; -1 when there is none."""
    file.seek(place)
    held = b""
    while data := file.read(_PIECE):
        held += data
        found = held.find(_MARK)
        if found >= 0:
            return place + found
        kept = len(_MARK) - 1
        place += max(len(held) - kept, 0)
        held = held[-kept:]
    return -1


class StoredMember:
    """A member that is not packed."""

    def __init__(self, file: IO[bytes], place: int, size: int) -> None:
        """Read ``size`` bytes of ``file`` from ``place`` on."""
        self._file = file
        self._end = place + size
        #: where the next byte stands
        self.place = place

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes; raise ``EOFError`` where the file ends too early."""
        left = self._end - self.place
        if size is None or size < 0:
            size = _PIECE
        if not left or not size:
            return b""
        return self._take(min(size, left))

    def _take(self, size: int) -> bytes:
        self._file.seek(self.place)
        data = self._file.read(size)
        if not data:
            raise EOFError("the file ends too early")
        self.place += len(data)
        return data


class DeflatedMember(StoredMember):
    """A member that is deflated; its data marks its own end."""

    def __init__(self, file: IO[bytes], place: int) -> None:
        """Read ``file`` from ``place`` on."""
        super().__init__(file, place, 0)
        self._inflate = zlib.decompressobj(-zlib.MAX_WBITS)

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes; raise ``EOFError`` where the file ends too early."""
        if size is None or size < 0:
            size = _PIECE
        while size and not self._inflate.eof:
            rest = self._inflate.unconsumed_tail or self._take(_PIECE)
            data = self._inflate.decompress(rest, size)
            if self._inflate.eof:
                self.place -= len(self._inflate.unused_data)
            if data:
                return data
        return b""
