"""File wrappers for parsers: bounded, counted, and never raising.

An error, be it a broken archive or a limit, ends the file early and is recorded. An exception would
pass through the parser and lose its results.
"""

from __future__ import annotations

from typing import Protocol

from semcrawl.rdf.limits import Budget
from semcrawl.web.charsets import Encoding, without_declaration


class Readable(Protocol):
    """Anything with a file's ``read``."""

    def read(self, size: int = ..., /) -> bytes:
        """Return at most ``size`` bytes; none at the end."""


class CountedFile:
    """Counts packed bytes for the ratio."""

    def __init__(self, file: Readable, budget: Budget) -> None:
        """Count the bytes read from ``file`` as packed bytes of ``budget``."""
        self._file = file
        self._budget = budget

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes."""
        data = self._file.read(size)
        self._budget.packed += len(data)
        return data


class SafeFile:
    """Ends at the first error, and holds its message in :attr:`fault`."""

    def __init__(self, file: Readable, budget: Budget, *, counted: bool = True) -> None:
        """Read ``file`` within ``budget``; ``counted`` adds its bytes to the unpacked ones."""
        self._file = file
        self._budget = budget
        self._counted = counted
        self._held = b""
        self._over = False
        self.fault = ""

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes; none at the end."""
        if size is None or size < 0:
            size = 1 << 20
        if self._held:
            data, self._held = self._held[:size], self._held[size:]
            return data
        return self._next(size)

    def peek(self, size: int) -> bytes:
        """Return the next ``size`` bytes without consuming them."""
        while len(self._held) < size:
            data = self._next(size - len(self._held))
            if not data:
                break
            self._held += data
        return self._held[:size]

    def read_all(self, limit: int) -> bytes | None:
        """Return the rest; None, with nothing consumed, if it exceeds ``limit`` bytes."""
        pieces: list[bytes] = []
        total = 0
        while total <= limit:
            data = self.read(1 << 20)
            if not data:
                return b"".join(pieces)
            pieces.append(data)
            total += len(data)
        self._held = b"".join(pieces) + self._held
        return None

    def _next(self, size: int) -> bytes:
        if self._over:
            return b""
        fault = self._budget.fault()
        if not fault:
            try:
                data = self._file.read(size)
            except Exception as error:  # each library raises its own
                fault = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            else:
                if self._counted:
                    self._budget.unpacked += len(data)
                self._over = not data
                return data
        self.fault = fault
        self._over = True
        return b""


class Utf8File:
    """Converts a file to UTF-8 without a byte-order mark."""

    def __init__(self, file: SafeFile, encoding: Encoding) -> None:
        """Decode ``file`` after its byte-order mark."""
        self._file = file
        if encoding.bom:
            file.peek(encoding.bom)
            file.read(encoding.bom)
        self._begins = True
        self._decoder = None if encoding.is_utf8 else encoding.charset.decoder()
        self._held = b""
        #: places where bytes that mean nothing became U+FFFD
        self.replaced = 0

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes."""
        if self._decoder is None:
            return self._first(self._file.read(size))
        if size is None or size < 0:
            size = 1 << 20
        while not self._held:
            data = self._file.read(size)
            text = self._decoder.decode(data, not data)
            self.replaced += text.count("\ufffd")
            self._held = self._first(text.encode("utf-8", "replace"))
            if not data:
                break
        result, self._held = self._held[:size], self._held[size:]
        return result

    def _first(self, data: bytes) -> bytes:
        """Return a piece; the first one without the encoding that its declaration names."""
        if self._begins and data:
            self._begins = False
            return without_declaration(data)
        return data
