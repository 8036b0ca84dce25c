"""A small convolutional network beside the linear model of pictures: an experiment.

python benchmarks/image_network.py [SECONDS]

The pictures of the made web of ``semcrawl evaluate images``, each with what it shows (a look and a
shape), are learned by both; every fifth one is held out. The network follows source I: a first
layer of large filters, 11 × 11 at steps of 4, then one of small filters, each with the largest of
2 × 2, and a softmax. It is smaller (24 filters, not 96) and written in numpy: it has no weights
from outside. It learns for SECONDS of processor time (180), by Adam, on pictures that are mirrored
at random.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from semcrawl.images.classes import LinearClassifier
from semcrawl.images.imagefeatures import features_of, spread
from semcrawl.lab.imageworlds import ImagePlan, draw

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

#: pixels of a side; filters of the two layers, and pictures of a step
SIDE, FIRST, SECOND, BATCH = 67, 24, 48, 32
#: side of the map after two layers
_LEFT = 3


def pictures(seed: int = 0) -> Iterator[tuple[Any, str]]:
    """Draw the web's pictures; copies are left out, as they would be in both parts."""
    plan = ImagePlan(seed)
    for picture in plan.pictures:
        if picture.number == picture.original:
            seeded = f"{plan.seed} {picture.original}"
            yield draw(picture.subject, seeded, picture.width, picture.height), picture.subject.name


def patches(maps: Floats, side: int, step: int) -> Floats:
    """Return what each place of a filter sees: (maps, height, width, side · side · bands)."""
    seen = np.lib.stride_tricks.sliding_window_view(maps, (side, side), axis=(1, 2))
    seen = seen[:, ::step, ::step].transpose(0, 1, 2, 4, 5, 3)
    return np.ascontiguousarray(seen).reshape(*seen.shape[:3], -1)


def pooled(maps: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the largest of each 2 × 2, and where it stands; an odd edge is left out."""
    count, height, width, bands = maps.shape
    cut = maps[:, : height // 2 * 2, : width // 2 * 2]
    squares = cut.reshape(count, height // 2, 2, width // 2, 2, bands)
    largest = squares.max(axis=(2, 4), keepdims=True)
    return largest[:, :, 0, :, 0], squares == largest


def unpooled(slope: Floats, where: npt.NDArray[np.bool_], shape: tuple[int, ...]) -> Floats:
    """Lead the slope of the largest values back to where they stood."""
    count, height, _, width, _, bands = where.shape
    found = np.zeros(shape, np.float32)
    squares = slope[:, :, None, :, None] * where
    found[:, : 2 * height, : 2 * width] = squares.reshape(count, 2 * height, 2 * width, bands)
    return found


class Network:
    """Two layers of filters and a softmax."""

    def __init__(self, classes: int) -> None:
        random = np.random.default_rng(0)

        def filters(inputs: int, outputs: int) -> Floats:
            return random.normal(0, np.sqrt(2 / inputs), (inputs, outputs)).astype(np.float32)

        self.weights = [
            *(filters(11 * 11 * 3, FIRST), np.zeros(FIRST, np.float32)),
            *(filters(9 * FIRST, SECOND), np.zeros(SECOND, np.float32)),
            *(filters(_LEFT * _LEFT * SECOND, classes) / 4, np.zeros(classes, np.float32)),
        ]
        self._means = [np.zeros_like(weight) for weight in self.weights]
        self._squares = [np.zeros_like(weight) for weight in self.weights]
        self._steps = 0

    def forward(self, images: Floats) -> tuple[Floats, tuple[Any, ...]]:
        """Return the classes' probabilities, and what :meth:`learn` needs."""
        w1, b1, w2, b2, w3, b3 = self.weights
        seen1 = patches(images, 11, 4)
        maps1 = np.maximum(seen1 @ w1 + b1, 0)
        pool1, where1 = pooled(maps1)
        seen2 = patches(np.pad(pool1, ((0, 0), (1, 1), (1, 1), (0, 0))), 3, 1)
        maps2 = np.maximum(seen2 @ w2 + b2, 0)
        pool2, where2 = pooled(maps2)
        flat = pool2.reshape(len(images), -1)
        scores = flat @ w3 + b3
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares = powers / powers.sum(axis=1, keepdims=True)
        return shares, (seen1, maps1, where1, seen2, maps2, where2, pool2, flat)

    def learn(self, images: Floats, labels: Ints, rate: float) -> float:
        """Make one step; return the loss before it."""
        shares, (seen1, maps1, where1, seen2, maps2, where2, pool2, flat) = self.forward(images)
        rows = np.arange(len(labels))
        loss = -float(np.log(np.maximum(shares[rows, labels], 1e-12)).mean())
        slope = shares.copy()
        slope[rows, labels] -= 1
        slope /= len(labels)
        slopes = [flat.T @ slope, slope.sum(axis=0)]
        back = (slope @ self.weights[4].T).reshape(pool2.shape)
        back = unpooled(back, where2, maps2.shape) * (maps2 > 0)
        spots = back.reshape(-1, SECOND)
        slopes = [seen2.reshape(len(spots), -1).T @ spots, spots.sum(axis=0), *slopes]
        inner = (back @ self.weights[2].T).reshape(*back.shape[:3], 3, 3, FIRST)
        height, width = back.shape[1:3]
        wide = np.zeros((len(images), height + 2, width + 2, FIRST), np.float32)
        for y in range(3):
            for x in range(3):
                wide[:, y : y + height, x : x + width] += inner[:, :, :, y, x]
        back = unpooled(wide[:, 1:-1, 1:-1], where1, maps1.shape) * (maps1 > 0)
        spots = back.reshape(-1, FIRST)
        slopes = [seen1.reshape(len(spots), -1).T @ spots, spots.sum(axis=0), *slopes]
        self._step(slopes, rate)
        return loss

    def _step(self, slopes: list[Floats], rate: float) -> None:
        """Move the weights (Adam, Kingma and Ba 2015)."""
        self._steps += 1
        bias = np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        for weight, mean, square, slope in zip(
            self.weights, self._means, self._squares, slopes, strict=True
        ):
            slope = slope + 1e-4 * weight
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope * slope - square)
            weight -= np.float32(rate * bias) * mean / (np.sqrt(square) + np.float32(1e-8))


