"""Images as the search shows them: address, size, text and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, select

from semcrawl.images.neartext import place_key
from semcrawl.images.outcomes import ImageOutcome, TextKind
from semcrawl.images.schema import (
    THUMBNAILS,
    Domain,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
)

#: most places shown per image, and texts per place
_MOST_PLACES, _MOST_TEXTS = 100, 12
#: images read in one query: their places must stay below SQLite's limit of about 32,000 values
_AT_ONCE = 100
#: kinds of text, the best first, for images without a text in the domain's best place
_BEST = [
    TextKind.CAPTION, TextKind.DATA, TextKind.ALT, TextKind.TITLE, TextKind.LINK,
    TextKind.HEADING, TextKind.FILE_NAME, TextKind.AFTER, TextKind.BEFORE, TextKind.PAGE_TITLE,
]  # fmt: skip


@dataclass
class ShownPlace:
    """A page that shows the image."""

    page: str
    title: str
    #: the image's address in the page
    image_url: str
    #: pairs of kind and text
    texts: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class ShownImage:
    """An image with its places."""

    id: int
    width: int
    height: int
    bytes: int
    media_type: str
    sha256: str
    #: file name in the folder of thumbnails
    thumbnail: str
    #: address it was fetched from
    url: str = ""
    #: the text of its domain's best place, or else the best other text
    text: str = ""
    #: number of distinct pages that show it
    pages: int = 0
    places: list[ShownPlace] = field(default_factory=list)

    @property
    def page(self) -> str:
        """The first page that shows it; empty if none is known."""
        return self.places[0].page if self.places else ""

    def as_dict(self) -> dict[str, Any]:
        """Return the image for JSON."""
        return asdict(self)


def shown_images(engine: Engine, numbers: Sequence[int]) -> list[ShownImage]:
    """Return images by id, in the given order, without those that are missing."""
    images: dict[int, ShownImage] = {}
    with engine.connect() as connection:
        connection = connection.execution_options(read_only=True)
        for start in range(0, len(numbers), _AT_ONCE):
            images |= _read(connection, numbers[start : start + _AT_ONCE])
    return [images[number] for number in numbers if number in images]


def _read(connection: Connection, numbers: Sequence[int]) -> dict[int, ShownImage]:
    images: dict[int, ShownImage] = {}
    places: dict[int, tuple[ShownImage, ShownPlace, str]] = {}
    told: dict[int, int] = {}
    for row in connection.execute(select(Image).where(Image.id.in_(numbers))):
        images[row.id] = ShownImage(
            row.id, row.width, row.height, row.bytes, row.media_type, row.sha256,
            row.colour_thumbnail, pages=row.pages,
        )  # fmt: skip
    found = (
        select(ImagePlace, Page.url, Page.title, Domain.best_place)
        .join(Page, Page.id == ImagePlace.page_id)
        .outerjoin(Domain, Domain.id == Page.domain_id)
        .where(ImagePlace.image_id.in_(numbers))
        .order_by(ImagePlace.image_id, ImagePlace.has_caption.desc(), ImagePlace.id)
    )
    for place in connection.execute(found):
        image = images.get(place.image_id)
        if image is None or len(image.places) >= _MOST_PLACES:
            continue
        shown = ShownPlace(place.url, place.title, place.image_url)
        image.places.append(shown)
        places[place.id] = (image, shown, place.best_place or "")
    texts = select(NearText).where(NearText.place_id.in_(places)).order_by(NearText.id)
    for near in connection.execute(texts):
        image, shown, best = places[near.place_id]
        rank = _rank(near.kind, place_key(near.kind, near.tag, near.level) == best)
        if rank < told.get(image.id, len(_BEST) + 1):
            told[image.id], image.text = rank, near.text
        if len(shown.texts) < _MOST_TEXTS:
            shown.texts.append((near.kind, near.text))
    address = (
        select(ImageAddress.image_id, ImageAddress.url)
        .where(ImageAddress.image_id.in_(numbers))
        .order_by(ImageAddress.outcome != ImageOutcome.KEPT.value, ImageAddress.id)
    )
    for number, url in connection.execute(address):
        if number is not None:
            images[number].url = images[number].url or url
    for one in images.values():
        one.url = one.url or (one.places[0].image_url if one.places else "")
    return images


def thumbnail_of(engine: Engine, number: int) -> str:
    """Return the file name of an image's thumbnail; empty for an unknown image."""
    query = select(Image.colour_thumbnail).where(Image.id == number)
    with engine.connect() as connection:
        return connection.execution_options(read_only=True).scalar(query) or ""


def thumbnail_path(folder: Path, name: str) -> Path | None:
    """Return a thumbnail's path; ``None`` if the folder of thumbnails has no such file."""
    place = (folder / THUMBNAILS).resolve()
    path = (place / name).resolve()
    return path if path.is_relative_to(place) and path.is_file() else None


def _rank(kind: str, is_best: bool) -> int:
    if is_best:
        return -1
    return next((n for n, one in enumerate(_BEST) if one.value == kind), len(_BEST))
