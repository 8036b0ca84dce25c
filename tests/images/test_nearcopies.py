"""Near copies are found, and what only has the same shape is none."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageDraw

from images.pictures import drawn, packed
from semcrawl.images.decoding import decode
from semcrawl.images.nearcopies import Look, LookIndex


def look(body: bytes) -> Look:
    decoded = decode(body)
    assert decoded.miniature, decoded
    return Look(
        *(decoded.perceptual_hash, decoded.miniature, decoded.width, decoded.height),
        *(decoded.media_type, lambda: decoded.grey),
    )


def index_of(*looks: Look, most_bits: int = 16) -> LookIndex:
    kept = dict(enumerate(looks, 1))
    index = LookIndex(most_bits, lambda numbers: {n: kept[n] for n in numbers})
    for number, each in kept.items():
        index.add(number, each)
    return index


RED = look(packed(drawn()))


@pytest.mark.parametrize(
    "body",
    [
        packed(drawn().resize((200, 150)), "JPEG", quality=60),
        packed(drawn().resize((800, 600)), "WEBP"),
        packed(drawn(), "JPEG", quality=40),
        packed(drawn(), "GIF"),
        packed(drawn().point(lambda value: value * 0.93), "JPEG"),
    ],
)
def test_another_size_format_quality_or_brightness_is_a_near_copy(body: bytes) -> None:
    assert index_of(look(packed(drawn("green", "square"))), RED).nearest(look(body)) == 2


@pytest.mark.parametrize(
    "picture",
    [
        drawn("blue"),
        drawn("darkred"),
        drawn("red", "square"),
        drawn(ground="black"),
        drawn(size=(400, 400)),
        drawn().rotate(90, expand=True),
    ],
)
def test_another_colour_shape_or_proportion_is_none(picture: Image.Image) -> None:
    assert index_of(RED).nearest(look(packed(picture))) is None


def test_near_copies_can_be_switched_off() -> None:
    assert index_of(RED, most_bits=-1).nearest(RED) is None


def test_the_index_grows_and_finds_each() -> None:
    colours = [f"#{red:02x}00{blue:02x}" for red in range(0, 250, 31) for blue in range(0, 250, 31)]
    colours = [*colours, *(colour.replace("00", "66") for colour in colours[1::20])]
    rows = [look(packed(drawn(colour, size=(120, 100)))) for colour in colours]
    index = index_of(*rows)
    assert len(index) == len(rows) > 64
    assert [index.nearest(each) for each in rows] == list(range(1, len(rows) + 1))


def test_a_thumbnail_is_a_near_copy_of_its_image() -> None:
    thumbnail = Image.open(io.BytesIO(decode(packed(drawn())).colour))
    assert index_of(RED).nearest(look(packed(thumbnail, "PNG"))) == 1


def dialog(*lines: str, size: tuple[int, int] = (480, 360)) -> Image.Image:
    """A screenshot of a dialog: a frame, a title bar, and lines of text."""
    picture = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, size[0] - 1, 30), fill="navy", outline="black")
    pen.rectangle((10, size[1] - 50, 200, size[1] - 10), outline="grey", width=3)
    for number, line in enumerate(lines):
        pen.text((20, 60 + 40 * number), line, fill="black", font_size=28)
    return picture


def test_two_screenshots_of_one_size_whose_pixels_differ_are_no_copies() -> None:
    """Nothing changes pixels of a lossless format on the way; a scaled one of it is a copy."""
    shown, other = dialog("Open a file", "Cancel"), dialog("Open a file", "Cancel!")
    index = index_of(look(packed(shown)))
    assert index.nearest(look(packed(other))) is None
    assert index.nearest(look(packed(shown.convert("RGBA")))) == 1
    assert index.nearest(look(packed(shown.resize((400, 300), Image.Resampling.LANCZOS)))) == 1
    assert index.nearest(look(packed(shown, "JPEG", quality=60))) == 1


def test_a_part_that_differs_is_enough() -> None:
    """Another dialog of the program in another size and format, with other text in few lines."""
    index = index_of(look(packed(dialog("Import the accounts", "from a file"))))
    other = dialog("Import the accounts", "by network").resize((400, 300), Image.Resampling.LANCZOS)
    assert index.nearest(look(packed(other, "JPEG", quality=90))) is None
