"""The addresses of a job's images and of their copies, and those that gave none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import ColumnElement, select
from sqlalchemy.orm import Session

from semcrawl.images.outcomes import MAY_PASS
from semcrawl.images.schema import IMAGES_DB, ImageAddress, open_images


def image_addresses(folder: Path) -> list[tuple[int, str]]:
    """Return pairs of an image's number and an address of it; raises as ``open_images``."""
    rows = _rows(folder, ImageAddress.image_id.is_not(None))
    return [(row.image_id, row.url) for row in rows if row.image_id is not None]


def broken_images(folder: Path) -> set[str]:
    """Return the addresses that gave no image, perhaps for the moment; none without images.

    Raises ``StoreError`` as ``open_images``.
    """
    if not (folder / IMAGES_DB).is_file():
        return set()
    return {row.final_url for row in _rows(folder, ImageAddress.outcome.in_(MAY_PASS))}


def _rows(folder: Path, condition: ColumnElement[bool]) -> Sequence[ImageAddress]:
    engine = open_images(folder)
    try:
        with Session(engine.execution_options(read_only=True)) as session:
            return session.scalars(select(ImageAddress).where(condition)).all()
    finally:
        engine.dispose()
