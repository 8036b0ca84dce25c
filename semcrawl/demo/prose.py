"""Names and sentences for the demonstration web, drawn from word lists by a seeded generator."""

from __future__ import annotations

import re
import unicodedata
from random import Random

GIVEN_NAMES = (
    "Ada", "Bram", "Cleo", "Dunja", "Elif", "Farid", "Greta", "Hanno", "Ines", "Jonas", "Kaya",
    "Lorcan", "Mirja", "Nadia", "Otis", "Pilar", "Quinn", "Rosa", "Samir", "Tilda", "Ugo",
    "Vera", "Wanda", "Xenia", "Yusuf", "Zoë", "Anselm", "Birgit", "Casper", "Dorte",
)  # fmt: skip
FAMILY_NAMES = (
    "Albright", "Brandt", "Castellan", "Dunmore", "Eklund", "Farrow", "Gantz", "Holloway",
    "Iversen", "Jarvis", "Kestrel", "Lindqvist", "Marsh", "Novak", "Osei", "Pryce", "Quist",
    "Rowan", "Saltern", "Thorne", "Underhill", "Varga", "Whitby", "Yilmaz",
)  # fmt: skip
PLACES = (
    "Heron Creek", "Long Sluice", "Gannet Point", "the old saltworks", "Cuckold's Spit",
    "Mill Dyke", "Samphire Flat", "the east breakwater", "Lowtide Bridge", "Curlew Bank",
    "the reed beds", "Whin Hill",
)  # fmt: skip
SUBJECTS = (
    "tide heights", "wading birds", "salt meadow plants", "water temperature", "ship arrivals",
    "eel counts", "storm surges", "dune erosion", "bat passages", "shellfish beds",
    "sea ice days", "harbour noise", "moth traps", "rainfall", "seal haul-outs",
    "visitor counts", "plankton samples", "mud cores",
)  # fmt: skip
_OPENERS = (
    "We set out before sunrise towards {place}",
    "After three weeks of fog, {place} was clear again",
    "The count at {place} took longer than planned",
    "Nobody expected much of {place} this season",
    "A new gauge now stands at {place}",
    "The volunteers met at {place} as they do every month",
)
_MIDDLES = (
    "and the figures for {subject} were the highest since {year}",
    "where {person} noted {number} records of {subject}",
    "and the notebook on {subject} filled up within {number} minutes",
    "although the series on {subject} had a gap in {year}",
    "so that {person} could compare {subject} with those of {year}",
    "while the instruments for {subject} were being cleaned",
)
_CLOSERS = (
    "We shall go back in spring.",
    "The raw numbers are in the catalogue.",
    "If you can read {person}'s handwriting, please come and help.",
    "Corrections are welcome, as always.",
    "It rained, of course.",
    "The next walk starts at {place}.",
    "Thanks to everybody who carried the boards.",
)


def slug(text: str) -> str:
    """Return ``text`` as one lower-case path segment of ASCII letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")


class Prose:
    """A source of varied text; the same ``random`` state gives the same text."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def people(self, count: int) -> list[str]:
        """Return ``count`` different full names (at most 720)."""
        names = [f"{given} {family}" for given in GIVEN_NAMES for family in FAMILY_NAMES]
        return self._random.sample(names, count)

    def person(self) -> str:
        """Return one full name."""
        return f"{self._random.choice(GIVEN_NAMES)} {self._random.choice(FAMILY_NAMES)}"

    def place(self) -> str:
        """Return the name of a place."""
        return self._random.choice(PLACES)

    def number(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return self._random.randint(low, high)

    def sentence(self) -> str:
        """Return one sentence."""
        opener, middle = self._random.choice(_OPENERS), self._random.choice(_MIDDLES)
        return self._fill(f"{opener}, {middle}.")

    def paragraph(self, sentences: int = 3) -> str:
        """Return a paragraph of ``sentences`` sentences and a closing one."""
        body = [self.sentence() for _ in range(sentences)]
        return " ".join([*body, self._fill(self._random.choice(_CLOSERS))])

    def title(self) -> str:
        """Return a headline."""
        return self._fill(
            self._random.choice(
                (
                    "{number} notes on {subject}",
                    "What {subject} tell us about {place}",
                    "A morning at {place}",
                    "Counting {subject} with {person}",
                    "Looking back at {year}: {subject}",
                    "Who looks after {place}?",
                )
            )
        )

    def _fill(self, template: str) -> str:
        choice = self._random.choice
        return template.format(
            place=choice(PLACES),
            subject=choice(SUBJECTS),
            person=choice(GIVEN_NAMES),
            year=self._random.randint(1978, 2024),
            number=self._random.randint(3, 90),
        )
