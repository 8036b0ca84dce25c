"""Options of the images that a crawl keeps, and of reading their places."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from semcrawl.config.extras import install_hint
from semcrawl.config.readoptions import ReaderOptions
from semcrawl.errors import UsageError
from semcrawl.images.imageplaces import PlaceOptions
from semcrawl.settings.reader import fill, part, setting
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation

_MEDIA_TYPE = re.compile(r"image/[a-z0-9!#$&^_.+*-]+")


def _types(names: Iterable[str]) -> tuple[str, ...]:
    """Return media types of images; raise ``UsageError`` for others."""
    found = tuple(dict.fromkeys(name.lower() for name in names))
    for name in found:
        if not _MEDIA_TYPE.fullmatch(name):
            raise UsageError(f"SEMCRAWL_IMAGES_TYPES takes only image/…, not {name!r}")
    return found or ("image/*",)


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """The settings ``SEMCRAWL_IMAGES_…``."""

    #: pixels
    min_width: int = setting("SEMCRAWL_IMAGES_MIN_WIDTH")
    min_height: int = setting("SEMCRAWL_IMAGES_MIN_HEIGHT")
    min_bytes: int = 0
    max_bytes: int = 1 << 25
    #: most pixels of an image that is decoded; each briefly takes up to four bytes of memory
    max_pixels: int = 50_000_000
    #: media types, ``image/*`` for all
    types: tuple[str, ...] = setting("SEMCRAWL_IMAGES_TYPES", _types)
    #: most pages of an image that is no logo or advertisement; 0: any number
    max_pages: int = setting("SEMCRAWL_IMAGES_MAX_PAGES")
    #: most bits in which the hashes of near copies differ; −1: only equal bytes are copies
    near_bits: int = 16
    #: options of places
    places: PlaceOptions = part(PlaceOptions)

    @classmethod
    def from_settings(
        cls, settings: Mapping[str, Any], normalisation: Normalisation = DEFAULT_NORMALISATION
    ) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        found = fill(cls, settings)
        places = replace(
            found.places,
            normalisation=normalisation,
            min_width=found.min_width,
            min_height=found.min_height,
        )
        return replace(found, places=places)


def image_options(settings: Mapping[str, Any]) -> ImageOptions | None:
    """Read the settings of images; ``None`` if images are no targets.

    Raises ``UsageError`` for wrong settings, and if the packages of the extra are missing.
    """
    if not fill(ReaderOptions, settings).targets.images:
        return None
    try:
        import imagehash  # noqa: F401
        import PIL  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"the targets images need {error.name}: {install_hint('images')}"
        ) from None
    return ImageOptions.from_settings(settings)
