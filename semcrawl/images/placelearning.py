"""Learns the best kinds of places of the domains in ``images.db``."""

from __future__ import annotations

from typing import cast

from sqlalchemy import Connection, Engine, Table, delete, select, update

from semcrawl.images.bestplace import MAX_IMAGES, PlacedImage, best_place, place_worths
from semcrawl.images.imagerows import texts_of_places
from semcrawl.images.schema import Domain, Image, ImagePlace, Page, PlaceScore

_DOMAIN = cast(Table, Domain.__table__)
_SCORE = cast(Table, PlaceScore.__table__)


def learn_places(engine: Engine) -> dict[str, str]:
    """Learn the best kind of place of each domain; return it by the domain's name.

    Domains with too few images have none. One domain's images are in memory at a time.
    """
    found: dict[str, str] = {}
    with engine.execution_options(read_only=True).connect() as connection:
        domains = connection.execute(select(Domain.id, Domain.name)).all()
        learned = []
        for number, name in domains:
            worths = place_worths(_images_of(connection, number))
            if worths:
                found[name] = best_place(worths)
                learned.append((number, found[name], worths))
    with engine.begin() as connection:
        for number, place, worths in learned:
            connection.execute(delete(_SCORE).where(_SCORE.c.domain_id == number))
            rows = [
                {"domain_id": number, "place": key, "score": each.worth, "images": each.images}
                for key, each in worths.items()
            ]
            connection.execute(_SCORE.insert(), rows)
            chosen = update(_DOMAIN).where(_DOMAIN.c.id == number)
            connection.execute(chosen.values(best_place=place))
    return found


def _images_of(connection: Connection, domain: int) -> list[PlacedImage]:
    """Return images on pages of a domain, each place once."""
    shown = (
        select(ImagePlace.id, Page.url, Image.sha256, Image.miniature)
        .join_from(ImagePlace, Page, ImagePlace.page_id == Page.id)
        .join(Image, ImagePlace.image_id == Image.id)
        .where(Page.domain_id == domain, Image.dropped.is_(False))
        .order_by(ImagePlace.page_id, ImagePlace.position)
        .limit(MAX_IMAGES)
    )
    places = connection.execute(shown).all()
    texts = texts_of_places(connection, [place.id for place in places])
    return [
        PlacedImage(place.url, place.sha256, place.miniature, texts.get(place.id, {}))
        for place in places
    ]
