"""A roulette wheel over a softmax whose every turn changes one field only.

Each name has a clock that rings after an exponentially distributed time, at the rate
exp(score / temperature). The clock that rings first is a draw from the softmax of the scores, and
as the exponential distribution has no memory, the others may go on running: only the clock that
rang is wound up again. A turn costs the same for ten names and for a million, and a name that may
not be served now (its host rests, say) keeps its place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from hashlib import blake2b

#: scores, in temperatures, beyond which they count as so much
_STEEPEST = 300.0


@dataclass(slots=True)
class Clock:
    """The clock of one name."""

    rings: float
    rate: float
    #: how often it was wound up
    wound: int = 1


class Roulette:
    """Draws names; those that ring first come first. The same for the same seed."""

    def __init__(self, temperature: float = 0.1, seed: int = 0) -> None:
        """Make a wheel; the smaller the ``temperature`` (> 0), the more the best is preferred."""
        self.temperature = temperature
        self._salt = seed.to_bytes(8, "big", signed=True)
        self.clocks: dict[str, Clock] = {}
        #: the latest time at which a clock rang
        self.now = 0.0

    def add(self, name: str, score: float) -> None:
        """Take a name up, unless it is there."""
        if name not in self.clocks:
            rate = self._rate(score)
            self.clocks[name] = Clock(self.now + self._draw(name, 1) / rate, rate)

    def rings(self, name: str) -> float:
        """When the name's clock rings."""
        return self.clocks[name].rings

    def turn(self, name: str) -> None:
        """Hear that a name was drawn, and wind its clock up."""
        clock = self.clocks[name]
        self.now = max(self.now, clock.rings)
        clock.wound += 1
        clock.rings = self.now + self._draw(name, clock.wound) / clock.rate

    def score(self, name: str, score: float) -> None:
        """Give a name another score: what its clock has still to run shrinks or grows by it."""
        clock, rate = self.clocks[name], self._rate(score)
        left = max(0.0, clock.rings - self.now)
        if left:
            clock.rings = self.now + left * clock.rate / rate
        clock.rate = rate

    def _rate(self, score: float) -> float:
        return math.exp(min(_STEEPEST, max(-_STEEPEST, (score - 1) / self.temperature)))

    def _draw(self, name: str, wound: int) -> float:
        """Return an exponentially distributed number that hangs on seed, name and turn alone."""
        text = f"{wound} {name}".encode("utf-8", "surrogatepass")
        digest = blake2b(text, digest_size=7, key=self._salt).digest()
        return -math.log((int.from_bytes(digest, "big") + 1) / 2**56)
