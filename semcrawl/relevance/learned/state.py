"""A crawl's memory as bytes: a stamp, a checksum, and compressed arrays (no pickle)."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from semcrawl.errors import UsageError

#: changes whenever the meaning of what is stored does, the features' included
STAMP = b"semcrawl-learned-1\n"
#: largest state that is unpacked, in bytes
_LARGEST = 1 << 31


def pack(content: Mapping[str, Any]) -> bytes:
    """Bytes of a mapping of msgpack-able values and NumPy arrays."""
    encoded = {name: _encode(value) for name, value in content.items()}
    plain = msgpack.packb(encoded, unicode_errors="surrogatepass")
    body = zlib.compress(plain, 1)  # others wait meanwhile, and more effort gains little
    return STAMP + zlib.crc32(body).to_bytes(4, "big") + body


def unpack(state: bytes) -> dict[str, Any]:
    """Return the content of :func:`pack`; raise ``UsageError`` if foreign, older or cut short."""
    if not state.startswith(STAMP):
        raise UsageError("the model is not one of this version's learned strategy")
    checksum, body = state[len(STAMP) : len(STAMP) + 4], state[len(STAMP) + 4 :]
    if len(checksum) < 4 or zlib.crc32(body).to_bytes(4, "big") != checksum:
        raise UsageError("the model is damaged or was cut short")
    try:
        unpacker = zlib.decompressobj()
        plain = unpacker.decompress(body, _LARGEST)
        if unpacker.unconsumed_tail:
            raise UsageError("the model is larger than any that this version writes")
        content = msgpack.unpackb(plain, unicode_errors="surrogatepass")
        return {name: _decode(value) for name, value in content.items()}
    except (zlib.error, ValueError, TypeError, AttributeError, msgpack.UnpackException) as error:
        raise UsageError(f"the model cannot be read: {error}") from None


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        buffer = io.BytesIO()
        np.save(buffer, value, allow_pickle=False)
        return {"array": buffer.getvalue()}
    return {"value": value}


def _decode(value: Mapping[str, Any]) -> Any:
    if "array" in value:
        array: NDArray[Any] = np.load(io.BytesIO(value["array"]), allow_pickle=False)
        return array
    return value["value"]
