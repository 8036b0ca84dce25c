"""Describes a picture by histograms of its colours, edges and textures.

Colours: hue, saturation and brightness of the whole picture and of its middle. Edges: directions of
the gradient in 4 × 4 cells and in the whole (after Dalal and Triggs 2005). Textures: uniform local
binary patterns (Ojala 2002) at two sizes. Each histogram sums to 1; features are its square roots,
so that their scalar product compares histograms (Bhattacharyya).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

Floats = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]

#: side in pixels of the square to which a picture is scaled
SIDE = 96
_HUES, _SATURATIONS, _GREYS = 12, 2, 5
_COLOURS = _HUES * _SATURATIONS * 2 + _GREYS
_CELLS, _DIRECTIONS, _FINE = 4, 8, 24
_PATTERNS = 59
#: numbers that describe a picture
FEATURES = 2 * _COLOURS + _CELLS * _CELLS * _DIRECTIONS + _FINE + 2 * _PATTERNS
#: numbers of :func:`spread`, and its distance scale s
SPREAD, _NEARNESS = 1024, 1.5
#: below this saturation or brightness (of 255) a pixel is grey
_PALE, _DARK = 38, 30


def features_of_file(path: Path) -> Floats | None:
    """Return the features of a thumbnail; ``None`` if it cannot be read."""
    try:
        with Image.open(path) as picture:
            return features_of(picture)
    except (OSError, ValueError, Image.DecompressionBombError):
        return None


def features_of(picture: Image.Image) -> Floats:
    """Return the features of a picture, which is scaled to a square first."""
    square = picture.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    colours = _colours(np.asarray(square.convert("HSV")))
    middle = slice(SIDE // 4, -SIDE // 4)
    grey = np.asarray(square.convert("L"), np.float32)
    parts = [
        np.bincount(colours.ravel(), minlength=_COLOURS),
        np.bincount(colours[middle, middle].ravel(), minlength=_COLOURS),
        *_edges(grey),
        _textures(grey),
        _textures(grey.reshape(SIDE // 3, 3, SIDE // 3, 3).mean(axis=(1, 3))),
    ]
    shares = [part / max(float(part.sum()), 1e-9) for part in parts]
    return np.sqrt(np.concatenate(shares)).astype(np.float32)


def spread(features: Floats) -> Floats:
    """Return random Fourier features, by which a linear model can combine "red" and "round".

    The scalar product of two rows approximates exp(-d² / 2s²) of their distance d (Rahimi and Recht
    2007).
    """
    directions, shifts = _waves()
    waves: Floats = np.cos(features @ directions + shifts) * np.float32(np.sqrt(2 / SPREAD))
    return waves


@cache
def _waves() -> tuple[Floats, Floats]:
    draw = np.random.default_rng(0)
    directions = draw.normal(0, 1 / _NEARNESS, (FEATURES, SPREAD)).astype(np.float32)
    return directions, draw.uniform(0, 2 * np.pi, SPREAD).astype(np.float32)


def _colours(pixels: Bytes) -> npt.NDArray[np.int64]:
    """Return the bin of each pixel's colour."""
    hue, saturation, value = (pixels[..., n].astype(np.int64) for n in range(3))
    # hues are circular; red is in the middle of a bin
    tone = ((hue * _HUES * 2 // 256 + 1) // 2) % _HUES
    vivid = (saturation > 128).astype(np.int64)
    bright = (value > 140).astype(np.int64)
    coloured = (tone * _SATURATIONS + vivid) * 2 + bright
    grey = _HUES * _SATURATIONS * 2 + value * _GREYS // 256
    return np.where((saturation < _PALE) | (value < _DARK), grey, coloured)


def _edges(grey: Floats) -> list[npt.NDArray[Any]]:
    """Return histograms of directions: per cell, and a finer one of the whole."""
    down, right = np.gradient(grey)
    strength = np.hypot(down, right)
    strength = np.where(strength > 4, strength, 0)
    turn = np.arctan2(down, right) / np.pi % 1
    place = np.arange(SIDE) * _CELLS // SIDE
    cell = place[:, None] * _CELLS + place[None, :]
    coarse = cell * _DIRECTIONS + (turn * _DIRECTIONS + 0.5).astype(np.int64) % _DIRECTIONS
    fine = (turn * _FINE + 0.5).astype(np.int64) % _FINE
    return [
        np.bincount(coarse.ravel(), strength.ravel(), _CELLS * _CELLS * _DIRECTIONS),
        np.bincount(fine.ravel(), strength.ravel(), _FINE),
    ]


def _textures(grey: Floats) -> npt.NDArray[np.int64]:
    """Return the histogram of uniform local binary patterns."""
    middle = grey[1:-1, 1:-1]
    around = ((0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0))
    high, wide = middle.shape
    code = np.zeros(middle.shape, np.int64)
    for bit, (row, column) in enumerate(around):
        # without a margin, JPEG noise would be a texture
        code |= (grey[row : row + high, column : column + wide] > middle + 3).astype(
            np.int64
        ) << bit
    return np.bincount(_uniform()[code].ravel(), minlength=_PATTERNS)


@cache
def _uniform() -> npt.NDArray[np.int64]:
    """Return the bin of each of the 256 patterns: those with more than two changes share one."""
    changes = [((code ^ (code >> 1 | (code & 1) << 7)) & 255).bit_count() for code in range(256)]
    bins, free = np.full(256, _PATTERNS - 1, np.int64), 0
    for code, count in enumerate(changes):
        if count <= 2:
            bins[code] = free
            free += 1
    return bins
