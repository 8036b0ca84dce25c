"""Draws the pictures of the generated web with Pillow (an extra)."""

from __future__ import annotations

import math
from io import BytesIO
from random import Random

from PIL import Image, ImageDraw, ImageEnhance

from semcrawl.evaluation.imageweb.subjects import COLOURS, Subject

_Point = tuple[float, float]
_Colour = tuple[int, int, int]


def draw(subject: Subject, seed: str, width: int, height: int) -> Image.Image:
    """Draw a subject somewhere on a pale background; each seed gives another picture."""
    random = Random(seed)
    image = _ground(random, width, height)
    mask = Image.new("L", (width, height), 0)
    radius = min(width, height) * random.uniform(0.26, 0.42)
    centre = (
        random.uniform(radius, width - radius),
        random.uniform(radius, height - radius),
    )
    _shape(ImageDraw.Draw(mask), subject.shape, centre, radius, random.uniform(-0.35, 0.35))
    image.paste(_surface(random, subject.look, width, height), (0, 0), mask)
    return image


def logo(name: str, width: int = 180, height: int = 60) -> Image.Image:
    """Draw a site's logo or a banner: bars and its name."""
    random = Random(f"logo {name}")
    image = Image.new("RGB", (width, height), _any_colour(random))
    pen = ImageDraw.Draw(image)
    for n in range(4):
        left = n * width / 4 + random.uniform(0, width / 8)
        pen.rectangle((left, 6, left + width / 12, height - 6), fill=_any_colour(random))
    pen.text((8, height / 3), name[:24], fill=(250, 250, 250))
    return image


def near_copy(image: Image.Image, seed: str) -> Image.Image:
    """Scale a picture and change its brightness a little, as copying sites do."""
    random = Random(f"near {seed}")
    scale = random.uniform(0.85, 1.15)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return ImageEnhance.Brightness(image.resize(size)).enhance(random.uniform(0.93, 1.06))


def encoded(image: Image.Image, extension: str) -> bytes:
    """Return a ``png`` or ``jpg`` file."""
    file = BytesIO()
    if extension == "png":
        image.save(file, "PNG", compress_level=1)
    else:
        image.save(file, "JPEG", quality=88)
    return file.getvalue()


def _any_colour(random: Random) -> _Colour:
    return random.randint(20, 200), random.randint(20, 200), random.randint(20, 200)


def _ground(random: Random, width: int, height: int) -> Image.Image:
    """Draw a pale background that is lighter at one side, with some faint lines."""
    first, second = (tuple(random.randint(205, 252) for _ in range(3)) for _ in range(2))
    mask = Image.linear_gradient("L").rotate(random.choice((0, 90, 180))).resize((width, height))
    image = Image.composite(
        Image.new("RGB", (width, height), first), Image.new("RGB", (width, height), second), mask
    )
    pen = ImageDraw.Draw(image)
    for _ in range(random.randint(2, 6)):
        ends = [(random.uniform(0, width), random.uniform(0, height)) for _ in range(2)]
        pen.line(ends, fill=tuple(random.randint(170, 215) for _ in range(3)), width=1)
    return image


def _surface(random: Random, look: str, width: int, height: int) -> Image.Image:
    """Return a slightly varied colour, or a texture of a random dark colour."""
    if look in COLOURS:
        colour = tuple(min(255, max(0, part + random.randint(-18, 18))) for part in COLOURS[look])
        return Image.new("RGB", (width, height), colour)
    dark, step = _any_colour(random), random.randint(10, 16)
    image = Image.new("RGB", (width, height), (245, 245, 240))
    pen = ImageDraw.Draw(image)
    if look == "striped":
        for left in range(-height, width + height, step):
            pen.line((left, 0, left + height / 2, height), fill=dark, width=step // 2)
        return image
    for row, top in enumerate(range(0, height, step)):
        for column, left in enumerate(range(0, width, step)):
            box = (left, top, left + step - 1, top + step - 1)
            if look == "checkered" and (row + column) % 2:
                pen.rectangle(box, fill=dark)
            elif look == "dotted":
                pen.ellipse((box[0] + 2, box[1] + 2, box[2] - 2, box[3] - 2), fill=dark)
    return image


def _shape(pen: ImageDraw.ImageDraw, shape: str, at: _Point, radius: float, turn: float) -> None:
    """Draw a shape into a mask."""
    x, y = at
    box = (x - radius, y - radius, x + radius, y + radius)
    if shape in ("circle", "ring", "crescent"):
        pen.ellipse(box, fill=255)
    if shape == "ring":
        hole = radius * 0.55
        pen.ellipse((x - hole, y - hole, x + hole, y + hole), fill=0)
    elif shape == "crescent":
        away = radius * 0.5
        x, y = x + away * math.cos(turn), y + away * math.sin(turn)
        hole = radius * 0.85
        pen.ellipse((x - hole, y - hole, x + hole, y + hole), fill=0)
    elif shape == "star":
        pen.polygon(_corners(at, 10, (radius, radius * 0.42), turn), fill=255)
    elif shape == "cross":
        for angle in (turn, turn + math.pi / 2):
            pen.polygon(_bar(at, radius, radius * 0.3, angle), fill=255)
    elif shape in ("triangle", "square", "hexagon"):
        corners = {"triangle": 3, "square": 4, "hexagon": 6}[shape]
        pen.polygon(_corners(at, corners, (radius,), turn), fill=255)


def _corners(at: _Point, number: int, radii: tuple[float, ...], turn: float) -> list[_Point]:
    angles = [turn - math.pi / 2 + 2 * math.pi * n / number for n in range(number)]
    return [
        (
            at[0] + radii[n % len(radii)] * math.cos(angle),
            at[1] + radii[n % len(radii)] * math.sin(angle),
        )
        for n, angle in enumerate(angles)
    ]


def _bar(at: _Point, length: float, half: float, angle: float) -> list[_Point]:
    along = (math.cos(angle), math.sin(angle))
    corners = ((-length, -half), (length, -half), (length, half), (-length, half))
    return [
        (at[0] + a * along[0] - b * along[1], at[1] + a * along[1] + b * along[0])
        for a, b in corners
    ]
