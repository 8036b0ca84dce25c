"""Compression of feeds, as Scrapy post-processing plugins."""

from __future__ import annotations

from typing import Any, BinaryIO

from semcrawl.errors import UsageError

#: post-processing plugin by file ending
PLUGINS = {
    "gz": "scrapy.extensions.postprocessing.GzipPlugin",
    "zst": "semcrawl.exporters.compression.ZstdPlugin",
}


class ZstdPlugin:
    """Compresses a feed with Zstandard. Feed option: ``zstd_level`` (1 to 22, default 3)."""

    def __init__(self, file: BinaryIO, feed_options: dict[str, Any]) -> None:
        """Compress into ``file``; raises ``UsageError`` when the library is missing."""
        try:
            import zstandard
        except ModuleNotFoundError:
            raise UsageError("Zstandard needs: pip install semcrawl[compression]") from None
        level = int(feed_options.get("zstd_level", 3))
        self._writer: Any = zstandard.ZstdCompressor(level=level).stream_writer(file, closefd=False)

    def write(self, data: bytes) -> int:
        """Compress some bytes."""
        return int(self._writer.write(data))

    def close(self) -> None:
        """Finish the frame."""
        self._writer.close()
