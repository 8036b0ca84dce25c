"""Which images a crawl keeps, and what it reads of their places."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

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
    #: an image on more pages is a logo or an advertisement; 0: on any number
    max_pages: int = 10
    #: bits in which the hashes of near copies differ at most; −1: equal bytes alone are copies
    near_bits: int = 16
    #: of places
    places: PlaceOptions = field(default_factory=PlaceOptions)

    @classmethod
    def from_settings(
        cls, settings: BaseSettings, normalisation: Normalisation = DEFAULT_NORMALISATION
    ) -> Self:
        """Read the settings; raise ``UsageError`` for wrong ones."""
        types = [name.strip().lower() for name in settings.getlist("SEMCRAWL_IMAGES_TYPES")]
        for name in types:
            if not _MEDIA_TYPE.fullmatch(name):
                raise UsageError(f"SEMCRAWL_IMAGES_TYPES takes image/… alone, not {name!r}")
        least_width = _number(settings, "SEMCRAWL_IMAGES_MIN_WIDTH")
        least_height = _number(settings, "SEMCRAWL_IMAGES_MIN_HEIGHT")
        return cls(
            min_width=least_width,
            min_height=least_height,
            min_bytes=_number(settings, "SEMCRAWL_IMAGES_MIN_BYTES"),
            max_bytes=_number(settings, "SEMCRAWL_IMAGES_MAX_BYTES", 1),
            max_pixels=_number(settings, "SEMCRAWL_IMAGES_MAX_PIXELS", 1),
            types=tuple(dict.fromkeys(types)) or ("image/*",),
            max_pages=_number(settings, "SEMCRAWL_IMAGES_MAX_PAGES"),
            near_bits=_number(settings, "SEMCRAWL_IMAGES_NEAR_BITS", -1),
            places=PlaceOptions(
                normalisation,
                max_places=_number(settings, "SEMCRAWL_IMAGES_PER_PAGE", 1),
                max_links=_number(settings, "SEMCRAWL_MAX_LINKS_PER_PAGE"),
                levels=_number(settings, "SEMCRAWL_IMAGES_LEVELS"),
                max_text=_number(settings, "SEMCRAWL_IMAGES_MAX_TEXT", 1),
                min_width=least_width,
                min_height=least_height,
            ),
        )


def _number(settings: BaseSettings, name: str, least: int = 0) -> int:
    """Read a whole number that is not below ``least``."""
    value = settings.get(name)
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise UsageError(f"{name} takes a whole number, not {value!r}") from None
    if number < least:
        raise UsageError(f"{name} takes {least} or more, not {number}")
    return number
