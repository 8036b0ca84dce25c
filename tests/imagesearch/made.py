"""Job folders with images that are drawn here, and texts near them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random

from PIL import Image as Picture
from PIL import ImageDraw
from sqlalchemy import insert
from sqlalchemy.orm import Session

from semcrawl.images.outcomes import FoundAs, ImageOutcome, TextKind
from semcrawl.images.schema import (
    THUMBNAILS,
    Image,
    ImageAddress,
    ImagePlace,
    NearText,
    Page,
    key_of,
    open_images,
    place_id,
    thumbnail_names,
)

COLOURS = {
    "red": (200, 30, 30), "green": (30, 160, 40), "blue": (30, 50, 200),
    "yellow": (230, 210, 40), "black": (20, 20, 20), "purple": (130, 40, 150),
}  # fmt: skip
SHAPES = ("circle", "square", "triangle", "star")


@dataclass
class Made:
    """One image to be: its picture, its page and its texts."""

    texts: list[tuple[TextKind, str]]
    page: str = ""
    title: str = "A page"
    colour: str = "red"
    shape: str = "circle"
    places: int = 1
    extra_pages: list[str] = field(default_factory=list)


def drawn(colour: str, shape: str, random: Random) -> Picture.Image:
    """Draw a shape somewhere on a pale ground."""
    ground = tuple(random.randint(195, 255) for _ in range(3))
    picture = Picture.new("RGB", (255, 255), ground)
    pen = ImageDraw.Draw(picture)
    size = random.randint(45, 90)
    x, y = (random.randint(size, 255 - size) for _ in range(2))
    fill = tuple(max(0, min(255, part + random.randint(-20, 20))) for part in COLOURS[colour])
    if shape == "circle":
        pen.ellipse((x - size, y - size, x + size, y + size), fill=fill)
    elif shape == "square":
        pen.rectangle((x - size, y - size, x + size, y + size), fill=fill)
    elif shape == "triangle":
        pen.polygon([(x, y - size), (x + size, y + size), (x - size, y + size)], fill=fill)
    else:
        pen.regular_polygon((x, y, size), 5, rotation=random.randint(0, 71), fill=fill)
    return picture


def make_job(folder: Path, images: list[Made], seed: int = 1) -> Path:
    """Write ``images.db`` and thumbnails as a crawl does; images are numbered from 1."""
    random = Random(seed)
    thumbnails = folder / THUMBNAILS
    thumbnails.mkdir(parents=True)
    engine = open_images(folder, make=True)
    with Session(engine) as session:
        for number, made in enumerate(images, 1):
            name = f"{number:064x}"
            grey, colour = thumbnail_names(name)
            (thumbnails / colour).parent.mkdir(parents=True, exist_ok=True)
            drawn(made.colour, made.shape, random).save(thumbnails / colour)
            url = f"http://pictures.example/{number}.png"
            session.add(
                Image(
                    id=number, sha256=name, perceptual_hash=f"{number:016x}", miniature=b"",
                    width=640, height=480, bytes=12345, media_type="image/png",
                    grey_thumbnail=grey, colour_thumbnail=colour,
                    pages=1 + len(made.extra_pages), first_seen_at=0.0,
                )
            )  # fmt: skip
            session.add(
                ImageAddress(
                    id=key_of(url), url=url, final_url=url, image_id=number,
                    outcome=ImageOutcome.KEPT.value, sha256=name, fetched_at=0.0,
                )
            )  # fmt: skip
            page = made.page or f"http://pictures.example/page{number}.html"
            for where in [page, *made.extra_pages]:
                session.merge(Page(id=key_of(where), domain_id=1, url=where, title=made.title))
                place = place_id(where, number)
                session.add(
                    ImagePlace(
                        id=place, page_id=key_of(where), position=number, image_url=url,
                        address_id=key_of(url), image_id=number, found_as=FoundAs.IMG.value,
                        has_caption=any(kind == TextKind.CAPTION for kind, _ in made.texts),
                    )
                )  # fmt: skip
                session.flush()
                if made.texts:
                    session.execute(
                        insert(NearText),
                        [
                            {"place_id": place, "text": text, "kind": kind.value, "tag": "p",
                             "distance": 1, "level": 1}
                            for kind, text in made.texts
                        ],
                    )  # fmt: skip
        session.commit()
    engine.dispose()
    return folder


def gallery(count: int = 72, seed: int = 5) -> list[Made]:
    """Images of shapes in colours; most have a caption, some a wrong one, some none."""
    random = Random(seed)
    kinds = list(product(("red", "blue", "yellow", "purple"), ("circle", "square", "star")))
    found = []
    for number in range(count):
        colour, shape = kinds[number % len(kinds)]
        texts = [
            (TextKind.PAGE_TITLE, "Shapes of all kinds"),
            (TextKind.FILE_NAME, f"img {number}"),
        ]
        if number % 7 < 5:
            form = random.choice(("a {} {}", "{} {}", "The {} {} of the series"))
            texts.insert(0, (TextKind.CAPTION, form.format(colour, shape)))
        found.append(Made(texts, colour=colour, shape=shape))
    return found
