"""Archives and compressed bodies: their members, unpacked within bounds.

Reads a zip by its members' local headers when its directory is cut off or too large.
PKWARE's APPNOTE 6.3.10, section 4.3.7, defines these headers.

Streams compressed dumps and archives: gzip, bzip2, xz, zstd, brotli, zip and tar.
A document may have three layers: a compression, an archive, and a compression of its members
(``dumps.tar.gz`` with ``a.nt.gz`` inside). Further layers stay packed and are recorded as errors.
"""

from __future__ import annotations

import bz2
import lzma
import posixpath
import re
import struct
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any, Protocol, Self, cast

from semcrawl.rdf.detection import Compression, compression_of
from semcrawl.rdf.limits import Budget
from semcrawl.rdf.streams import CountedFile, Readable, SafeFile

_LOCAL_HEADER = b"PK\x03\x04"
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
        found = held.find(_LOCAL_HEADER)
        if found >= 0:
            return position + found
        kept = len(_LOCAL_HEADER) - 1
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


_MOST_OF_MARK = 512
_ARCHIVES = frozenset({Compression.ZIP, Compression.TAR})
_ZIP_IN_MEMORY = 32 * 2**20
#: types of tar entries that describe the next entry; tarfile reads them whole
_TAR_EXTENSIONS = frozenset(
    {
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
    }
)
_LONGEST_EXTENSION = 2**20
#: the fields of a zip that hold the size of its directory; matches may overlap
_ZIP_ENDS = (
    (re.compile(rb"(?s)(?=PK\x05\x06.{8}(.{4}))"), "<I"),
    (re.compile(rb"(?s)(?=PK\x06\x06.{36}(.{8}))"), "<Q"),
)

#: called with the name of a member (empty outside of archives) and its content
Visit = Callable[[str, SafeFile], None]
Report = Callable[[str], None]


def walk(file: Readable, name: str, budget: Budget, visit: Visit, report: Report) -> None:
    """Unpack ``file`` and call ``visit`` for each content; ``report`` receives the errors.

    ``name`` is the file's name. Brotli, which has no magic bytes, is recognised by it.
    """
    _unpack(SafeFile(CountedFile(file, budget), budget, counted=False), name, "", 0, budget, visit,
            report)  # fmt: skip


def _unpack(
    file: SafeFile,
    name: str,
    member: str,
    layers: int,
    budget: Budget,
    visit: Visit,
    report: Report,
) -> None:
    kind = compression_of(file.peek(_MOST_OF_MARK))
    if kind is None and name.lower().endswith(".br"):
        kind = Compression.BROTLI
    if kind is None:
        visit(member, file)
    elif layers == 3 or (kind in _ARCHIVES and member):
        report(f"{member or name}: packed too often")
    elif kind in _ARCHIVES:
        _walk_archive(file, kind, layers, budget, visit, report)
    else:
        try:
            inner = unpacked(file, kind, budget)
        except ImportError:
            report(f"{kind.value} needs the package semcrawl[compression]")
        else:
            _unpack(inner, posixpath.splitext(name)[0], member, layers + 1, budget, visit, report)
    if file.fault:
        report(f"{member or name or 'file'}: {file.fault}")
        file.fault = ""


def unpacked(file: SafeFile, kind: Compression, budget: Budget) -> SafeFile:
    """Return ``file`` unpacked; raise ``ImportError`` if the package for it is missing."""
    return SafeFile(_decompressor(file, kind), budget)


def unpack_into(
    plain: Writable, packed: SafeFile, kinds: Sequence[Compression], budget: Budget
) -> bool:
    """Write what ``packed`` unpacks to, the last of ``kinds`` undone first, piece by piece.

    Returns whether it was whole and within the budget; what precedes a fault is written. Raises
    ``ImportError`` if the package for a kind is missing.
    """
    layers = [packed]
    for kind in reversed(kinds):
        layers.append(unpacked(layers[-1], kind, budget))
    while piece := layers[-1].read(1 << 20):
        plain.write(piece)
    return not any(layer.fault for layer in layers)


def _decompressor(file: SafeFile, kind: Compression) -> Readable:
    if kind is Compression.ZSTANDARD:
        import zstandard

        reader: Readable = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
            cast(IO[bytes], file), read_across_frames=True
        )
        return reader
    if kind is Compression.BROTLI:
        return _Brotli(file)
    return _Unpacked(file, _FACTORIES[kind])


class Writable(Protocol):
    """Takes what is unpacked."""

    def write(self, data: bytes, /) -> Any:
        """Append bytes."""


