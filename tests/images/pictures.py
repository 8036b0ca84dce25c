"""Pictures that tests draw, and bytes that only claim to be some."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image, ImageDraw


def drawn(colour: str = "red", shape: str = "circle", size=(400, 300), ground="white"):
    picture = Image.new("RGB", size, ground)
    width, height = size
    box = (width * 0.25, height * 0.2, width * 0.75, height * 0.8)
    pencil = ImageDraw.Draw(picture)
    (pencil.ellipse if shape == "circle" else pencil.rectangle)(box, fill=colour)
    return picture


def packed(picture: Image.Image, form: str = "PNG", **options) -> bytes:
    file = io.BytesIO()
    picture.save(file, form, **options)
    return file.getvalue()


def claimed(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header claims a size."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
