"""Images are decoded within bounds, and never anything but pictures."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from images.pictures import claimed, drawn, packed
from semcrawl.images.decoding import THUMBNAIL, decode
from semcrawl.images.imageitems import ImageOptions
from semcrawl.images.outcomes import ImageOutcome as Outcome

ANIMATED = packed(drawn(), "GIF", save_all=True, append_images=[drawn("blue"), drawn("green")])
GRADIENT = Image.linear_gradient("L")


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (claimed(50_000, 50_000), Outcome.TOO_MANY_PIXELS),
        (claimed(10_000, 10_000), Outcome.TOO_MANY_PIXELS),
        (claimed(300, 300), Outcome.BROKEN),
        (packed(drawn(), "JPEG")[:-3000], Outcome.BROKEN),
        (b'<?xml version="1.0"?><svg onload="alert(1)"/>', Outcome.NO_RASTER),
        (b"\xef\xbb\xbf<?xml?><!-- " + b"made by " * 999 + b" --><svg/>", Outcome.NO_RASTER),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", Outcome.NO_RASTER),
        (b"<!DOCTYPE html><html><body>no image <svg></svg></body></html>", Outcome.NO_IMAGE),
        (b"<html><body>no image</body></html>", Outcome.NO_IMAGE),
        (b"", Outcome.NO_IMAGE),
        (packed(Image.new("RGB", (300, 300), "red")), Outcome.BLANK),
        (packed(drawn(size=(99, 300))), Outcome.TOO_SMALL),
    ],
)
def test_a_body_that_is_no_picture_to_keep_has_its_outcome(body: bytes, outcome: Outcome) -> None:
    decoded = decode(body)
    assert decoded.outcome is outcome
    assert decoded.reason
    assert "\n" not in decoded.reason
    assert not decoded.grey


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        (ImageOptions(types=("image/jpeg",)), Outcome.OTHER_TYPE),
        (ImageOptions(max_pixels=1000), Outcome.TOO_MANY_PIXELS),
        (ImageOptions(max_bytes=100), Outcome.TOO_MANY_BYTES),
        (ImageOptions(min_bytes=1 << 20), Outcome.TOO_FEW_BYTES),
        (ImageOptions(min_width=1, min_height=1), Outcome.KEPT),
    ],
)
def test_options_say_what_is_wanted(options: ImageOptions, outcome: Outcome) -> None:
    assert decode(packed(drawn()), options).outcome is outcome


@pytest.mark.parametrize(
    "body",
    [
        packed(drawn().convert("RGBA")),
        packed(drawn().convert("P")),
        packed(drawn().convert("CMYK"), "JPEG"),
        packed(drawn().convert("1"), "TIFF"),
        packed(drawn().convert("LA")),
        packed(GRADIENT.convert("I;16")),
        packed(GRADIENT.convert("F"), "TIFF"),
        packed(drawn(), "WEBP"),
        packed(drawn(), "BMP"),
        ANIMATED,
    ],
)
def test_pictures_of_all_modes_have_thumbnails(body: bytes) -> None:
    decoded = decode(body)
    assert decoded.outcome is Outcome.KEPT
    grey, colour = (Image.open(io.BytesIO(each)) for each in (decoded.grey, decoded.colour))
    assert (grey.mode, grey.size, grey.format) == ("L", (THUMBNAIL, THUMBNAIL), "JPEG")
    assert colour.mode == "RGB"
    assert max(colour.size) <= THUMBNAIL


def test_frames_are_counted_and_the_first_is_shown() -> None:
    decoded = decode(ANIMATED)
    assert decoded.frames == 3
    red, green, blue = Image.open(io.BytesIO(decoded.colour)).getpixel((127, 95))
    assert red > 200
    assert max(green, blue) < 60


def test_a_photograph_that_was_taken_upright_stands_upright() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    decoded = decode(packed(drawn(size=(400, 300)), "JPEG", exif=turned))
    assert (decoded.width, decoded.height) == (300, 400)
    picture = Image.open(io.BytesIO(decoded.colour))
    assert picture.height > picture.width


def test_the_bytes_say_the_type_whatever_the_server_says() -> None:
    assert decode(packed(drawn(), "WEBP")).media_type == "image/webp"


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300), st.integers(0, 400))
def test_damaged_bytes_never_raise(noise: bytes, place: int) -> None:
    body = packed(drawn(), "GIF")
    assert decode(body[:place] + noise + body[place + len(noise) :]).outcome in Outcome
    assert decode(noise).outcome in Outcome


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "mode", "kind"),
    [((8000, 6000), "L", "JPEG"), ((100, 480_000), "L", "PNG"), ((8000, 6000), "P", "PNG")],
)
def test_an_image_of_many_pixels_takes_bounded_memory(
    size: tuple[int, int], mode: str, kind: str
) -> None:
    """48 megapixels: decoded once and at once made small, a JPEG at a fraction of its size."""
    code = (
        "import io\n"
        "from pathlib import Path\n"
        "from PIL import Image\n"
        "from semcrawl.images.decoding import decode\n"
        "peak = lambda: int("
        "Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])\n"
        "before = peak()\n"
        "file = io.BytesIO()\n"
        "noise = Image.effect_noise((100, 100), 50)\n"
        f"noise.resize({size}).convert({mode!r}).save(file, {kind!r})\n"
        "print(decode(file.getvalue()).outcome)\n"
        "print(peak() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    outcome, kilobytes = done.stdout.split()
    assert outcome == "kept"
    assert int(kilobytes) < 305_000
