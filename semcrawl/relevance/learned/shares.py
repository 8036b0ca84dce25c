"""How much of the RDF behind a link is about the topic of the crawl."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from semcrawl.relevance.learned.aboutness import likeness
from semcrawl.relevance.learned.features import LinkFacts
from semcrawl.relevance.learned.model import IndexModel, sigmoids
from semcrawl.relevance.learned.options import LearnedOptions
from semcrawl.relevance.learned.table import NONE, Floats, Ids, LinkTable, Rows

#: what a document teaches of the page that linked it, as part of what it teaches of its own link;
#: of the page before that the square of it …
_PER_LEVEL = 0.5


class Shares(NamedTuple):
    """Shares behind some links, 0 to 1; named as the columns that they fill."""

    #: as predicted
    share: Floats
    #: … in favour of links of which little is known
    hope: Floats


class TopicShares:
    """Predicts which share of the RDF behind a link is about the topic.

    Where RDF is, the other models learn from all RDF, whatever it is about: links to RDF look alike
    on many sites, and what is off the topic shows where they are. This one learns from the
    documents that were judged, and from nothing else.

    Where the first documents are off the topic, links like theirs soon have small shares. Those
    that have little in common with them may still lead to it, and are tried before: what is hoped
    for is an upper bound of the share (as in LinUCB, Li et al. 2010, features taken one by one),
    the nearer to the share the more of what was judged is about the topic.
    """

    def __init__(self, options: LearnedOptions) -> None:
        self.model = IndexModel(options, np.zeros(1 << options.table_bits, np.float32))
        self._page_weight = options.page_weight
        self._depth = options.backup_depth
        self._start = np.float32(options.topic_share)
        self._initial = np.float32(options.initial_squares)
        self._explore = options.explore_topic if options.use_exploration else 0.0
        #: documents that were judged, and how much of targets they were in all
        self.judged, self.gained = 0, 0.0

    def of(self, facts: Sequence[LinkFacts]) -> Shares:
        """Return the shares behind some new links."""
        starts = np.array(list(accumulate((len(f.rows) for f in facts[:-1]), initial=0)))
        priors = np.array([f.signs.share_prior for f in facts], np.float32)
        return self.among(np.concatenate([f.rows for f in facts]), starts, priors)

    def among(self, rows: Rows, starts: Ids, priors: Floats) -> Shares:
        """Return the shares behind links, given as in :meth:`IndexModel.logits`."""
        logits = self.model.logits(rows, starts, priors + self._start)
        expected = sigmoids(logits)
        hope = self._explore * (1 - (1 + self.gained) / (2 + self.judged))
        if not hope or not len(rows):
            return Shares(expected, expected)
        unknown = self._initial / self.model.squares.take(rows)
        lengths = np.concatenate((starts[1:], [len(rows)])) - starts
        mean = np.add.reduceat(unknown, starts, dtype=np.float64) / lengths
        return Shares(expected, sigmoids(logits + (hope * np.sqrt(mean)).astype(np.float32)))

    def learn(self, table: LinkTable, number: int, gain: float) -> None:
        """Learn from an RDF document that is ``gain`` of a target, and of the pages above it."""
        self.judged += 1
        self.gained += gain
        weight, columns = 1.0, table.columns
        for _ in range(self._depth + 1):
            prior = columns["share_prior"].item(number) + float(self._start)
            self.model.update(table.rows(number), prior, gain, weight)
            number = columns["parent"].item(number)
            weight *= _PER_LEVEL
            if number == NONE:
                return

    def learn_page(self, table: LinkTable, number: int, relevance: float) -> None:
        """Learn from a page of some relevance: what it leads to is more likely about the topic.

        One of none may still lead there, and teaches nothing.
        """
        if weight := self._page_weight * likeness(relevance):
            prior = table.columns["share_prior"].item(number) + float(self._start)
            self.model.update(table.rows(number), prior, 1.0, weight)