def right(shares: Floats, labels: Ints, names: list[str]) -> str:
    """Return how many are right: both words, the first five, the look alone, the shape alone."""
    best = np.argsort(-shares, axis=1)
    parts = np.array([name.split() for name in names])
    found, true = parts[best[:, 0]], parts[labels]
    first = (best[:, 0] == labels).mean()
    five = (best[:, :5] == labels[:, None]).any(axis=1).mean()
    look, shape = (found == true).mean(axis=0)
    return f"right {first:.2f}, among the first five {five:.2f}, look {look:.2f}, shape {shape:.2f}"


def main() -> None:
    """Learn by both, and say what they know of pictures that were held out."""
    most = float(sys.argv[1]) if len(sys.argv) > 1 else 180.0
    drawn, features, shown = [], [], []
    for picture, name in pictures():
        drawn.append(np.asarray(picture.convert("RGB").resize((SIDE, SIDE)), np.uint8))
        features.append(features_of(picture))
        shown.append(name)
    names = sorted(set(shown))
    labels = np.array([names.index(name) for name in shown])
    images = (np.stack(drawn).astype(np.float32) - 200) / 80
    held = np.arange(len(labels)) % 5 == 4
    print(f"{len(labels)} pictures of {len(names)} subjects, {held.sum()} of them held out")

    start = time.process_time()
    waves = spread(np.stack(features))
    linear = LinearClassifier.fit(waves[~held], labels[~held], len(names), 10.0)
    taken = time.process_time() - start
    figures = right(linear.probabilities(waves[held]), labels[held], names)
    print(f"linear model: {figures}; learned in {taken:.1f} s of processors")

    network, random = Network(len(names)), np.random.default_rng(1)
    taught = np.flatnonzero(~held)
    start, epoch = time.process_time(), 0
    while (taken := time.process_time() - start) < most:
        losses = []
        order = random.permutation(taught)
        for first in range(0, len(order), BATCH):
            chosen = order[first : first + BATCH]
            batch = images[chosen]
            mirrored = random.random(len(batch)) < 0.5
            batch[mirrored] = batch[mirrored, :, ::-1]
            losses.append(network.learn(batch, labels[chosen], 1e-3 * max(0.05, 1 - taken / most)))
        epoch += 1
        print(f"  epoch {epoch}: loss {np.mean(losses):.3f}, {taken:.0f} s", file=sys.stderr)
    shares = np.concatenate([network.forward(part)[0] for part in np.array_split(images[held], 20)])
    figures = right(shares, labels[held], names)
    print(f"network: {figures}; {epoch} epochs in {taken:.0f} s of processors")


if __name__ == "__main__":
    main()
