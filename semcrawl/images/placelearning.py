"""Learns the best kinds of places of the domains in ``images.db``.

Finds the kind of place with the best texts about the images of a domain.
The *worth* of a kind of place is measured without knowing what the images show::

    worth = coverage · distinctness · max(0, agreement)

Coverage is the share of the domain's images that have a text there. Distinctness is the chance that
the texts of two images on different pages differ in their words, ignoring digits: "image 4" names
no image in particular. Agreement is how much more similar a text is to evidence about its own image
than to the same evidence about images on other pages. There are three kinds of evidence, whose
differences are added:

- *other places*: the texts in all other places of the same image, and the words of its page's
  address. Places that mostly have the same text (``alt`` and ``title`` from one field) are no
  evidence for each other.
- *its page*: texts in the same place of other images on the page, which mostly show similar things.
  Equal texts are boilerplate, and no evidence.
- *its look*: the text in the same place of the most similar-looking image on another page.

Similarity is the cosine of words, weighted by rarity in the domain. Text near any image
(navigation, prose about something else) has no agreement, however distinct it is.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import cast
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Engine, Table, delete, select, update

from semcrawl.images.schema import Domain, Image, ImagePlace, Page, PlaceScore, texts_of_places
from semcrawl.web.urls import path_of

#: most and fewest images of a domain that are judged
MAX_IMAGES = 200
LEAST_IMAGES = 10
#: fewest images with a text in a place that is judged, as a number and as a share of all
_LEAST_TEXTS, _LEAST_SHARE = 3, 0.1
#: other images with which each is compared
_OTHERS = 8
#: share of equal texts above which two places are no evidence for each other
_MOSTLY_SAME = 0.5
#: leading letters by which words are compared, as endings differ
_STEM = 6
_WORD = re.compile(r"[^\W\d_]{2,}")

_Words = frozenset[str]


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """An image in one of its places, with its texts."""

    #: names of the page and of the image
    page: str
    image: str
    #: pixels (:attr:`semcrawl.images.imageitems.Decoded.miniature`); empty when unknown
    miniature: bytes
    #: by kind of place (:func:`semcrawl.images.neartexts.place_key`)
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PlaceWorth:
    """How good the texts of a kind of place are, from 0 to 1 except ``agreement``."""

    coverage: float
    distinctness: float
    #: from −3 to 3
    agreement: float
    #: number of images with a text there
    images: int

    @property
    def worth(self) -> float:
        """The product that the best place maximises."""
        return self.coverage * self.distinctness * max(0.0, self.agreement)


def best_place(worths: Mapping[str, PlaceWorth]) -> str:
    """Return the kind of place with the largest worth; empty if none is above 0."""
    best = max(worths, key=lambda place: (worths[place].worth, place), default="")
    return best if best and worths[best].worth > 0 else ""


def place_worths(images: Sequence[PlacedImage], seed: int = 0) -> dict[str, PlaceWorth]:
    """Return the worth of each kind of place in one domain; nothing for too few images."""
    images = images[:MAX_IMAGES]
    if len(images) < LEAST_IMAGES:
        return {}
    domain = _Domain(images, seed)
    counts = Counter(place for image in images for place in image.texts)
    least = max(_LEAST_TEXTS, _LEAST_SHARE * len(images))
    return {place: domain.worth(place) for place, count in counts.items() if count >= least}


class _Domain:
    """The images of a domain, with their texts as words."""

    def __init__(self, images: Sequence[PlacedImage], seed: int) -> None:
        self._images = images
        self._random = Random(seed)
        self._words = [{k: _words(t) for k, t in image.texts.items()} for image in images]
        self._addresses = [_words(unquote(path_of(image.page))) for image in images]
        self._of_page: defaultdict[str, list[int]] = defaultdict(list)
        for number, image in enumerate(images):
            self._of_page[image.page].append(number)
        seen = Counter(
            word for words in self._words for word in frozenset[str]().union(*words.values())
        )
        count = len(images) + 1
        self._weights = {word: math.log(count / times) ** 2 for word, times in seen.items()}
        self._apart = _distances(images)

    def worth(self, place: str) -> PlaceWorth:
        having = [n for n, words in enumerate(self._words) if place in words]
        same = Counter(
            other
            for n in having
            for other, words in self._words[n].items()
            if other != place and words == self._words[n][place]
        )
        copies = {other for other, times in same.items() if times > _MOSTLY_SAME * len(having)}
        evidence: tuple[Callable[[int], _Words], ...] = (
            lambda n: self._of_others(n, place, copies),
            lambda n: self._of_its_page(n, place),
            lambda n: self._of_its_look(n, place, having),
        )
        return PlaceWorth(
            coverage=len(having) / len(self._images),
            distinctness=self._distinctness(place, having),
            agreement=sum(self._agreement(place, having, each) for each in evidence),
            images=len(having),
        )

    def _distinctness(self, place: str, having: Sequence[int]) -> float:
        """Return the chance that the texts of two images on different pages differ."""
        texts = Counter(
            words for _, words in {(self._page(n), self._words[n][place]) for n in having}
        )
        count = sum(texts.values())
        if count < 2:
            return 0.0
        same = sum(times * (times - 1) for times in texts.values())
        return 1.0 - same / (count * (count - 1))

    def _agreement(
        self, place: str, having: Sequence[int], evidence: Callable[[int], _Words]
    ) -> float:
        """Return how much more similar texts are to their own evidence than to that of others."""
        known = {n: words for n in having if (words := evidence(n))}
        own: list[float] = []
        other: list[float] = []
        for n in known:
            sample = self._random.sample(having, min(_OTHERS, len(having)))
            away = [m for m in sample if m in known and self._page(m) != self._page(n)]
            if away:
                text = self._words[n][place]
                own.append(self._alike(text, known[n]))
                other += [self._alike(text, known[m]) for m in away]
        if len(own) < _LEAST_TEXTS:
            return 0.0
        return sum(own) / len(own) - sum(other) / len(other)

    def _of_others(self, n: int, place: str, copies: set[str]) -> _Words:
        others = (w for k, w in self._words[n].items() if k != place and k not in copies)
        return self._addresses[n].union(*others)

    def _of_its_page(self, n: int, place: str) -> _Words:
        text, image = self._words[n][place], self._images[n].image
        beside = (
            self._words[m].get(place, text)
            for m in self._of_page[self._page(n)]
            if self._images[m].image != image
        )
        return frozenset[str]().union(*(words for words in beside if words != text))

    def _of_its_look(self, n: int, place: str, having: Sequence[int]) -> _Words:
        image, page = self._images[n].image, self._page(n)
        away = [m for m in having if self._images[m].image != image and self._page(m) != page]
        if not away or not self._images[n].miniature:
            return frozenset()
        apart = self._apart[n, away]
        return self._words[away[int(np.argmin(apart))]][place]

    def _page(self, n: int) -> str:
        return self._images[n].page

    def _alike(self, one: _Words, other: _Words) -> float:
        """Return the cosine of two texts' words, weighted by rarity."""
        shared = sum(self._weights.get(word, 0.0) for word in one & other)
        if not shared:
            return 0.0
        sizes = (sum(self._weights.get(word, 0.0) for word in words) for words in (one, other))
        return shared / math.sqrt(math.prod(sizes))


