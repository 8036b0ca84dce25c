"""Settings of images are read once, and wrong ones are one line."""

from __future__ import annotations

import sys

import pytest
from scrapy.settings import Settings

from semcrawl import settings as defaults
from semcrawl.config.targets import Targets
from semcrawl.errors import UsageError
from semcrawl.images.imageitems import ImageOptions, image_options


def settings_with(**given: object) -> Settings:
    names = [name for name in dir(defaults) if name.startswith("SEMCRAWL_")]
    return Settings({**{name: getattr(defaults, name) for name in names}, **given})


def test_the_defaults_of_settings_and_of_options_are_the_same() -> None:
    read = ImageOptions.from_settings(settings_with())
    plain = ImageOptions()
    for name in ("min_width", "min_bytes", "max_bytes", "max_pixels", "types", "max_pages"):
        assert getattr(read, name) == getattr(plain, name)
    assert read.near_bits == plain.near_bits
    assert (read.places.levels, read.places.max_text) == (5, 300)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SEMCRAWL_IMAGES_MIN_WIDTH", "wide", "'wide'"),
        ("SEMCRAWL_IMAGES_MAX_PAGES", -1, "0 or more"),
        ("SEMCRAWL_IMAGES_TYPES", "text/html", "'text/html'"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line(name: str, value: object, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        ImageOptions.from_settings(settings_with(**{name: value}))
    assert name in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_the_extra_one_line_says_how_it_is_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "imagehash", None)
    assert image_options(settings_with()) is None
    with pytest.raises(UsageError, match=r"imagehash: pip install .*\[images\]"):
        image_options(settings_with(SEMCRAWL_TARGETS="images"))


def test_images_as_targets_keep_no_files_and_other_targets_no_images() -> None:
    images, files = Targets.parse("images"), Targets.parse("image/*")
    assert images.may_have_type("image/png")
    assert not images.has_type("image/png")
    assert files.has_type("image/png")
    assert not files.images
    assert not images.rdf
    assert "png" in images.extensions
    both = Targets.parse("rdf,images,image/*")
    assert both.rdf
    assert both.images
    assert both.has_type("image/png")
