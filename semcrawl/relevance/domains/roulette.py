"""A roulette wheel over a softmax, of which every turn changes only one name.

Each name has a clock that rings after an exponentially distributed time, with the rate
exp(score / temperature). The clock that rings first is a draw from the softmax of the scores. As
the exponential distribution has no memory, the other clocks may run on; only the one that rang is
wound again. A turn takes constant time, and a name that cannot be served now, for example as its
host rests, keeps its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b

#: scores, in temperatures, are clipped to this magnitude
_STEEPEST = 300.0


@dataclass(slots=True)
class Clock:
    """The clock of one name; ``rings`` is the time at which it rings."""

    rings: float
    rate: float
    #: how often it was wound
    wound: int = 1


class Roulette:
    """Draws names, in the order in which their clocks ring; the seed determines the draws."""

    def __init__(self, temperature: float = 0.1, seed: int = 0) -> None:
        """Make a wheel; a smaller ``temperature`` (> 0) prefers the best names more."""
        self.temperature = temperature
        self._salt = seed.to_bytes(8, "big", signed=True)
        self.clocks: dict[str, Clock] = {}
        #: the latest time that a clock rang
        self.now = 0.0

    def add(self, name: str, score: float) -> None:
        """Add a name unless it is there."""
        if name not in self.clocks:
            rate = self._rate(score)
            self.clocks[name] = Clock(self.now + self._draw(name, 1) / rate, rate)

    def rings(self, name: str) -> float:
        """Return the time at which the name's clock rings."""
        return self.clocks[name].rings

    def turn(self, name: str) -> None:
        """Note that a name was drawn, and wind its clock."""
        clock = self.clocks[name]
        self.now = max(self.now, clock.rings)
        clock.wound += 1
        clock.rings = self.now + self._draw(name, clock.wound) / clock.rate

    def score(self, name: str, score: float) -> None:
        """Change a name's score, which scales the time left on its clock."""
        clock, rate = self.clocks[name], self._rate(score)
        left = max(0.0, clock.rings - self.now)
        if left:
            clock.rings = self.now + left * clock.rate / rate
        clock.rate = rate

    def _rate(self, score: float) -> float:
        return math.exp(min(_STEEPEST, max(-_STEEPEST, (score - 1) / self.temperature)))

    def _draw(self, name: str, wound: int) -> float:
        """Return an exponentially distributed number, a function of seed, name and turn."""
        text = f"{wound} {name}".encode("utf-8", "surrogatepass")
        digest = blake2b(text, digest_size=7, key=self._salt).digest()
        return -math.log((int.from_bytes(digest, "big") + 1) / 2**56)
