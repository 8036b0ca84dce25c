"""Reasons for and against a link, in words."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from semcrawl.relevance.learned.answering import NO_HOST
from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.memory import CrawlMemory

#: features shown for and against a link
_SHOWN = 8
#: weights nearer to 0 than this say nothing, logits
_NOTHING = 0.005


def evidence(
    memory: CrawlMemory, facts: LinkFacts, named: Iterable[tuple[str, int]]
) -> list[tuple[str, str]]:
    """Rows on a link: its prior, what is known of its page and host, and its heaviest features.

    ``named``: its features with their rows of the weight table.
    """
    rows = [("prior", f"{facts.signs.prior:+.2f} logits")]
    if memory.judge.any_known(memory.table, facts.twins):
        penalty = memory.options.twin_penalty
        rows.append(("against", f"{-penalty:+.2f} page known under another address"))
    host = memory.hosts.numbers.get(facts.host, NO_HOST)
    trust = float(memory.answering.trust(np.array([host]))[0])
    if trust < 1:
        rows.append(("against", f"× {trust:.2g} host gave nothing so far"))
    weighed = sorted((float(memory.models.index.weights[row]), name) for name, row in named)
    best, worst = weighed[: -_SHOWN - 1 : -1], weighed[:_SHOWN]
    rows += [("for", f"{weight:+.2f} {name}") for weight, name in best if weight > _NOTHING]
    rows += [("against", f"{weight:+.2f} {name}") for weight, name in worst if weight < -_NOTHING]
    return rows
