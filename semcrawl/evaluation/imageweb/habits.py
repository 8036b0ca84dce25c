"""Habits of made sites: where the right text of a picture stands, and what stands elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from semcrawl.evaluation.imageweb.subjects import (
    SUBJECTS,
    Subject,
    caption,
    generic,
    sentence,
)

#: places of texts, by the names of :class:`semcrawl.images.outcomes.TextKind`
PLACES = (
    "alt", "title", "caption", "file-name", "before", "after", "heading", "page-title",
)  # fmt: skip
#: of a hundred pictures, the text in the best place is missing, stands far away, or is of another
_MISSING, _FAR, _WRONG = 0.05, 0.06, 0.06
#: chance that another place has a right text too, or one about something else
_RIGHT_ELSEWHERE, _WRONG_ELSEWHERE = 0.12, 0.1
#: how a site builds its pages
LAYOUTS = ("figure", "card", "row", "item", "bare")
#: how a site has its pictures loaded
LOADING = ("plain", "lazy", "srcset", "picture")


@dataclass(frozen=True, slots=True)
class Habit:
    """One site's."""

    #: place of the right text, one of :data:`PLACES`
    place: str
    layout: str
    loading: str
    #: places other than the best that hold some text, with the chance that they do
    others: Mapping[str, float]
    #: whether addresses of pages say what these are about
    telling_paths: bool
    #: whether its lists show small versions of the pictures
    thumbnails: bool
    #: habits of its links' spelling (:mod:`semcrawl.evaluation.imageweb.spelling`)
    spelling: tuple[str, ...]

    @classmethod
    def made(cls, random: Random, place: str, spellings: tuple[str, ...]) -> Habit:
        """Make up a site's habits around its best place."""
        layouts = {"caption": ("figure",), "heading": ("card",)}.get(place, LAYOUTS)
        return cls(
            place,
            random.choice(layouts),
            random.choices(LOADING, (5, 3, 2, 1))[0],
            {each: random.choice((0.0, 0.5, 0.9)) for each in PLACES},
            random.random() < 0.4,
            random.random() < 0.4,
            tuple(random.sample(spellings, random.randint(1, 4))),
        )


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of one picture in one place of the web."""

    #: by the name of the place
    near: Mapping[str, str]
    #: the right text where it stands at the end of the page
    far: str = ""


def texts_of(random: Random, habit: Habit, subject: Subject) -> Texts:
    """Make up the texts around a picture."""
    near: dict[str, str] = {}
    for place in PLACES:
        if place != habit.place and (text := _elsewhere(random, habit, place, subject)):
            near[place] = text
    chance, right = random.random(), caption(random, subject)
    if chance < _MISSING:
        return Texts(near)
    if chance < _MISSING + _FAR:
        return Texts(near, right)
    if chance < _MISSING + _FAR + _WRONG:
        right = caption(random, random.choice(SUBJECTS))
    near[habit.place] = right
    return Texts(near)


def _elsewhere(random: Random, habit: Habit, place: str, subject: Subject) -> str:
    """Return the text of a place that is not the site's best one; empty if it has none."""
    running = place in ("before", "after")
    if place in ("file-name", "page-title"):  # (all have these, and pages their own)
        return ""
    if random.random() >= max(habit.others[place], 0.7 if running else 0.0):
        return ""
    chance = random.random()
    if chance < _RIGHT_ELSEWHERE:
        return caption(random, subject)
    if chance < _RIGHT_ELSEWHERE + _WRONG_ELSEWHERE:
        return caption(random, random.choice(SUBJECTS))
    return sentence(random) if running or random.random() < 0.2 else generic(random)
