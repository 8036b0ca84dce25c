"""How much of the RDF behind a link is about the topic of the crawl."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.model import IndexModel, sigmoids
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.table import NONE, Floats, Ids, LinkTable, Rows

#: what a document teaches of the page that linked it, as part of what it teaches of its own link;
#: of the page before that the square of it …
_PER_LEVEL = 0.5


class TopicShares:
    """Predicts which share of the RDF to be had through a link is about the topic.

    Where RDF is, the other models learn from all RDF, whatever it is about: links to RDF look alike
    on many sites, and what is off the topic shows where they are. This one learns from the
    documents that were judged, and from nothing else.
    """

    def __init__(self, options: LearnedOptions) -> None:
        self.model = IndexModel(options, np.zeros(1 << options.table_bits, np.float32))
        self._depth = options.backup_depth

    def of(self, facts: Sequence[LinkFacts]) -> Floats:
        """Return the share behind each of some new links, 0 to 1."""
        starts = np.array(list(accumulate((len(f.rows) for f in facts[:-1]), initial=0)))
        priors = np.array([f.signs.share_prior for f in facts], np.float32)
        return self.among(np.concatenate([f.rows for f in facts]), starts, priors)

    def among(self, rows: Rows, starts: Ids, priors: Floats) -> Floats:
        """Return the shares behind links, given as in :meth:`IndexModel.logits`."""
        return sigmoids(self.model.logits(rows, starts, priors))

    def learn(self, table: LinkTable, number: int, gain: float) -> None:
        """Learn from an RDF document that is ``gain`` of a target, and of the pages above it."""
        weight, columns = 1.0, table.columns
        for _ in range(self._depth + 1):
            prior = columns["share_prior"].item(number)
            self.model.update(table.rows(number), prior, gain, weight)
            number = columns["parent"].item(number)
            weight *= _PER_LEVEL
            if number == NONE:
                return