def _words(text: str) -> _Words:
    return frozenset(word[:_STEM] for word in _WORD.findall(text.lower()))


def _distances(images: Sequence[PlacedImage]) -> npt.NDArray[np.float32]:
    """Return the mean differences of the images' miniatures; 255 if one is unknown."""
    length = max(len(image.miniature) for image in images)
    pixels = np.zeros((len(images), max(length, 1)), np.int16)
    known = np.zeros(len(images), bool)
    for number, image in enumerate(images):
        if length and len(image.miniature) == length:
            pixels[number] = np.frombuffer(image.miniature, np.uint8)
            known[number] = True
    apart = np.full((len(images), len(images)), 255.0, np.float32)
    for place in np.flatnonzero(known):
        apart[place, known] = np.abs(pixels[known] - pixels[place]).mean(1)
    return apart


#: kinds of places in order of trust, if nothing is learned
_TRUSTED = ("caption", "alt", "data", "title", "after", "before", "heading", "link", "file-name")


def best_text(texts: Mapping[str, str], best: str = "") -> str:
    """Return the text in the best kind of place, else in the most trusted one.

    >>> best_text({"alt": "image", "after:p:1": "A red kite"}, "after:p:1")
    'A red kite'
    """
    if best and best in texts:
        return texts[best]
    for kind in (*_TRUSTED, "page-title"):
        for place, text in texts.items():
            if place.partition(":")[0] == kind:
                return text
    return ""


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
