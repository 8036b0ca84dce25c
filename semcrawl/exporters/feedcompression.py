"""Compresses feeds by Scrapy's post-processing plugins."""

from __future__ import annotations

from collections.abc import Container
from pathlib import PurePosixPath
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from semcrawl.config.extras import install_hint
from semcrawl.errors import UsageError

#: post-processing plugin by file extension
PLUGINS = {
    "gz": "scrapy.extensions.postprocessing.GzipPlugin",
    "zst": "semcrawl.exporters.feedcompression.ZstdPlugin",
}


def inner_format(uri: str, compression: str, formats: Container[str]) -> str:
    """Return the format in a compressed feed's name: ``nq`` of ``data.nq.gz``.

    Raises ``UsageError`` if it is not in ``formats``.
    """
    # a file may be called a#b.nq.gz
    path = PurePosixPath(urlsplit(uri).path if "://" in uri else uri)
    inner = path.with_suffix("").suffix.lstrip(".")
    if path.suffix != f".{compression}" or inner in PLUGINS or inner not in formats:
        raise UsageError(f"the feed {uri} needs a format before .{compression}, as in .nq.gz")
    return inner


class ZstdPlugin:
    """Compresses a feed with Zstandard. Feed option: ``zstd_level`` (1 to 22, default 3)."""

    def __init__(self, file: BinaryIO, feed_options: dict[str, Any]) -> None:
        """Compress into ``file``. Raises ``UsageError`` without the library."""
        try:
            import zstandard
        except ModuleNotFoundError:
            raise UsageError(f"Zstandard needs: {install_hint('compression')}") from None
        level = int(feed_options.get("zstd_level", 3))
        self._writer: Any = zstandard.ZstdCompressor(level=level).stream_writer(file, closefd=False)

    def write(self, data: bytes) -> int:
        """Compress some bytes."""
        return int(self._writer.write(data))

    def close(self) -> None:
        """Finish the frame."""
        self._writer.close()
