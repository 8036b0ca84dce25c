"""Decodes images within limits: type, thumbnails, perceptual hashes.

Pillow reads only raster formats: no drawings, no PostScript, nothing that starts another program.
The header is checked before a pixel is decoded.
"""

from __future__ import annotations

import io
import warnings
from fnmatch import fnmatchcase
from functools import cache

import imagehash
from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

from semcrawl.images.imageitems import Decoded, ImageOptions
from semcrawl.images.outcomes import ImageOutcome

#: formats to read, by Pillow's names
_FORMATS = (
    "JPEG", "PNG", "GIF", "WEBP", "AVIF", "BMP", "DIB", "TIFF", "JPEG2000", "PPM", "PCX",
    "TGA", "ICO",
)  # fmt: skip
#: pixels of a thumbnail's side (sources.md I)
THUMBNAIL = 255
#: pixels of a miniature's side
MINIATURE = 16
_QUALITY = 85
#: bits of a side of the perceptual hash: 8 × 8 in all
_HASH_SIDE = 8
#: most frames that are counted
_MAX_FRAMES = 10_000
_DRAWINGS = (b"<svg", b"%PDF", b"%!PS", b"\xc5\xd0\xd3\xc6", b"\xd7\xcd\xc6\x9a")
#: first bytes in which a drawing is recognised; in markup, entities and comments may precede it
_HEAD, _HEAD_OF_MARKUP = 1024, 1 << 16


class _Unwanted(Exception):  # noqa: N818 - an outcome
    def __init__(self, outcome: ImageOutcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome


def decode(body: bytes, options: ImageOptions | None = None) -> Decoded:
    """Decode an image. Never raises because of the content.

    Of an animation the first frame is used. Transparent parts become white.
    """
    options = options or ImageOptions()
    size = (0, 0)
    media_type = ""
    try:
        _check_bytes(body, options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(body), formats=_formats()) as image:
                size = image.size
                media_type = Image.MIME.get(image.format or "", "").replace(
                    "image/mpo", "image/jpeg"
                )
                _check_header(image, media_type, options)
                return _read(image, media_type)
    except _Unwanted as unwanted:
        return Decoded(unwanted.outcome, str(unwanted), media_type, *size)
    except UnidentifiedImageError:
        return Decoded(ImageOutcome.NO_IMAGE, "it is not an image of a known format")
    except Image.DecompressionBombError:
        reason = f"it has more than {options.max_pixels:,} pixels"
        return Decoded(ImageOutcome.TOO_MANY_PIXELS, reason, media_type, *size)
    except MemoryError:
        return Decoded(ImageOutcome.TOO_MANY_PIXELS, "no memory for it", media_type, *size)
    except Exception as error:  # the decoders raise all kinds
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        return Decoded(ImageOutcome.BROKEN, reason, media_type, *size)


@cache
def _formats() -> list[str]:
    """Return the formats that this Pillow supports."""
    Image.init()
    return [name for name in _FORMATS if name in Image.OPEN]


def _check_bytes(body: bytes, options: ImageOptions) -> None:
    is_markup = body[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")
    head = body[: _HEAD_OF_MARKUP if is_markup else _HEAD]
    is_page = is_markup and b"<html" in head.lower()
    if not is_page and any(mark in head for mark in _DRAWINGS):
        raise _Unwanted(ImageOutcome.NO_RASTER, "a drawing, which is not rendered")
    if len(body) < options.min_bytes:
        reason = f"{len(body)} bytes, fewer than {options.min_bytes}"
        raise _Unwanted(ImageOutcome.TOO_FEW_BYTES, reason)
    if len(body) > options.max_bytes:
        raise _Unwanted(ImageOutcome.TOO_MANY_BYTES, f"more than {options.max_bytes:,} bytes")


def _check_header(image: ImageFile.ImageFile, media_type: str, options: ImageOptions) -> None:
    """Check an image by its header, so that no unwanted one is decoded."""
    width, height = image.size
    if not any(fnmatchcase(media_type, wanted) for wanted in options.types):
        raise _Unwanted(ImageOutcome.OTHER_TYPE, f"its type is {media_type}")
    if width < options.min_width or height < options.min_height:
        least = f"{options.min_width} × {options.min_height}"
        raise _Unwanted(ImageOutcome.TOO_SMALL, f"{width} × {height} pixels, less than {least}")
    if width * height > options.max_pixels:
        reason = f"{width} × {height} pixels, more than {options.max_pixels:,}"
        raise _Unwanted(ImageOutcome.TOO_MANY_PIXELS, reason)


def _read(image: ImageFile.ImageFile, media_type: str) -> Decoded:
    width, height = image.size
    frames = min(int(getattr(image, "n_frames", 1)), _MAX_FRAMES)
    if frames > 1:
        image.seek(0)
    image.draft("RGB", (2 * THUMBNAIL, 2 * THUMBNAIL))  # a JPEG need not be decoded in full size
    image.load()
    if ImageOps.exif_transpose(image, in_place=True) is None and _is_turned(image, width, height):
        width, height = height, width
    picture = _plain(image)
    if all(low == high for low, high in _extrema(picture)):
        raise _Unwanted(ImageOutcome.BLANK, "it is of one colour")
    # nothing needs more than a few times the size of a thumbnail
    picture.thumbnail((4 * THUMBNAIL, 4 * THUMBNAIL))
    colour = picture.copy()
    colour.thumbnail((THUMBNAIL, THUMBNAIL))
    grey = picture.convert("L").resize((THUMBNAIL, THUMBNAIL), Image.Resampling.LANCZOS)
    miniature = picture.resize((MINIATURE, MINIATURE), Image.Resampling.BOX)
    return Decoded(
        ImageOutcome.KEPT,
        media_type=media_type,
        width=width,
        height=height,
        frames=frames,
        perceptual_hash=str(imagehash.phash(grey, _HASH_SIDE)),
        miniature=miniature.tobytes(),
        grey=_jpeg(grey),
        colour=_jpeg(colour),
    )


def _is_turned(image: Image.Image, width: int, height: int) -> bool:
    """Whether the camera's orientation tag turned the image by 90 degrees."""
    return (image.width > image.height) != (width > height) and image.width != image.height


def _plain(image: Image.Image) -> Image.Image:
    """Return an image in RGB, on white where it is transparent."""
    # scale before converting, to save memory
    is_large = max(image.size) > 4 * THUMBNAIL
    if is_large and image.mode in ("RGB", "RGBA", "L", "LA", "CMYK", "YCbCr"):
        image.thumbnail((4 * THUMBNAIL, 4 * THUMBNAIL))
    if image.mode.startswith(("I", "F")):
        low, high = _extrema(image)[0]
        scale = 255.0 / (high - low) if high > low else 0.0
        image = image.convert("F").point(lambda value: value * scale - low * scale).convert("L")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
        ground = Image.new("RGBA", image.size, "white")
        ground.alpha_composite(image)
        image = ground
    return image.convert("RGB")


def _extrema(image: Image.Image) -> list[tuple[float, float]]:
    """Return the least and greatest value of each band."""
    found = image.getextrema()
    return list(found) if isinstance(found[0], tuple) else [found]


def _jpeg(image: Image.Image) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", quality=_QUALITY)
    return file.getvalue()
