"""Query classes and the images in them, as ``images.db`` holds them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, Engine, delete, select

from semcrawl.images.schema import ImageClass, QueryClass
from semcrawl.imagesearch.classlearning import LearnedClasses
from semcrawl.metadata.insertion import Insertion

#: classes of an image that are written, and the least probability
_CLASSES, _LEAST = 5, 0.05


def class_names(connection: Connection) -> dict[int, str]:
    """Return the names of the query classes by their numbers."""
    rows = connection.execute(select(QueryClass.id, QueryClass.name).order_by(QueryClass.id))
    return {row.id: row.name for row in rows}


def write_classes(
    engine: Engine,
    classes: Mapping[int, str],
    image_ids: Sequence[int],
    learned: LearnedClasses,
) -> None:
    """Write the names of new classes, and anew which images belong to which."""
    with engine.begin() as connection:
        known = class_names(connection)
        new: list[dict[str, Any]] = [
            {"id": number, "name": name, "made_at": time.time()}
            for number, name in classes.items()
            if number not in known
        ]
        _insert(connection, QueryClass, new)
        connection.execute(delete(ImageClass))
        _insert(connection, ImageClass, _members(list(classes), image_ids, learned))


def _insert(connection: Connection, table: Any, rows: list[dict[str, Any]]) -> None:
    if rows:
        Insertion(table.__table__, connection.dialect, list(rows[0]))(connection, rows)


def _members(
    class_ids: list[int], image_ids: Sequence[int], learned: LearnedClasses
) -> list[dict[str, Any]]:
    """Return the most probable classes of each image."""
    rows: list[dict[str, Any]] = []
    top = np.argsort(-learned.joined, axis=1)[:, :_CLASSES]
    for row, image in enumerate(image_ids):
        rows += (
            {
                "image_id": int(image),
                "class_id": class_ids[column],
                "by_text": float(learned.by_text[row, column]),
                "by_picture": float(learned.by_picture[row, column]),
            }
            for column in top[row].tolist()
            if learned.joined[row, column] >= _LEAST
        )
    return rows
