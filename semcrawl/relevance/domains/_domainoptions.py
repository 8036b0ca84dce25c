"""Options of ``domain-score``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from semcrawl.errors import UsageError
from semcrawl.relevance.linkweights import read_number


@dataclass(frozen=True, slots=True)
class DomainOptions:
    """The user's choices."""

    #: score by which a domain is preferred e times as often: small = greedy, large = any
    temperature: float = 0.1
    #: first learning rate of a domain's weights; it sinks with 1/√n
    learning_rate: float = 0.1
    #: groups of domains whose mean is the score of a page without known neighbours
    groups: int = 3
    seed: int = 0

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Self:
        """Read ``SEMCRAWL_DOMAIN_…`` and the random seed; raise ``UsageError`` for wrong ones."""
        usual, prefix = cls(), "SEMCRAWL_DOMAIN_"
        seed = settings.get("SEMCRAWL_RANDOM_SEED") or 0
        try:
            number = int(seed)
            number.to_bytes(8, "big", signed=True)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(
                f"SEMCRAWL_RANDOM_SEED must be a 64-bit integer, not {seed!r}"
            ) from None
        return cls(
            read_number(settings, f"{prefix}TEMPERATURE", usual.temperature, 0.005, 1000),
            # (beyond ½ a step might overshoot: four inputs of up to 1)
            read_number(settings, f"{prefix}LEARNING_RATE", usual.learning_rate, 0, 0.5),
            int(read_number(settings, f"{prefix}GROUPS", usual.groups, 1, 1000)),
            number,
        )
