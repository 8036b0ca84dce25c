"""Texts and pictures as vectors, and what sorts them into classes."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from semcrawl.images.classes import LinearClassifier, NgramVectors, TextClasses
from semcrawl.images.imagefeatures import FEATURES, features_of, features_of_file, spread
from tests.imagesearch.made import COLOURS, SHAPES, drawn

TEXTS = [
    "red circle", "blue square", "green triangle on wood", "rotes Quadrat", "漁業の歴史",
    "Схема насоса", "the layers dialog", "a map of the harbour",
]  # fmt: skip


@pytest.fixture(scope="module")
def vectors() -> NgramVectors:
    return NgramVectors.fit(TEXTS)


@pytest.mark.parametrize(
    ("one", "near", "far"),
    [
        ("red circle", "red circel", "blue square"),
        ("Ebenen", "Ebenendialog", "Pinsel"),
        ("漁業の歴史", "漁業", "地図"),
        ("Схема насоса", "схемы насосов", "Карта порта"),
        ("screenshot", "screen shot", "photograph"),
    ],
)
def test_what_is_written_alike_is_near(
    vectors: NgramVectors, one: str, near: str, far: str
) -> None:
    """Misspellings, compounds, inflections, in any script."""
    first, second, third = vectors.vectors([one, near, far])
    assert first @ second > 0.3
    assert first @ second > first @ third + 0.2


@settings(max_examples=20)
@given(st.lists(st.text(max_size=40), max_size=4))
def test_any_texts_have_vectors_of_length_one_or_none(texts: list[str]) -> None:
    found = NgramVectors.fit(texts).vectors(texts)
    lengths = np.linalg.norm(found, axis=1)
    assert np.all((abs(lengths - 1) < 1e-4) | (lengths == 0))
    # one by one they are the same as together
    for text, row in zip(texts, found, strict=True):
        assert np.allclose(NgramVectors.fit(texts).vector(text), row, atol=1e-5)


def test_texts_that_mean_the_same_are_one_class(vectors: NgramVectors) -> None:
    texts = ["red circle", "a red circle", "red circles", "blue square", "the blue square"]
    classes = TextClasses(0.5, 10)
    groups = classes.group(texts, vectors.vectors(texts)).tolist()
    assert groups[0] == groups[1] == groups[2] != groups[3] == groups[4]
    assert len(classes.names) == 2


def test_a_query_joins_a_near_class_or_makes_one(vectors: NgramVectors) -> None:
    texts = ["red circle", "blue square"]
    classes = TextClasses(0.5, 2)
    groups = classes.group(texts, vectors.vectors(texts)).tolist()
    assert classes.joined("red circel", vectors.vector("red circel")) == (groups[0], False)
    number, is_new = classes.joined("map", vectors.vector("map"))
    assert (number, is_new, classes.names[number]) == (2, True, "map")


def test_grouping_makes_no_more_classes_than_it_may(vectors: NgramVectors) -> None:
    classes = TextClasses(0.9, 3)
    groups = classes.group(TEXTS, vectors.vectors(TEXTS))
    assert len(classes.names) == 3
    assert (groups == -1).sum() == len(TEXTS) - 3


def test_classes_keep_their_numbers_when_texts_come(vectors: NgramVectors) -> None:
    classes = TextClasses(0.5, 10)
    before = classes.group(TEXTS[:3], vectors.vectors(TEXTS[:3])).tolist()
    centres = classes.centres.copy()
    classes.group(TEXTS, vectors.vectors(TEXTS))
    assert np.array_equal(classes.centres[: len(centres)], centres)
    assert classes.nearest(vectors.vectors(TEXTS[:3]))[0].tolist() == before


@pytest.mark.parametrize("count", [20, 200])
def test_the_classifier_tells_classes_apart(count: int) -> None:
    """With fewer vectors than dimensions as well as with more."""
    draw = np.random.default_rng(1)
    classes = np.arange(count) % 4
    rows = draw.normal(0, 0.3, (count, 50)).astype(np.float32)
    rows[np.arange(count), classes] += 2
    model = LinearClassifier.fit(rows, classes, 4)
    found = model.probabilities(rows)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-4)
    assert (found.argmax(axis=1) == classes).mean() > 0.9


def test_both_ways_to_the_weights_give_the_same() -> None:
    draw = np.random.default_rng(2)
    rows = draw.normal(0, 1, (49, 48)).astype(np.float32)
    classes = np.arange(49) % 3
    many = LinearClassifier.fit(rows, classes, 3, sharpness=1)
    few = LinearClassifier.fit(np.hstack([rows, np.zeros((49, 9), np.float32)]), classes, 3,
                               ridge=58 / 49, sharpness=1)  # fmt: skip
    assert np.allclose(many.probabilities(rows), few.probabilities(
        np.hstack([rows, np.zeros((49, 9), np.float32)])), atol=2e-3)  # fmt: skip


def test_pictures_of_a_colour_and_a_shape_are_told_apart() -> None:
    random = Random(3)
    kinds = [(colour, shape) for colour in list(COLOURS)[:3] for shape in SHAPES[:3]]
    rows = np.stack([features_of(drawn(*kinds[n % 9], random)) for n in range(120)])
    assert rows.shape[1] == FEATURES
    classes = np.arange(120) % 9
    model = LinearClassifier.fit(spread(rows[:90]), classes[:90], 9, ridge=10)
    right = model.probabilities(spread(rows[90:])).argmax(axis=1) == classes[90:]
    assert right.mean() > 0.6


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGBA", "CMYK", "I;16"])
def test_a_picture_of_any_mode_and_size_has_features(mode: str) -> None:
    found = features_of(Image.new(mode, (1, 300)))
    assert found.shape == (FEATURES,)
    assert np.isfinite(found).all()


def test_a_file_that_is_no_picture_has_none(tmp_path) -> None:
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
    assert features_of_file(tmp_path / "broken.jpg") is None
    assert features_of_file(tmp_path / "missing.jpg") is None
