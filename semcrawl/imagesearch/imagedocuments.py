"""Reads images with their weighted texts, languages and thumbnails, as the search needs them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, func, select

from semcrawl.images.neartext import place_key
from semcrawl.images.outcomes import TextKind
from semcrawl.images.schema import Image, ImagePlace, NearText, Page, PlaceScore

#: texts of an image that are kept, the weightiest
_MOST_TEXTS = 40
#: weight of a kind of text before its domain's score is learned
_BY_KIND = {
    TextKind.CAPTION: 0.9, TextKind.DATA: 0.9, TextKind.ALT: 0.8, TextKind.TITLE: 0.7,
    TextKind.LINK: 0.55, TextKind.FILE_NAME: 0.5, TextKind.HEADING: 0.4, TextKind.AFTER: 0.4,
    TextKind.BEFORE: 0.35, TextKind.PAGE_TITLE: 0.25,
}  # fmt: skip
#: share of the domain's learned score in the weight, if there is one
_LEARNED = 0.5
#: least characters of a page's texts that show its language; most that are examined
_FEW, _MANY = 40, 1000


@dataclass(frozen=True, slots=True)
class WeightedText:
    """A text near an image."""

    text: str
    #: how likely it tells what the image shows, 0 to 1
    weight: float
    #: ISO 639-1 code; empty if unknown
    language: str = ""


@dataclass(frozen=True, slots=True)
class ImageDocument:
    """An image with its texts."""

    id: int
    #: file name in the folder of thumbnails
    thumbnail: str
    #: distinct texts, the weightiest first
    texts: list[WeightedText] = field(default_factory=list)


def stamp_of(connection: Connection) -> str:
    """Return a stamp that changes with the images, places, texts and scores."""
    counts = [
        select(func.count(), func.max(Image.id)).where(Image.dropped.is_(False)),
        select(func.count(), func.max(ImagePlace.image_id)).where(ImagePlace.image_id.is_not(None)),
        select(func.count(), func.max(NearText.id)),
        select(func.count(), func.sum(PlaceScore.score)),
    ]
    return " ".join(str(value) for one in counts for value in connection.execute(one).one())


def image_documents(connection: Connection) -> list[ImageDocument]:
    """Return all kept images, ordered by id."""
    scores = _place_scores(connection)
    languages = _languages(connection)
    texts: dict[int, list[WeightedText]] = {}
    for number, rows in groupby(_rows(connection, _TEXTS), key=attrgetter("image_id")):
        best: dict[str, WeightedText] = {}
        for row in rows:
            weight = _weight(row, scores)
            key = " ".join(row.text.casefold().split())
            if key and (key not in best or best[key].weight < weight):
                best[key] = WeightedText(row.text, weight, languages.get(row.page_id, ""))
        ordered = sorted(best.values(), key=lambda text: -text.weight)
        texts[number] = ordered[:_MOST_TEXTS]
    return [
        ImageDocument(row.id, row.colour_thumbnail, texts.get(row.id, []))
        for row in _rows(connection, _IMAGES)
    ]


_SCORES = select(PlaceScore.domain_id, PlaceScore.place, PlaceScore.score, PlaceScore.images)
_IMAGES = (
    select(Image.id, Image.colour_thumbnail).where(Image.dropped.is_(False)).order_by(Image.id)
)
_TEXTS = (
    select(
        ImagePlace.image_id, ImagePlace.page_id, Page.domain_id,
        NearText.text, NearText.kind, NearText.tag, NearText.level,
    )
    .join(ImagePlace, ImagePlace.id == NearText.place_id)
    .join(Page, Page.id == ImagePlace.page_id)
    .where(ImagePlace.image_id.is_not(None))
    .order_by(ImagePlace.image_id, NearText.id)
)  # fmt: skip
_PAGES = (
    select(ImagePlace.page_id, Page.domain_id, Page.title, NearText.text)
    .join(ImagePlace, ImagePlace.id == NearText.place_id)
    .join(Page, Page.id == ImagePlace.page_id)
    .where(NearText.kind != TextKind.FILE_NAME.value)
    .order_by(ImagePlace.page_id, NearText.id)
)


def _rows(connection: Connection, query: Any) -> Iterator[Any]:
    return iter(connection.execution_options(yield_per=2000).execute(query))


def _place_scores(connection: Connection) -> dict[tuple[int, str], float]:
    """Return how good a text in each kind of place is, relative to the domain's best.

    The stored score also counts how many images have a text there; this is divided out.
    """
    rows = list(_rows(connection, _SCORES))
    good = {(row.domain_id, row.place): row.score / max(row.images, 1) for row in rows}
    best: dict[int, float] = defaultdict(float)
    for (domain, _), worth in good.items():
        best[domain] = max(best[domain], worth)
    return {key: worth / best[key[0]] for key, worth in good.items() if best[key[0]] > 0}


def _weight(row: Any, scores: dict[tuple[int, str], float]) -> float:
    prior = _BY_KIND.get(row.kind, 0.3)
    learned = scores.get((row.domain_id, place_key(row.kind, row.tag, row.level)))
    return prior if learned is None else _LEARNED * learned + (1 - _LEARNED) * prior


def _languages(connection: Connection) -> dict[int, str]:
    """Detect the language of each page from the texts near its images.

    A page with little text gets the commonest language of its domain.
    """
    from py3langid.langid import classify  # its model takes half a second to load

    found: dict[int, str] = {}
    short: list[tuple[int, int]] = []
    of_domain: dict[int, Counter[str]] = defaultdict(Counter)
    for page, rows in groupby(_rows(connection, _PAGES), key=attrgetter("page_id")):
        pieces, domain = {}, 0
        for row in rows:
            domain = row.domain_id
            pieces.update(dict.fromkeys((row.title, row.text)))
        text = " ".join(pieces)[:_MANY]
        if len(text) < _FEW:
            short.append((page, domain))
        else:
            found[page] = classify(text)[0]
            of_domain[domain][found[page]] += 1
    for page, domain in short:
        if common := of_domain[domain].most_common(1):
            found[page] = common[0][0]
    return found
