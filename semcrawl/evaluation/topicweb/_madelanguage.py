"""Generates words of an invented language, and texts about its subjects.

Frequencies follow Zipf's law. Subjects share some of their words, texts about one quote others,
and most of a text is about nothing: as in real pages, a word says little and many say more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

_ONSETS = "b bl br c ch cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh st t tr v w".split()
_VOWELS = "a e i o u ai ea ou ie".split()
_CODAS = ["", "", "", "n", "r", "l", "s", "t", "m", "nd", "rt", "st", "x"]
#: the commonest words of all texts are real ones
_FUNCTION = (
    "the of and to in a is that for it as was with be by on not he i this are or his from at which "
    "but have an had they you were their one all we can her has there been if more when will would"
).split()


@dataclass(frozen=True)
class Words:
    """Words with frequencies."""

    words: Sequence[str]
    #: cumulative frequencies
    sums: Sequence[float]

    @classmethod
    def zipf(cls, words: Sequence[str], offset: float = 2.7) -> Words:
        """Give words frequencies by rank after Zipf and Mandelbrot: 1 / (rank + offset)."""
        return cls(words, list(accumulate(1 / (n + offset) for n in range(len(words)))))

    def some(self, random: Random, count: int) -> list[str]:
        """Draw random words."""
        return random.choices(self.words, cum_weights=self.sums, k=count)


class Language:
    """General words, and the words of each subject."""

    def __init__(
        self,
        seed: int,
        subjects: int,
        first_words: Sequence[Sequence[str]] = (),
        words: int = 300,
        shared: float = 0.12,
    ) -> None:
        """Make ``subjects`` of so many words; ``first_words``: the commonest of the first ones."""
        random = Random(f"language {seed}")
        made: dict[str, None] = {}
        while len(made) < 3000 + subjects * words:
            made.setdefault(_word(random))
        made_words = list(made)
        self._function = Words.zipf(_FUNCTION)
        self._general = Words.zipf(made_words[:3000], 30)
        own = [made_words[3000 + n * words : 3000 + (n + 1) * words] for n in range(subjects)]
        self.subjects = []
        for number, mine in enumerate(own):
            first = first_words[number] if number < len(first_words) else ()
            # at regular ranks a word is shared with another subject, at the same frequency
            mixed = [
                word if random.random() >= shared else own[random.randrange(subjects)][rank]
                for rank, word in enumerate(mine)
            ]
            self.subjects.append(Words.zipf(list(dict.fromkeys((*first, *mixed)))))

    def text(
        self,
        random: Random,
        subject: int | None,
        strength: float,
        count: int,
        quoted: float = 0.06,
    ) -> list[str]:
        """Draw a text of which a share of ``strength`` is about a subject.

        ``quoted``: the share that is about another one.
        """
        about = 0 if subject is None else round(count * strength)
        others = round(count * quoted)
        other = self.subjects[random.randrange(len(self.subjects))]
        words = [] if subject is None else self.subjects[subject].some(random, about)
        words += other.some(random, others)
        rest = max(0, count - len(words))
        words += self._function.some(random, rest * 3 // 5)
        words += self._general.some(random, rest - rest * 3 // 5)
        random.shuffle(words)
        return words

    def title(self, random: Random, subject: int | None) -> list[str]:
        """Draw a title; one in eight does not name the page's subject."""
        if subject is None or random.random() < 0.12:
            return self._general.some(random, random.randint(1, 3))
        return [
            *self.subjects[subject].some(random, random.randint(1, 3)),
            *self._general.some(random, random.randint(0, 2)),
        ]

    def noise(self, random: Random) -> list[str]:
        """Draw words unrelated to the link's target."""
        words = self._general if random.random() < 0.7 else random.choice(self.subjects)
        return words.some(random, random.randint(1, 3))


def _word(random: Random) -> str:
    """Generate a word of two or three syllables."""
    return "".join(
        random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_CODAS)
        for _ in range(random.choice((2, 2, 3)))
    )
