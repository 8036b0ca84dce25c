"""The texts of places, read back from ``images.db``."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from semcrawl.images.imagerows import in_parts
from semcrawl.images.neartext import place_key
from semcrawl.images.schema import NearText


def texts_of_places(connection: Connection, places: Sequence[int]) -> dict[int, dict[str, str]]:
    """Return the texts of places by kind of place (:func:`~semcrawl.images.neartext.place_key`)."""
    found: dict[int, dict[str, str]] = {}
    columns = (NearText.place_id, NearText.kind, NearText.tag, NearText.level, NearText.text)
    for part in in_parts(places):
        wanted = select(*columns).where(NearText.place_id.in_(part)).order_by(NearText.id)
        for place, kind, tag, level, text in connection.execute(wanted):
            found.setdefault(place, {}).setdefault(place_key(kind, tag, level)[:64], text)
    return found
