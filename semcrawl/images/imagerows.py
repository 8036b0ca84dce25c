"""The tables of ``images.db`` for SQLAlchemy expressions, and functions that read rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from sqlalchemy import ColumnElement, Connection, Table, select
from sqlalchemy.orm import Session

from semcrawl.images import IMAGES_DB
from semcrawl.images.neartext import place_key
from semcrawl.images.outcomes import MAY_PASS
from semcrawl.images.schema import (
    Domain,
    DomainScore,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
    PageLink,
    Query,
    Visit,
    open_images,
)
from semcrawl.metadata.rows import in_parts


def _table(model: type[Any]) -> Table:
    return cast(Table, model.__table__)


DOMAIN, PAGE, LINK, VISIT = (_table(m) for m in (Domain, Page, PageLink, Visit))
IMAGE, ADDRESS, PLACE, TEXT = (_table(m) for m in (Image, ImageAddress, ImagePlace, NearText))
SCORE, QUERY = _table(DomainScore), _table(Query)


def texts_of_places(connection: Connection, places: Sequence[int]) -> dict[int, dict[str, str]]:
    """Return the texts of places by kind of place (:func:`~semcrawl.images.neartext.place_key`)."""
    found: dict[int, dict[str, str]] = {}
    columns = (NearText.place_id, NearText.kind, NearText.tag, NearText.level, NearText.text)
    for part in in_parts(places):
        wanted = select(*columns).where(NearText.place_id.in_(part)).order_by(NearText.id)
        for place, kind, tag, level, text in connection.execute(wanted):
            found.setdefault(place, {}).setdefault(place_key(kind, tag, level)[:64], text)
    return found


def image_addresses(folder: Path) -> list[tuple[int, str]]:
    """Return pairs of an image's number and an address of it; raises as ``open_images``."""
    rows = _rows(folder, ImageAddress.image_id.is_not(None))
    return [(row.image_id, row.url) for row in rows if row.image_id is not None]


def broken_images(folder: Path) -> set[str]:
    """Return the addresses that gave no image, perhaps transiently; none without a database.

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
