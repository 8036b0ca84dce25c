"""Habits of generated sites: where the right text of a picture is, and how links are spelled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from urllib.parse import urlsplit, urlunsplit

from semcrawl.evaluation.imageweb.subjects import (
    SUBJECTS,
    Subject,
    caption,
    generic,
    sentence,
)

#: share of a site's links that its habits change
_TOUCHED = 0.6
#: share of links to an equivalent address that no normalisation can recognise
_OTHER_ADDRESS = 0.04

#: places of texts, by the names of :class:`semcrawl.images.outcomes.TextKind`
PLACES = (
    "alt", "title", "caption", "file-name", "before", "after", "heading", "page-title",
)  # fmt: skip
#: of a hundred pictures, the text in the best place is missing, stands far away, or is of another
_MISSING, _FAR, _WRONG = 0.05, 0.06, 0.06
#: chance that another place also has a right text, or has one about something else
_RIGHT_ELSEWHERE, _WRONG_ELSEWHERE = 0.12, 0.1
#: how a site builds its pages
LAYOUTS = ("figure", "card", "row", "item", "bare")
#: how a site loads its pictures
LOADING = ("plain", "lazy", "srcset", "picture")


@dataclass(frozen=True, slots=True)
class Habit:
    """The habits of one site."""

    #: place of the right text, one of :data:`PLACES`
    place: str
    layout: str
    loading: str
    #: other places that may hold a text, with the chance that they do
    others: Mapping[str, float]
    #: whether the addresses of pages name their subjects
    telling_paths: bool
    #: whether its lists show small versions of the pictures
    thumbnails: bool
    #: names in :data:`SPELLINGS` of the spellings of its links
    spelling: tuple[str, ...]

    @classmethod
    def made(cls, random: Random, place: str, spellings: tuple[str, ...]) -> Habit:
        """Generate a site's habits around its best place."""
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
    """The texts around one picture on one page."""

    #: name of the place → text
    near: Mapping[str, str]
    #: the right text, if it is at the end of the page
    far: str = ""


def texts_of(random: Random, habit: Habit, subject: Subject) -> Texts:
    """Generate the texts around a picture."""
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
    """Return the text of a place other than the site's best one; empty if it has none."""
    running = place in ("before", "after")
    if place in ("file-name", "page-title"):  # every picture has these
        return ""
    if random.random() >= max(habit.others[place], 0.7 if running else 0.0):
        return ""
    chance = random.random()
    if chance < _RIGHT_ELSEWHERE:
        return caption(random, subject)
    if chance < _RIGHT_ELSEWHERE + _WRONG_ELSEWHERE:
        return caption(random, random.choice(SUBJECTS))
    return sentence(random) if running or random.random() < 0.2 else generic(random)


#: name of a habit → function that spells a page's host and path
SPELLINGS: Mapping[str, Callable[[Random, str, str], str]] = {
    "index": lambda _, host, path: f"http://{host}{path}{'index.html' * path.endswith('/')}",
    "fragment": lambda random, host, path: (
        f"http://{host}{path}#" + random.choice(("top", "pictures", "more", "p2"))
    ),
    "capitals": lambda _, host, path: f"HTTP://{host.title()}{path}",
    "port": lambda _, host, path: f"http://{host}:80{path}",
    "sorted": lambda random, host, path: (
        f"http://{host}{path}?sort=" + random.choice(("name", "date", "size"))
    ),
    "empty": lambda random, host, path: f"http://{host}{path}" + random.choice(("?", "?from=")),
    "escaped": lambda _, host, path: f"http://{host}" + path.replace("-", "%2d", 1),
}


def spelled(random: Random, habits: tuple[str, ...], host: str, path: str, here: str) -> str:
    """Spell a link to a page from the site ``here``."""
    if random.random() < _OTHER_ADDRESS:
        return random.choice((f"http://www.{host}{path}", f"https://{host}{path}"))
    if random.random() < _TOUCHED:
        return SPELLINGS[random.choice(habits)](random, host, path)
    return path if host == here else f"http://{host}{path}"


def canonical(url: str) -> str:
    """Return the address of the page at a normalised URL."""
    parts = urlsplit(url)
    return urlunsplit(("http", parts.netloc.removeprefix("www."), parts.path or "/", "", ""))
