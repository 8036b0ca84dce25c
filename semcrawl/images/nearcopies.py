"""Finds near copies: images that look the same in any size, format and quality.

Two images are near copies if their perceptual hashes (``phash`` of :mod:`imagehash`, 64 bits)
differ in few bits, and their proportions, their miniatures (16 × 16 pixels) and each part of their
grey thumbnails agree. The hash finds candidates. It sees only light and dark: a red and a blue
circle may have the same hash; miniatures differ there. Screenshots of two dialogs of one program
differ in a few lines of text only, which the parts of the thumbnails show.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: bits of a perceptual hash
BITS = 64
#: largest difference in proportions (of width to height), as a share
_PROPORTION = 0.04
#: largest mean difference of miniatures, and of a pixel's band (0 to 255). Copies that are scaled
#: to a half or a quarter, or compressed at quality 40, stay below; other images hardly ever do
_MEAN, _MOST = 6.0, 32.0
#: factor by which a copy may be brighter or darker as a whole
_GAIN = 1.15
#: side of a thumbnail that is compared in parts, and of a part (pixels)
_SIDE, _TILE = 128, 16
#: largest mean difference of a part, in standard deviations of the whole
_PART = 0.4
#: formats that keep every pixel
_LOSSLESS = frozenset({"image/png", "image/gif", "image/bmp", "image/tiff"})
#: candidates whose miniatures are compared
_MAX_CANDIDATES = 512
#: number of set bits of each 16-bit number
_SET_BITS = np.array([number.bit_count() for number in range(1 << 16)], dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class Look:
    """The look of an image."""

    #: hexadecimal, :data:`BITS` bits
    perceptual_hash: str
    miniature: bytes
    width: int
    height: int
    media_type: str = ""
    #: returns the grey thumbnail, a JPEG; empty if there is none
    grey: Callable[[], bytes] = bytes


class LookIndex:
    """The hashes and proportions of kept images: 24 bytes per image."""

    def __init__(
        self,
        most_bits: int,
        looks: Callable[[Sequence[int]], Mapping[int, Look]],
    ) -> None:
        """Compare images whose hashes differ in at most ``most_bits``; −1: none.

        ``looks`` returns the looks of images by their numbers.
        """
        self._most_bits = most_bits
        self._looks = looks
        self._count = 0
        self._hashes = np.zeros((64, BITS // 16), np.uint16)
        self._proportions = np.zeros(64)
        self._numbers = np.zeros(64, np.int64)

    def __len__(self) -> int:
        return self._count

    def add(self, number: int, look: Look) -> None:
        """Add an image under its number."""
        if self._count == len(self._numbers):
            self._hashes = np.concatenate([self._hashes, np.zeros_like(self._hashes)])
            self._proportions = np.concatenate([self._proportions, self._proportions])
            self._numbers = np.concatenate([self._numbers, self._numbers])
        place = self._count
        self._hashes[place] = _words(look.perceptual_hash)
        self._proportions[place] = _proportion(look)
        self._numbers[place] = number
        self._count += 1

    def remove(self, number: int) -> None:
        """Forget an image."""
        self._proportions[: self._count][self._numbers[: self._count] == number] = np.inf

    def nearest(self, look: Look) -> int | None:
        """Return the number of the most similar image if it is a near copy."""
        count = self._count
        if self._most_bits < 0 or not count:
            return None
        differing = _SET_BITS[self._hashes[:count] ^ _words(look.perceptual_hash)].sum(1)
        off = np.abs(self._proportions[:count] / _proportion(look) - 1.0)
        near = np.flatnonzero((differing <= self._most_bits) & (off <= _PROPORTION))
        if not len(near):
            return None
        near = near[np.argsort(differing[near], kind="stable")][:_MAX_CANDIDATES]
        numbers = [int(number) for number in self._numbers[near]]
        kept = self._looks(numbers)
        ours = _pixels(look.miniature)
        alike: list[tuple[float, int]] = []
        for number in numbers:
            theirs = _pixels(kept[number].miniature if number in kept else b"")
            if theirs.shape != ours.shape:
                continue
            gain = float((ours * theirs).sum() / max((theirs * theirs).sum(), 1.0))
            if not 1.0 / _GAIN <= gain <= _GAIN:
                continue
            apart = np.abs(gain * theirs - ours)
            if apart.mean() <= _MEAN and apart.max() <= _MOST:
                alike.append((float(apart.mean()), number))
        return next((n for _, n in sorted(alike) if _agree(look, kept[n])), None)


def _agree(one: Look, other: Look) -> bool:
    """Whether the grey thumbnails of two images agree in each part.

    Images of one size in one lossless format are copies only if all their pixels are equal, as
    nothing changed them on the way. Without a thumbnail, the miniatures have decided.
    """
    ours, theirs = one.grey(), other.grey()
    if not ours or not theirs:
        return True
    if ours == theirs:
        return True
    sizes = {(look.width, look.height, look.media_type) for look in (one, other)}
    if len(sizes) == 1 and one.media_type in _LOSSLESS:
        return False
    apart = np.abs(_standard(ours) - _standard(theirs))
    tiles = apart.reshape(_SIDE // _TILE, _TILE, _SIDE // _TILE, _TILE).mean((1, 3))
    return float(tiles.max()) <= _PART


def _standard(jpeg: bytes) -> npt.NDArray[np.float32]:
    """Return a thumbnail of 128 × 128 pixels with mean 0 and standard deviation 1."""
    from PIL import Image  # an extra: every crawl loads the pipeline of images

    with Image.open(io.BytesIO(jpeg), formats=["JPEG"]) as image:
        small = image.convert("L").resize((_SIDE, _SIDE), Image.Resampling.BOX)
    pixels = np.asarray(small, np.float32)
    standard: npt.NDArray[np.float32] = (pixels - pixels.mean()) / max(float(pixels.std()), 1.0)
    return standard


def _proportion(look: Look) -> float:
    return max(look.width, 1) / max(look.height, 1)


def _words(perceptual_hash: str) -> npt.NDArray[np.uint16]:
    data = bytes.fromhex(perceptual_hash.zfill(BITS // 4)[: BITS // 4])
    return np.frombuffer(data, np.uint16)


def _pixels(miniature: bytes) -> npt.NDArray[np.float32]:
    return np.frombuffer(miniature, np.uint8).astype(np.float32)
