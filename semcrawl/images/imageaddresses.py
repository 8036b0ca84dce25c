"""The addresses that the images of a job were had from, copies too."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import select

from semcrawl.images.schema import ImageAddress, open_images


def image_addresses(folder: Path) -> list[tuple[int, str]]:
    """Return pairs of an image's number and an address of it; raises as ``open_images``."""
    engine = open_images(folder)
    try:
        with engine.connect() as connection:
            wanted = select(ImageAddress.image_id, ImageAddress.url)
            rows = connection.execute(wanted.where(ImageAddress.image_id.is_not(None))).all()
    finally:
        engine.dispose()
    return [(number, url) for number, url in rows if number is not None]
