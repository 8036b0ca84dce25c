"""Subjects of generated pictures, and texts about them, including misspellings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

SHAPES = ("circle", "triangle", "square", "star", "cross", "ring", "hexagon", "crescent")
COLOURS = {
    "red": (205, 40, 45),
    "blue": (45, 85, 200),
    "green": (45, 150, 70),
    "yellow": (235, 195, 40),
    "purple": (125, 55, 160),
}
TEXTURES = ("striped", "dotted", "checkered")
LOOKS = (*COLOURS, *TEXTURES)

_FRAMES = (
    "{a} {subject}",
    "{a} {subject} on {ground}",
    "{a} {subject} in {light}",
    "detail of {a} {subject}",
    "study of {a} {subject} on {ground}",
    "{subject}, no. {number}",
    "{a} {size} {subject}",
    "our {subject} in {light}",
    "{maker}: {a} {subject}",
)
#: what no search for the two words as a phrase finds
_OTHERWISE = ("{a} {shape} in {look}", "{number} {plural}", "{look}, {a_shape} {shape}")
_GROUNDS = "linen|a pale wall|paper|a wooden board|slate|a tiled floor|canvas|glass".split("|")
_LIGHTS = "the morning|dim light|full sun|the rain|the studio|the north room|winter".split("|")
_SIZES = "small large narrow wide tilted faded bold plain".split()
_MAKERS = "M. Arden|Okoye|the younger Brandt|L. Sato|an unknown hand|Ferreira".split("|")
#: texts near any picture
_GENERIC = (
    "image", "photo", "picture {number}", "click to enlarge", "untitled", "view {number}",
    "no description", "plate {number}", "from the collection",
)  # fmt: skip
_WHO = "The committee|A visitor|Our archive|The workshop|Nobody|The owner|Each guest".split("|")
_DOES = "prefers|describes|keeps|restores|remembers|has ordered|will show|cannot find".split("|")
_WHAT = (
    "older works|a quiet corner|the second floor|new frames|letters from the coast|opening hours|"
    "a catalogue of papers|the smell of paint|two chairs and a lamp|what the weather does"
).split("|")
_WHEN = "every spring|since the fire|by appointment|as before|this year|on most days".split("|")


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a picture: a shape and its look."""

    look: str
    shape: str

    @property
    def name(self) -> str:
        """The subject in two words."""
        return f"{self.look} {self.shape}"

    @property
    def plural(self) -> str:
        """The plural."""
        return f"{self.name}es" if self.name.endswith("s") else f"{self.name}s"


SUBJECTS: Sequence[Subject] = tuple(Subject(look, shape) for look in LOOKS for shape in SHAPES)


def caption(random: Random, subject: Subject) -> str:
    """Write a right text about a picture, sometimes in other words or misspelled."""
    frames = _OTHERWISE if random.random() < 0.06 else _FRAMES
    name = subject.name
    if random.random() < 0.04:
        name = misspelled(random, name)
    text = random.choice(frames).format(
        a=_article(name),
        a_shape=_article(subject.shape),
        subject=name,
        plural=subject.plural,
        look=subject.look,
        shape=subject.shape,
        ground=random.choice(_GROUNDS),
        light=random.choice(_LIGHTS),
        size=random.choice(_SIZES),
        maker=random.choice(_MAKERS),
        number=random.randint(2, 99),
    )
    return text[0].upper() + text[1:]


def generic(random: Random) -> str:
    """Write a text that says nothing about a picture."""
    return random.choice(_GENERIC).format(number=random.randint(1, 40))


def sentence(random: Random) -> str:
    """Write a sentence about something else."""
    words = (random.choice(words) for words in (_WHO, _DOES, _WHAT, _WHEN))
    return " ".join(words) + "."


def misspelled(random: Random, text: str) -> str:
    """Swap, drop or double a letter in one of the words."""
    words = text.split()
    place = random.randrange(len(words))
    word = words[place]
    at = random.randint(1, max(1, len(word) - 3))
    words[place] = random.choice(
        (
            word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
        )
    )
    return " ".join(words)


def _article(text: str) -> str:
    return "an" if text[0] in "aeiou" else "a"