class _Decompressor(Protocol):
    """The interface of :class:`bz2.BZ2Decompressor` and :class:`lzma.LZMADecompressor`."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Gunzip:
    """Adapts zlib to :class:`_Decompressor`."""

    def __init__(self) -> None:
        self._object = zlib.decompressobj(16 + zlib.MAX_WBITS)

    @property
    def eof(self) -> bool:
        return self._object.eof

    @property
    def needs_input(self) -> bool:
        return not self._object.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._object.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._object.decompress(self._object.unconsumed_tail + data, max(max_length, 0))


_FACTORIES: dict[Compression, Callable[[], _Decompressor]] = {
    Compression.GZIP: cast(Callable[[], _Decompressor], _Gunzip),
    Compression.BZIP2: cast(Callable[[], _Decompressor], bz2.BZ2Decompressor),
    Compression.XZ: lambda: cast(
        _Decompressor, lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=1 << 27)
    ),
}


class _Unpacked:
    """One or more concatenated compressed files; yields what precedes an error."""

    def __init__(self, file: SafeFile, factory: Callable[[], _Decompressor]) -> None:
        self._file = file
        self._factory = factory
        self._decompressor = factory()
        self._mark = file.peek(2)

    def read(self, size: int = -1) -> bytes:
        while True:
            rest = b""
            if self._decompressor.eof:
                rest = self._decompressor.unused_data.lstrip(b"\0")
                while len(rest) < len(self._mark) and (more := self._file.read(1 << 16)):
                    rest = (rest + more).lstrip(b"\0")  # the magic bytes may be split
                if not rest.startswith(self._mark):
                    return b""  # padding, or garbage that other readers ignore too
                self._decompressor = self._factory()
            elif self._decompressor.needs_input:
                rest = self._file.read(1 << 16)
                if not rest:
                    raise EOFError("the file ends too early")
            data = self._decompressor.decompress(rest, size)
            if data:
                return data


class _Brotli:
    """A brotli file."""

    def __init__(self, file: SafeFile) -> None:
        import brotli

        self._file = file
        self._decompressor = brotli.Decompressor()
        self._held = b""

    def read(self, size: int = -1) -> bytes:
        while not self._held:
            if self._decompressor.is_finished():
                return b""
            rest = b""
            if self._decompressor.can_accept_more_data():
                rest = self._file.read(1 << 14)
                if not rest:
                    raise EOFError("the file ends too early")
            self._held = self._decompressor.process(rest, output_buffer_limit=1 << 20)
        if size < 0:
            size = len(self._held)
        result, self._held = self._held[:size], self._held[size:]
        return result


def _walk_archive(
    file: SafeFile,
    kind: Compression,
    layers: int,
    budget: Budget,
    visit: Visit,
    report: Report,
) -> None:
    members = _tar_members(file) if kind is Compression.TAR else _zip_members(file, budget, report)
    try:
        for name, content in members:
            budget.members += 1
            if budget.members > budget.options.max_members:
                report(f"more than {budget.options.max_members} members")
                return
            if fault := budget.fault():
                report(fault)
                return
            # a tar's bytes were counted when it was decompressed
            inner = SafeFile(content, budget, counted=kind is Compression.ZIP)
            _unpack(inner, name, name, layers + 1, budget, visit, report)
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError, RuntimeError,
            NotImplementedError) as error:  # fmt: skip
        report(f"{kind.value}: {error or type(error).__name__}")


class _TarEntry(tarfile.TarInfo):
    """Refuses headers that would exhaust memory or pass for the archive's end."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str | None, errors: str) -> Self:
        try:
            entry = super().frombuf(buf, encoding, errors)  # type: ignore[arg-type]
        except tarfile.HeaderError as error:
            if not buf.strip(b"\0"):  # the regular end
                raise
            raise tarfile.ReadError(str(error)) from None
        if entry.type in _TAR_EXTENSIONS and entry.size > _LONGEST_EXTENSION:
            raise tarfile.ReadError(f"a header of {entry.size} bytes")
        return entry


def _tar_members(file: SafeFile) -> Iterator[tuple[str, Readable]]:
    stream = cast(IO[bytes], file)
    with tarfile.open(fileobj=stream, mode="r|", tarinfo=_TarEntry) as archive:
        for entry in archive:
            if entry.isfile():
                content = archive.extractfile(entry)
                if content is not None:
                    # tarfile turns invalid UTF-8 into surrogates, which cannot be encoded
                    name = entry.name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
                    yield name, content
            archive.members = []  # type: ignore[attr-defined] # else it keeps every entry


def _zip_members(file: SafeFile, budget: Budget, report: Report) -> Iterator[tuple[str, Readable]]:
    # a zip's directory is at its end, so the file must be seekable
    with tempfile.SpooledTemporaryFile(_ZIP_IN_MEMORY, dir=_folder(budget)) as copy:
        while data := file.read(1 << 20):
            copy.write(data)
        file_of_copy = cast(IO[bytes], copy)
        try:
            _guard_directory(file_of_copy, budget.options.max_members)
            opened = zipfile.ZipFile(copy)
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
            # cut off, or its directory is too large: read the members that are there
            report(f"zip: {error or type(error).__name__}; its members are read one by one")
            yield from local_members(file_of_copy, report)
            return
        with opened as archive:
            for entry in archive.infolist():
                if entry.is_dir():
                    continue
                try:
                    content = archive.open(entry)
                except (zipfile.BadZipFile, RuntimeError, NotImplementedError,
                        ValueError) as error:  # fmt: skip
                    # encrypted, packed by an unknown method, or with an unreadable name; the
                    # others may be sound
                    report(f"{entry.filename}: {error}")
                    continue
                with content:
                    yield entry.filename, content


def _folder(budget: Budget) -> str | None:
    folder = budget.options.spool_dir
    return None if folder is None else str(folder)


def _guard_directory(file: IO[bytes], max_members: int) -> None:
    """Refuse a zip with a huge directory, which zipfile would read whole."""
    file.seek(max(file.seek(0, 2) - (1 << 17), 0))
    tail = file.read()
    sizes = [
        struct.unpack(form, found[1])[0] for end, form in _ZIP_ENDS for found in end.finditer(tail)
    ]
    # 0xffffffff: the size is in the zip64 field
    if any(max(max_members, 1000) * 1024 < size != 0xFFFFFFFF for size in sizes):
        raise ValueError("its directory is too large")
