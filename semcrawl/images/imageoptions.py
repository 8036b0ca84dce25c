"""Options of the images that a crawl keeps, and of reading their places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from semcrawl.config.numbers import whole_number
from semcrawl.errors import UsageError
from semcrawl.images.imageplaces import PlaceOptions
from semcrawl.web.urls import DEFAULT_NORMALISATION, Normalisation

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_MEDIA_TYPE = re.compile(r"image/[a-z0-9!#$&^_.+*-]+")


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """The settings ``SEMCRAWL_IMAGES_…``."""

    #: pixels
    min_width: int = 100
    min_height: int = 100
    min_bytes: int = 0
    max_bytes: int = 1 << 25
    max_pixels: int = 50_000_000
    #: media types, ``image/*`` for all
    types: tuple[str, ...] = ("image/*",)
    #: most pages of an image that is no logo or advertisement; 0: any number
    max_pages: int = 10
    #: most bits in which the hashes of near copies differ; −1: only equal bytes are copies
    near_bits: int = 16
    #: options of places
    places: PlaceOptions = field(default_factory=PlaceOptions)

    @classmethod
    def from_settings(
        cls, settings: BaseSettings, normalisation: Normalisation = DEFAULT_NORMALISATION
    ) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        types = [name.strip().lower() for name in settings.getlist("SEMCRAWL_IMAGES_TYPES")]
        for name in types:
            if not _MEDIA_TYPE.fullmatch(name):
                raise UsageError(f"SEMCRAWL_IMAGES_TYPES takes only image/…, not {name!r}")
        least_width = whole_number(settings, "SEMCRAWL_IMAGES_MIN_WIDTH", 0)
        least_height = whole_number(settings, "SEMCRAWL_IMAGES_MIN_HEIGHT", 0)
        return cls(
            min_width=least_width,
            min_height=least_height,
            min_bytes=whole_number(settings, "SEMCRAWL_IMAGES_MIN_BYTES", 0),
            max_bytes=whole_number(settings, "SEMCRAWL_IMAGES_MAX_BYTES", 1),
            max_pixels=whole_number(settings, "SEMCRAWL_IMAGES_MAX_PIXELS", 1),
            types=tuple(dict.fromkeys(types)) or ("image/*",),
            max_pages=whole_number(settings, "SEMCRAWL_IMAGES_MAX_PAGES", 0),
            near_bits=whole_number(settings, "SEMCRAWL_IMAGES_NEAR_BITS", -1),
            places=PlaceOptions(
                normalisation,
                max_places=whole_number(settings, "SEMCRAWL_IMAGES_PER_PAGE", 1),
                max_links=whole_number(settings, "SEMCRAWL_MAX_LINKS_PER_PAGE", 0),
                levels=whole_number(settings, "SEMCRAWL_IMAGES_LEVELS", 0),
                max_text=whole_number(settings, "SEMCRAWL_IMAGES_MAX_TEXT", 1),
                min_width=least_width,
                min_height=least_height,
            ),
        )
