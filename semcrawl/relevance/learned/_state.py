"""Saves the memory of a crawl as bytes, without pickle, and restores it."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from semcrawl.errors import UsageError
from semcrawl.relevance.learned.answering import AnsweringHosts
from semcrawl.relevance.learned.memory import CrawlMemory
from semcrawl.relevance.learned.table import TAKEN, LinkTable

_COUNTS = ("hosts", "clusters", "sections", "subsections")
#: changes with the meaning of the stored state, features included
STAMP = b"semcrawl-learned-1\n"
#: size limit of an unpacked state, in bytes
_LARGEST = 1 << 31


def read_model(path: str) -> bytes:
    """Read the state of another crawl from a file; raise ``UsageError`` if it is unreadable."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def content_of(memory: CrawlMemory) -> dict[str, Any]:
    """Return weights, counts, the discovery tree, and the best waiting links."""
    content: dict[str, Any] = {"bits": memory.options.table_bits}
    content |= {"fetches": memory.fetches, "drought": memory.drought}
    content |= {"judged": memory.judged, "relevant": memory.relevant}
    for name, model in (("index", memory.models.index), ("kinds", memory.models.kinds)):
        content |= {f"{name}_{key}": array for key, array in model.state().items()}
    if memory.shares is not None:
        content |= {f"shares_{key}": array for key, array in memory.shares.model.state().items()}
        content |= {"shares_judged": memory.shares.judged, "shares_gained": memory.shares.gained}
        content |= {"shares_levels": memory.shares.levels.counts}
    for name in _COUNTS:
        content |= {f"{name}_{what}": of for what, of in getattr(memory, name).state().items()}
    content |= memory.answering.state()
    return content | _worth_keeping(memory).state()


def take_over(
    memory: CrawlMemory, content: Mapping[str, Any], *, weights_only: bool = False
) -> None:
    """Restore the result of :func:`content_of`; raise ``UsageError`` if it does not fit.

    With ``weights_only``, ignore links and counts, as they are those of another crawl.
    """
    bits = content.get("bits")
    if bits != memory.options.table_bits:
        raise UsageError(f"the model has 2^{bits} rows, not 2^{memory.options.table_bits}")
    try:
        for name, model in (("index", memory.models.index), ("kinds", memory.models.kinds)):
            model.restore({key: content[f"{name}_{key}"] for key in model.state()})
        if weights_only:
            return
        if memory.shares is not None and "shares_rows" in content:
            model = memory.shares.model
            model.restore({key: content[f"shares_{key}"] for key in model.state()})
            memory.shares.judged = int(content.get("shares_judged", 0))
            memory.shares.gained = float(content.get("shares_gained", 0.0))
            levels = memory.shares.levels
            levels.counts[:] = content.get("shares_levels", levels.counts)
        memory.fetches = int(content["fetches"])
        memory.drought = int(content.get("drought", 0))
        memory.judged = int(content.get("judged", 0))
        memory.relevant = int(content.get("relevant", 0))
        for name in _COUNTS:
            counts = getattr(memory, name)
            known = content[f"{name}_names"], content[f"{name}_counts"]
            later = (content.get(f"{name}_{what}") for what in ("fruitless", "given"))
            counts.restore(*known, *later)
        table = LinkTable.restored(content)
        if "answering" in content:
            answering = AnsweringHosts.restored(content)
        else:  # an earlier version's
            answering = AnsweringHosts.of(table)
    except (KeyError, ValueError, IndexError, TypeError, AttributeError) as error:
        raise UsageError(f"the model cannot be read: {error}") from None
    memory.replace_table(table, answering)


def _worth_keeping(memory: CrawlMemory) -> LinkTable:
    table, most = memory.table, memory.options.saved_links
    if table.size <= most:
        return table
    kept = (table["children"] > 0) | (table["state"] == TAKEN)
    waiting = table.waiting()
    best = np.argsort(-table["told"][waiting], kind="stable")
    kept[waiting[best[:most]]] = True
    return table.select(kept)


def pack(content: Mapping[str, Any]) -> bytes:
    """Encode a mapping with values for msgpack and NumPy arrays."""
    packer = msgpack.Packer(unicode_errors="surrogatepass")
    compressor = zlib.compressobj(1)  # the crawl waits, and a higher level gains little
    # one by one, as all of them together take a hundred megabytes
    pieces = [compressor.compress(packer.pack_map_header(len(content)))]
    for name, value in content.items():
        pieces.append(compressor.compress(packer.pack(name)))
        pieces.append(compressor.compress(packer.pack(_encode(value))))
    body = b"".join([*pieces, compressor.flush()])
    return STAMP + zlib.crc32(body).to_bytes(4, "big") + body


def unpack(state: bytes) -> dict[str, Any]:
    """Decode the result of :func:`pack`; raise ``UsageError`` if foreign, older or damaged."""
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
